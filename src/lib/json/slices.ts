// Constants of this module: its loops look at every byte, and an imported one costs them a quarter more.
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c] as const;
const [arrayStart, arrayEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/**
 * The elements of a JSON array, as the texts of arrays of some of them: `[1,2]`, `[3]` for `[1,2,3]`. They are valid if, and
 * only if, all of it is.
 *
 * @param start of what stands between the brackets
 * @param end likewise
 * @param sliceBytes each text has as many bytes, unless it is a single longer element, or the last
 */
export function* arraySlices(
  bytes: Uint8Array,
  start: number,
  end: number,
  sliceBytes: number,
): Generator<{ readonly start: number; readonly end: number; readonly items: number }, void> {
  let [from, before, items, depth, inString] = [start, start, 0, 0, false];
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === quote) inString = false;
      else if (byte === backslash) at += 1;
    } else if (byte === quote) inString = true;
    else if (byte === arrayStart || byte === objectStart) depth += 1;
    else if (byte === arrayEnd || byte === objectEnd) depth -= 1;
    else if (byte === comma && depth === 0) {
      // The element that ends here starts a text of its own where it makes this one too long.
      if (items > 0 && at - from > sliceBytes) {
        yield { start: from, end: before, items };
        from = before + 1;
        items = 0;
      }
      items += 1;
      before = at;
    }
  }
  if (items > 0 && end - from > sliceBytes) {
    yield { start: from, end: before, items };
    from = before + 1;
    items = 0;
  }
  yield { start: from, end, items: items + 1 };
}

/** What a JSON string says, in texts of about so many bytes of it, at least 16: each is a JSON string by itself. */
export function* stringSlices(
  bytes: Uint8Array,
  start: number,
  end: number,
  sliceBytes: number,
): Generator<{ readonly start: number; readonly end: number }, void> {
  for (let from = start; from < end;) {
    const to = wholeBefore(bytes, from, Math.min(from + sliceBytes, end), end);
    yield { start: from, end: to };
    from = to;
  }
}

/** `\u00e9` */
const escapeBytesMax = 6;

/** The last place, up to `place`, that is neither within a character of UTF-8 nor within an escape. */
function wholeBefore(bytes: Uint8Array, start: number, place: number, end: number): number {
  if (place >= end) return end;
  let whole = place;
  while (whole > place - 3 && (Number(bytes[whole]) & 0xc0) === 0x80) whole -= 1; // a character goes on with up to three of them
  for (let at = whole - 1; at > whole - escapeBytesMax && at >= start; at -= 1) {
    if (bytes[at] === backslash && !isEscaped(bytes, start, at)) {
      const length = bytes[at + 1] === 0x75 ? escapeBytesMax : 2;
      return at + length > whole ? at : whole;
    }
  }
  return whole;
}

/** Whether a byte follows an odd number of backslashes. */
function isEscaped(bytes: Uint8Array, start: number, at: number): boolean {
  let before = at;
  while (before > start && bytes[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}
