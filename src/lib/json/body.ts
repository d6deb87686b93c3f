import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { AppError } from "../../errors.js";
import { parsedSlices } from "./elements.js";
import { invalidJson, parseJson } from "./parse.js";
import { type JsonRange, type JsonScanner, longFromBytes } from "./scan.js";

export interface UnparsedValue extends JsonRange {
  /** The whole body, in shared memory. */
  readonly bytes: Buffer;
}

/** A parsed body, with placeholders for long values. */
export interface JsonBody {
  readonly value: unknown;
  /** By placeholder. */
  readonly unparsed: ReadonlyMap<string, UnparsedValue>;
  /** As sent. */
  readonly length: number;
}

/** What is not a long list, text or product is parsed in one go. */
const bodyFrameBytesMax = 512 * 1024;
/** Other requests run between the slices of a list. */
const sliceBytes = 64 * 1024;
const [arrayStart, arrayEnd, objectStart] = [0x5b, 0x5d, 0x7b] as const;
const none: ReadonlyMap<string, UnparsedValue> = new Map();

/**
 * Parses a body except the long values of some members.
 *
 * @param scanner which has seen the whole body
 * @param parent the path of the object with these members: `[]`, or `["variables"]`
 * @throws {AppError} BAD_REQUEST for invalid JSON, PAYLOAD_TOO_LARGE where too much must be parsed in one go
 */
export function parseBody(body: Buffer, scanner: JsonScanner, parent: readonly string[]): JsonBody {
  const { length } = body;
  if (length < longFromBytes) return { value: parseJson(body), unparsed: none, length };
  if (!scanner.isComplete) throw invalidJson();
  const members = scanner.longMembers(body).filter(({ path }) => isMemberOf(path, parent));
  const unparsed = new Map<string, UnparsedValue>();
  const frame: Buffer[] = [];
  let at = 0;
  for (const { start, end, items } of members) {
    const placeholder = newPlaceholder();
    unparsed.set(placeholder, trimmed({ bytes: body, start, end, items }));
    frame.push(body.subarray(at, start), Buffer.from(JSON.stringify(placeholder)));
    at = end;
  }
  frame.push(body.subarray(at, trimmed({ bytes: body, start: at, end: length, items: 0 }).end));
  if (frame.reduce((sum, part) => sum + part.length, 0) > bodyFrameBytesMax) {
    const message = `Beside long lists, texts and products, a body may have at most ${bodyFrameBytesMax} bytes.`;
    throw new AppError("PAYLOAD_TOO_LARGE", message);
  }
  return { value: parseJson(Buffer.concat(frame)), unparsed, length };
}

/** Unguessable, and no stored id: those have no NUL. */
export function newPlaceholder(): string {
  return `\0${randomUUID()}`;
}

/** Judged by the first byte. */
export function isUnparsedList({ bytes, start }: UnparsedValue): boolean {
  return bytes[start] === arrayStart;
}

/** Lists are parsed in slices, between which other requests run. @throws {AppError} BAD_REQUEST */
export async function parseUnparsed(value: UnparsedValue): Promise<unknown> {
  const { bytes, start, end } = value;
  if (!isUnparsedList(value) || bytes[end - 1] !== arrayEnd) {
    if (end - start > bodyFrameBytesMax && bytes[start] === objectStart) {
      throw new AppError("PAYLOAD_TOO_LARGE", `An object may have at most ${bodyFrameBytesMax} bytes.`);
    }
    return parseJson(bytes.subarray(start, end));
  }
  const list: unknown[] = [];
  for (const { elements } of parsedSlices(bytes, start + 1, end - 1, { sliceBytes })) {
    for (const element of elements ?? []) list.push(element);
    await setImmediate();
  }
  return list;
}

function isMemberOf(path: readonly string[], parent: readonly string[]): boolean {
  return path.length === parent.length + 1 && parent.every((name, index) => path[index] === name);
}

const whiteSpace: ReadonlySet<number | undefined> = new Set(Buffer.from(" \t\r\n"));

function trimmed({ bytes, start, end, items }: UnparsedValue): UnparsedValue {
  let [first, last] = [start, end];
  while (first < last && whiteSpace.has(bytes[first])) first += 1;
  while (last > first && whiteSpace.has(bytes[last - 1])) last -= 1;
  return { bytes, start: first, end: last, items };
}
