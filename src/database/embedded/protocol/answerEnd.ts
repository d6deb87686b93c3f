import { headerBytes, messageTypes } from "./messages.js";

/** Longer than an error with its detail and hint, and ReadyForQuery. */
const keptBytes = 4_096;
const readyBytes = 6;

/**
 * The end of the answer to an exchange. It tells whether the engine has failed: after an error of the level PANIC, as on a full disk,
 * what it has in memory cannot be trusted any more, and it may leave its client waiting for ReadyForQuery.
 */
export class AnswerEnd {
  #kept: Buffer = Buffer.alloc(0);

  /** @param data is copied: the engine reuses it */
  add(data: Uint8Array): void {
    const end = data.subarray(-keptBytes);
    this.#kept = end.length === keptBytes ? Buffer.from(end) : Buffer.concat([this.#kept, end]).subarray(-keptBytes);
  }

  /** What the error of an engine that has failed says, with its SQL state. Undefined for one that goes on. */
  get failure(): string | undefined {
    const isOver = isReady(this.#kept);
    if (isOver && !this.#kept.includes("PANIC")) return undefined;
    const error = firstError(this.#kept);
    if (isOver && error.get("V") !== "PANIC") return undefined; // a row has the word
    return error.has("M") ? `${error.get("M")} (${error.get("C")})` : "It does not answer.";
  }
}

/** Whether an answer ends with ReadyForQuery (PostgreSQL manual, 54.7). */
function isReady(answer: Buffer): boolean {
  const end = answer.subarray(-readyBytes);
  return end.length === readyBytes && end[0] === messageTypes.readyForQuery && end.readUInt32BE(1) === readyBytes - 1;
}

/** The fields by their letters (PostgreSQL manual, 54.8). */
function firstError(answer: Buffer): ReadonlyMap<string, string> {
  for (let at = 0; at + headerBytes <= answer.length; at += 1) {
    if (answer[at] !== messageTypes.error || !isChain(answer, at)) continue;
    const fields = answer.toString("utf8", at + headerBytes, at + 1 + answer.readUInt32BE(at + 1)).split("\0");
    return new Map(fields.map((field) => [field.slice(0, 1), field.slice(1)]));
  }
  return new Map();
}

/** Whether messages from here on end where the answer does. */
function isChain(answer: Buffer, from: number): boolean {
  let at = from;
  while (at + headerBytes <= answer.length) at += 1 + Math.max(headerBytes - 1, answer.readUInt32BE(at + 1));
  return at === answer.length;
}
