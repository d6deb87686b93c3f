// Not imported: that would slow the loops over bytes by a quarter.
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c] as const;

/** What each byte changes of the depth. */
const levels = new Int8Array(256);
for (const opening of Buffer.from("[{")) levels[opening] = 1;
for (const closing of Buffer.from("]}")) levels[closing] = -1;

/**
 * Where the first elements of a JSON array that have `sliceBytes`, or a single longer one, end: at a comma, or at
 * `end`.
 *
 * @param start of an element
 * @param end of what stands between the brackets
 */
export function firstSliceEnd(bytes: Uint8Array, start: number, end: number, sliceBytes: number): number {
  if (end - start <= sliceBytes) return end;
  let [before, depth, inString] = [-1, 0, false];
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === quote) inString = false;
      else if (byte === backslash) at += 1;
    } else if (byte === quote) inString = true;
    else if (byte === comma && depth === 0) {
      if (at - start > sliceBytes) return before === -1 ? at : before;
      before = at;
    } else depth += levels[byte as number] as number; // within both
  }
  return before === -1 ? end : before;
}

/** Splits the content of a JSON string into JSON strings of about `sliceBytes`, at least 16. */
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

/** The last place up to `place` that splits neither a UTF-8 character nor an escape. */
function wholeBefore(bytes: Uint8Array, start: number, place: number, end: number): number {
  if (place >= end) return end;
  let whole = place;
  while (whole > place - 3 && (Number(bytes[whole]) & 0xc0) === 0x80) whole -= 1; // at most three continuation bytes
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
