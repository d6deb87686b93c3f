import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { asBuffer } from "../text.js";
import { parsedSlices } from "./elements.js";
import { decodeJson, faultIn, invalidJson, parseJson } from "./parseJson.js";
import { type JsonRange, longFromBytes, type ScannedText } from "./scanJson.js";

export interface SharedBody {
  bytes(): Promise<Buffer>;
  /** Sends the port's only message. If the body was given up, the port is closed instead. */
  sendTo(port: MessagePort): void;
}

/** Shares bytes of this thread. */
export function sharedBody(bytes: Buffer): SharedBody {
  return { bytes: async () => bytes, sendTo: (port) => port.postMessage(bytes) };
}

/** Receives what `sendTo` sends, and closes the port. @throws {AppError} UNAVAILABLE if the body was given up */
export function receiveBody(port: MessagePort): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    port.once("message", (bytes: Uint8Array) => {
      port.removeAllListeners(); // the listener for its end would keep the body until the next turn of the event loop
      port.close();
      resolve(asBuffer(bytes));
    });
    port.once("close", () => reject(new AppError("UNAVAILABLE", "The body is no longer there. Nothing was changed.")));
  });
}

export interface UnparsedValue extends JsonRange {
  readonly body: SharedBody;
  /** Its first character. */
  readonly first: string;
}

interface CutValue extends Omit<UnparsedValue, "body"> {
  readonly placeholder: string;
  /** Bytes of the frame between the previous value and this one. */
  readonly before: number;
  /** Bytes of its placeholder in the frame. */
  readonly inFrame: number;
  /** Where the body continues in the frame. */
  readonly after: number;
}

export interface CutBody {
  /** JSON, with placeholders for these values. */
  readonly frame: Buffer;
  readonly cut: readonly CutValue[];
  /** As sent. */
  readonly length: number;
}

export interface JsonBody {
  readonly value: unknown;
  /** By placeholder. */
  readonly unparsed: ReadonlyMap<string, UnparsedValue>;
  /** As sent. */
  readonly length: number;
  /** The whole body if nothing was cut out. */
  readonly frame: Buffer;
}

/** Everything except long lists, texts and products is parsed at once. */
const frameBytesMax = 512 * 1024;
/** Other requests run between the slices of a list. */
const sliceBytes = 64 * 1024;

/**
 * Cuts the long values of some members out of a body.
 *
 * @param parent the path of the object with these members: `[]`, or `["variables"]`
 * @throws {AppError} BAD_REQUEST for invalid JSON, PAYLOAD_TOO_LARGE if too much would be parsed at once
 */
export function cutBody({ bytes, isComplete, longMembers }: ScannedText, parent: readonly string[]): CutBody {
  const { length } = bytes;
  if (length < longFromBytes) return { frame: bytes, cut: [], length };
  if (!isComplete) throw invalidJson(bytes, faultIn(bytes));
  const cut: CutValue[] = [];
  const frame: Buffer[] = [];
  let at = 0;
  for (const { path, ...range } of longMembers) {
    if (!isMemberOf(path, parent)) continue;
    const placeholder = newPlaceholder();
    const value = trimmed(bytes, range);
    const inFrame = Buffer.from(JSON.stringify(placeholder));
    const first = String.fromCharCode(bytes[value.start] ?? 0);
    cut.push({ ...value, placeholder, first, before: range.start - at, inFrame: inFrame.length, after: range.end });
    frame.push(bytes.subarray(at, range.start), inFrame);
    at = range.end;
  }
  frame.push(bytes.subarray(at, trimmed(bytes, { start: at, end: length, items: 0 }).end));
  if (frame.reduce((sum, part) => sum + part.length, 0) > frameBytesMax) {
    const message = `Apart from long lists, texts and products, a body may have at most ${frameBytesMax} bytes.`;
    throw new AppError("PAYLOAD_TOO_LARGE", message);
  }
  return { frame: Buffer.concat(frame), cut, length };
}

/** Parses a body without the values that were cut out. @throws {AppError} BAD_REQUEST for invalid JSON */
export async function parseBody({ frame, cut, length }: CutBody, body: SharedBody): Promise<JsonBody> {
  const unparsed = new Map(
    cut.map(({ placeholder, start, end, items, first }) => [placeholder, { start, end, items, first, body }]),
  );
  try {
    return { value: decodeJson(frame), unparsed, length, frame };
  } catch {
    throw invalidJson(await body.bytes(), placeInBody(cut, faultIn(frame)));
  }
}

/** Where a byte of the frame is in the body. */
function placeInBody(cut: readonly CutValue[], atInFrame: number): number {
  let [at, left] = [0, atInFrame];
  for (const { before, inFrame, start, after } of cut) {
    if (left < before) break;
    left -= before;
    if (left < inFrame) return start;
    left -= inFrame;
    at = after;
  }
  return at + left;
}

/** Unguessable, and never a stored id, because those have no NUL. */
export function newPlaceholder(): string {
  return `\0${randomUUID()}`;
}

export function isUnparsedList({ first }: Pick<UnparsedValue, "first">): boolean {
  return first === "[";
}

/** Lists are parsed in slices, between which other requests run. @throws {AppError} BAD_REQUEST */
export async function parseUnparsed(value: UnparsedValue): Promise<unknown> {
  const { start, end, first, body } = value;
  const bytes = await body.bytes();
  if (!isUnparsedList(value) || bytes[end - 1] !== arrayEnd) {
    if (end - start > frameBytesMax && first === "{") {
      throw new AppError("PAYLOAD_TOO_LARGE", `A product may have at most ${frameBytesMax} bytes.`);
    }
    return parseJson(bytes.subarray(start, end), bytes, start);
  }
  const list: unknown[] = [];
  for (const { elements } of parsedSlices(bytes, start + 1, end - 1, { sliceBytes })) {
    for (const element of elements ?? []) list.push(element);
    await setImmediate();
  }
  return list;
}

const arrayEnd = 0x5d;

function isMemberOf(path: readonly string[], parent: readonly string[]): boolean {
  return path.length === parent.length + 1 && parent.every((name, index) => path[index] === name);
}

const whiteSpace: ReadonlySet<number | undefined> = new Set(Buffer.from(" \t\r\n"));

function trimmed(bytes: Buffer, { start, end, items }: JsonRange): JsonRange {
  let [first, last] = [start, end];
  while (first < last && whiteSpace.has(bytes[first])) first += 1;
  while (last > first && whiteSpace.has(bytes[last - 1])) last -= 1;
  return { start: first, end: last, items };
}
