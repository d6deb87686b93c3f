import { faultIn } from "./fault.js";
import { decodeJson, invalidJson } from "./parse.js";
import { firstSliceEnd } from "./slices.js";

export interface ParsedSlice {
  /** Undefined for a single element of more than `elementBytesMax`. */
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
 * Parses what stands between the brackets of a JSON array, slice by slice.
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
 * Tries the first brace and comma after so many bytes, which is faster than looking at each byte. Valid JSON before
 * them proves that they end an element.
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
 * @throws {Error} for what is no list of JSON
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

/** A list to parse, overwritten by the next: V8 would collect the whole heap after 64 MiB of new buffers. */
let list = Buffer.allocUnsafe(0);
const listBytesKept = 1024 * 1024;
