import type { PGlite } from "@electric-sql/pglite";
import { headerBytes, messageTypes, StatementCache } from "./statementCache.js";

/** Longer than an error with its detail and hint, and ReadyForQuery. */
const keptBytes = 4_096;

const readyBytes = 6;

/**
 * The end of the answer to an exchange. It tells whether the engine has failed: after an error of the level PANIC, as on a full disk,
 * what it has in memory cannot be trusted any more, and it may leave its client waiting for ReadyForQuery.
 */
class AnswerEnd {
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

const { query, sync, functionCall, flush, terminate } = messageTypes;
/** ReadyForQuery follows the first three. */
const endsExchange: ReadonlySet<number> = new Set([query, sync, functionCall, terminate]);
const startupMessage = 0;
/** Longer exchanges reach the engine in parts. */
const heldBytesMax = 1024 * 1024;

type RawStream = PGlite["execProtocolRawStream"];

/**
 * Lets several clients share PGlite's one session. pglite-socket stays with a client only while PGlite reports a
 * transaction: another client's Parse could come between Parse and Bind. So an unfinished extended query (Parse … Sync)
 * counts as a transaction. Its messages are held until Sync or Flush: the engine takes them in one call, which costs less than five.
 * Frequent statements stay prepared.
 *
 * @param onFailure called when the engine fails, where clients would wait forever
 */
export function extendedQueryLock(pglite: PGlite, onFailure: (error: unknown) => void): PGlite {
  const session = new SharedSession(pglite, onFailure);
  const own = {
    isInTransaction: () => session.isInTransaction(),
    exec: (sql: string) => session.rollBack(sql),
    execProtocolRawStream: (...args: Parameters<RawStream>) => session.send(...args),
  };
  return new Proxy(pglite, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

class SharedSession {
  #isExchangeOpen = false;
  #isPartSent = false;
  #held: Uint8Array[] = [];
  #failure: unknown;
  readonly #statements = new StatementCache();

  constructor(
    private readonly pglite: PGlite,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  isInTransaction(): boolean {
    return this.#isExchangeOpen || this.pglite.isInTransaction();
  }

  /** Called only to roll back after a client that left. */
  async rollBack(sql: string) {
    if (this.#failure !== undefined) throw this.#failure;
    this.#held = [];
    this.#isPartSent = false;
    const results = await this.pglite.exec(sql);
    this.#isExchangeOpen = false;
    // A failed extended query skips statements until the Sync that the first exec has sent.
    return this.pglite.isInTransaction() ? this.pglite.exec(sql) : results;
  }

  async send(...[message, options]: Parameters<RawStream>): Promise<void> {
    const type = message[0] ?? startupMessage;
    this.#isExchangeOpen = type !== startupMessage && !endsExchange.has(type);
    // Of a client that leaves without Sync, nothing is left for the next one.
    const messages = type === terminate ? [message] : [...this.#held, message];
    const isHeld = this.#isExchangeOpen && type !== flush && totalLength(messages) <= heldBytesMax;
    this.#held = isHeld ? messages : [];
    if (isHeld) return;
    const isWhole = !this.#isPartSent && type !== startupMessage && type !== terminate;
    this.#isPartSent = this.#isExchangeOpen;
    try {
      await this.#exchange(messages, isWhole, options);
    } catch (error) {
      this.#failure ??= error;
      this.onFailure(this.#failure);
      throw this.#failure;
    }
  }

  /** @param isWhole whether the messages are all of an exchange */
  async #exchange(messages: Uint8Array[], isWhole: boolean, options: Parameters<RawStream>[1]): Promise<void> {
    const cleanup = isWhole && !this.pglite.isInTransaction() ? this.#statements.cleanup() : undefined;
    // Not by exec, which would wait for this very exchange.
    if (cleanup !== undefined) await this.pglite.execProtocolRawStream(cleanup, { onRawData: () => undefined });
    const answer = new AnswerEnd();
    const receive = (data: Uint8Array) => {
      answer.add(data);
      options?.onRawData?.(data);
    };
    const exchange = this.#statements.exchangeFor(messages, isWhole);
    const onRawData = exchange?.answered(receive) ?? receive;
    await this.pglite.execProtocolRawStream(joined(exchange?.messages ?? messages), { ...options, onRawData });
    if (answer.failure !== undefined && isAnswered(messages)) throw new Error(answer.failure);
  }
}

/** Whether ReadyForQuery follows. */
function isAnswered(messages: readonly Uint8Array[]): boolean {
  const type = messages.at(-1)?.[0] ?? startupMessage;
  return endsExchange.has(type) && type !== terminate;
}

function totalLength(messages: readonly Uint8Array[]): number {
  return messages.reduce((sum, { length }) => sum + length, 0);
}

function joined(messages: readonly Uint8Array[]): Uint8Array {
  const [first] = messages;
  return messages.length === 1 && first !== undefined ? first : Buffer.concat(messages);
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
