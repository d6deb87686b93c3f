import { setImmediate } from "node:timers/promises";
import type { ExecutionResult } from "graphql";
import { responseBytesMax, responseTooLarge } from "../schema/limits/responseBudget.js";

const largeFrom = 128 * 1024;
/** What is written in one turn of the event loop: a few milliseconds. */
const turnBytes = 512 * 1024;

/** Answers as bytes, because encoding megabytes of text also takes long. */
const written = new WeakMap<object, readonly Buffer[]>();

/**
 * Serializes a large result in pieces, between which other requests run; resultText() joins them. Undefined for small
 * ones.
 *
 * @throws {AppError} RESPONSE_TOO_LARGE, also as a rejection
 */
export function writeIfLarge({ data }: ExecutionResult): Promise<void> | undefined {
  if (data === undefined || data === null) return undefined;
  const room = roomAfter(data, responseBytesMax);
  if (room < 0) throw responseTooLarge();
  return responseBytesMax - room < largeFrom ? undefined : write(data);
}

export function resultText(result: ExecutionResult): string | Buffer {
  const data = isWritten(result) ? written.get(result.data) : undefined;
  if (data === undefined) return JSON.stringify(result);
  const parts: (readonly Buffer[])[] = [];
  for (const [name, value] of Object.entries(result) as [string, unknown][]) {
    if (value === undefined || typeof value === "function") continue; // as JSON.stringify does
    const before = `${parts.length === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    parts.push([Buffer.from(before)], name === "data" ? data : [Buffer.from(JSON.stringify(value))]);
  }
  return Buffer.concat([...parts.flat(), Buffer.from("}")]);
}

export function isWritten(result: ExecutionResult): result is ExecutionResult & { readonly data: object } {
  return typeof result.data === "object" && result.data !== null && written.has(result.data);
}

async function write(data: object): Promise<void> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let turnAt = turnBytes;
  for (const piece of piecesOf(data)) {
    const encoded = Buffer.from(piece);
    pieces.push(encoded);
    bytes += encoded.length;
    if (bytes > responseBytesMax) throw responseTooLarge();
    if (bytes < turnAt) continue;
    turnAt = bytes + turnBytes;
    await setImmediate();
  }
  written.set(data, pieces);
}

/** The JSON of plain objects, arrays and scalars, in small pieces. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null || roomAfter(value, largeFrom) >= 0) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* piecesOf(item);
      before = ",";
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(member);
      before = ",";
    }
    yield "}";
  }
}

/** The room that is left at best once a value is serialized; stops below zero. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = roomAfter(item, left - 1);
      if (left < 0) return left;
    }
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    left = roomAfter(members[name], left - name.length - 3);
    if (left < 0) return left;
  }
  return left;
}
