import { decodeJson, faultIn, invalidJson } from "./parseJson.js";

export interface ParsedSlice {
  /** Undefined for a single element with more than `elementBytesMax`. */
  readonly elements: readonly unknown[] | undefined;
  readonly bytes: number;
}

interface SliceOptions {
  /** Approximate, except for a single longer element and the last slice. */
  readonly sliceBytes: number;
  /** Longer elements are not parsed; no limit by default. */
  readonly elementBytesMax?: number;
}

/**
 * Parses the content of a JSON array slice by slice.
 *
 * @throws {AppError} BAD_REQUEST for invalid JSON
 */
export function* parsedSlices(
  bytes: Buffer,
  start: number,
  end: number,
  { sliceBytes, elementBytesMax = Number.POSITIVE_INFINITY }: SliceOptions,
): Generator<ParsedSlice, void> {
  for (let from = start; from <= end;) {
    const guess = guessSlice(bytes, from, end, sliceBytes);
    if (guess !== undefined) {
      yield guess;
      from += guess.bytes + 1; // a comma follows
      continue;
    }
    const to = firstSliceEnd(bytes, from, end, sliceBytes);
    const isWhole = from === start && to === end;
    const elements = to - from > elementBytesMax ? undefined : parseLastSlice(bytes, from, to, isWhole);
    yield { elements, bytes: to - from };
    from = to + 1;
  }
}

const objectEndAndComma = Buffer.from("},");

/**
 * Tries the first brace and comma after so many bytes, which is faster than looking at each byte. If the text before them is
 * valid JSON, they end an element.
 */
function guessSlice(bytes: Buffer, from: number, end: number, sliceBytes: number): ParsedSlice | undefined {
  const searched = bytes.subarray(from + sliceBytes, Math.min(from + 2 * sliceBytes, end));
  const found = searched.indexOf(objectEndAndComma);
  if (found === -1) return undefined;
  const length = sliceBytes + found + 1;
  try {
    return { elements: parseSlice(bytes, from, from + length, false), bytes: length };
  } catch {
    return undefined;
  }
}

/** @throws {AppError} BAD_REQUEST */
function parseLastSlice(bytes: Buffer, start: number, end: number, isWhole: boolean): unknown[] {
  try {
    return parseSlice(bytes, start, end, isWhole);
  } catch {
    const slice = Buffer.concat([listStart, bytes.subarray(start, end), listEnd]);
    throw invalidJson(bytes, Math.min(start - 1 + faultIn(slice), end)); // the end, if there is nothing
  }
}

const [listStart, listEnd] = [Buffer.from("["), Buffer.from("]")];

/**
 * @param isWhole whether it is the whole array, which may be empty
 * @throws {Error} for anything but JSON elements between commas
 */
function parseSlice(bytes: Buffer, start: number, end: number, isWhole: boolean): unknown[] {
  const length = end - start + 2;
  if (list.length < length) list = Buffer.allocUnsafe(length * 2);
  list.write("[");
  bytes.copy(list, 1, start, end);
  list.write("]", length - 1);
  const items = decodeJson(list.subarray(0, length)) as unknown[];
  if (length > listBytesKept) list = Buffer.allocUnsafe(0);
  if (items.length === 0 && !isWhole) throw new SyntaxError("There is nothing before or after a comma.");
  return items;
}

/** The list to parse. Each overwrites the last, because V8 collects the whole heap after 64 MiB of new buffers. */
let list = Buffer.allocUnsafe(0);
const listBytesKept = 1024 * 1024;

// Not imported, because imports slow the loops over bytes by a quarter.
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c] as const;

/** How each byte changes the depth. */
const levels = new Int8Array(256);

for (const opening of Buffer.from("[{")) levels[opening] = 1;

for (const closing of Buffer.from("]}")) levels[closing] = -1;

/**
 * Where the first slice of a JSON array ends: at the comma after `sliceBytes` of elements or after one longer element, or at
 * `end`.
 *
 * @param start of an element
 * @param end of the array's content
 */
function firstSliceEnd(bytes: Uint8Array, start: number, end: number, sliceBytes: number): number {
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

/** The last position up to `place` that splits neither a UTF-8 character nor an escape. */
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
