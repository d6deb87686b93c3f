import type { PGlite } from "@electric-sql/pglite";
import { LRUCache } from "lru-cache";
import { planAgeMaxMs } from "../pool.js";

const typeOf = (letter: string): number => letter.charCodeAt(0);

/** Types of messages (PostgreSQL manual, 55.7). */
const messageTypes = {
  parse: typeOf("P"),
  bind: typeOf("B"),
  describe: typeOf("D"),
  sync: typeOf("S"),
  flush: typeOf("H"),
  query: typeOf("Q"),
  functionCall: typeOf("F"),
  terminate: typeOf("X"),
  /** Types of answers. */
  parseComplete: typeOf("1"),
  error: typeOf("E"),
  readyForQuery: typeOf("Z"),
} as const;

/** The type and the length, which does not count the type. */
const headerBytes = 5;

const { parse, bind, describe } = messageTypes;
const aboutStatement = "S".charCodeAt(0);
const parseComplete = messageOf("1", "");

const statementsMax = 100;
const seenMax = 1_000;
const seenCharactersMax = 2_000_000;
const textBytesMax = 64 * 1024;
/** Text with one of these words may change or remove prepared statements, so they are prepared again. */
const changesStatements = /\b(?:ALTER|CREATE|DROP|DEALLOCATE|DISCARD)\b/iu;
/** Creates a table that ends with the transaction. It may hide a lasting table, so it affects statements that name it. */
const createsTemporary = /^\0?\s*CREATE TEMPORARY TABLE "?(\w+)"? (\([^;]*\))\s+ON COMMIT DROP\s*\0/u;

type Receive = (data: Uint8Array) => void;

interface Statement {
  readonly name: string;
  isPrepared: boolean;
}

/** Replaces an exchange: what the engine receives, and what its client receives. */
interface Exchange {
  readonly messages: readonly Uint8Array[];
  /** Wraps the receiver of the answer. */
  answered(receive: Receive): Receive;
}

/**
 * Prepares unnamed statements that clients repeat, because parsing and planning most of them takes longer than executing them.
 * All clients share one session, so they share these statements.
 */
class StatementCache {
  readonly #bySource: LRUCache<string, Statement>;
  /** Statements seen once: preparing them is not worth it yet. */
  readonly #seen = new LRUCache<string, true>({
    max: seenMax,
    maxSize: seenCharactersMax,
    sizeCalculation: (_, text) => text.length,
  });
  #evicted: string[] = [];
  #names = 0;
  /** Names of tables that end with this transaction, in lower case, because unquoted names ignore case. */
  readonly #temporary = new Set<string>();
  #plannedAt = performance.now();
  #isOutdated = false;

  constructor() {
    this.#bySource = new LRUCache({
      max: statementsMax,
      dispose: ({ name, isPrepared }) => {
        if (isPrepared) this.#evicted.push(name);
      },
    });
  }

  /** Messages to send before an exchange, outside of a transaction only. */
  cleanup(): Uint8Array | undefined {
    if (this.#isOutdated) this.#bySource.clear();
    this.#isOutdated = false;
    this.#temporary.clear();
    const messages = this.#evicted.map(closeMessage);
    this.#evicted = [];
    if (messages.length > 0) messages.push(syncMessage);
    const now = performance.now();
    if (this.#bySource.size > 0 && now - this.#plannedAt >= planAgeMaxMs) {
      this.#plannedAt = now;
      messages.push(discardPlans);
    }
    return messages.length === 0 ? undefined : Buffer.concat(messages);
  }

  /**
   * Must be called for everything that reaches the engine.
   *
   * @param isWhole whether no part of the exchange was sent before
   * @returns undefined for an exchange that reaches the engine as it is
   */
  exchangeFor(messages: readonly Uint8Array[], isWhole: boolean): Exchange | undefined {
    const sources = messages.filter(([type]) => type === parse || type === messageTypes.query).map(textOf);
    const changes = sources.filter((source) => !this.#isKnown(source) && changesStatements.test(source));
    for (const change of changes) this.#noteChange(change);
    const [source, ...more] = sources;
    if (this.#isOutdated || !isWhole || source === undefined || more.length > 0 || !usesUnnamed(messages))
      return undefined;
    if (this.#namesTemporary(source)) return undefined;
    const statement = this.#bySource.get(source) ?? this.#addSeen(source);
    if (statement === undefined) return undefined;
    const renamed = messages.slice(1).map((message) => withName(message, statement.name));
    if (statement.isPrepared) return { messages: renamed, answered: (receive) => this.#afterParse(receive) };
    return {
      messages: [...messages.slice(0, 1).map((first) => inserted(first, headerBytes, statement.name)), ...renamed],
      answered: (receive) =>
        withFirst(receive, (answerType) => {
          statement.isPrepared = answerType === messageTypes.parseComplete; // unless parsing failed
        }),
    };
  }

  #noteChange(source: string): void {
    const [, table = "", columns = ""] = createsTemporary.exec(source) ?? [];
    if (table === "" || changesStatements.test(columns)) {
      this.#isOutdated = true;
      return;
    }
    this.#temporary.add(table.toLowerCase());
    const affected = [...this.#bySource.keys()].filter((statement) => this.#namesTemporary(statement));
    for (const statement of affected) this.#bySource.delete(statement);
  }

  #namesTemporary(source: string): boolean {
    if (this.#temporary.size === 0) return false;
    const lowerCase = source.toLowerCase();
    return [...this.#temporary].some((name) => lowerCase.includes(name));
  }

  #isKnown(source: string): boolean {
    return this.#bySource.has(source) || this.#seen.has(source);
  }

  /** Undefined the first time. */
  #addSeen(source: string): Statement | undefined {
    if (!this.#seen.delete(source)) {
      this.#seen.set(source, true);
      return undefined;
    }
    this.#names += 1;
    const statement = { name: `vitrine_${this.#names}`, isPrepared: false };
    this.#bySource.set(source, statement);
    return statement;
  }

  #afterParse(receive: Receive): Receive {
    receive(parseComplete);
    return withFirst(receive, (answerType) => {
      // The statement is gone or changed, for example by a function that alters a table.
      if (answerType === messageTypes.error) this.#isOutdated = true;
    });
  }
}

/** @param look receives the type of the answer's first message */
function withFirst(receive: Receive, look: (type: number | undefined) => void): Receive {
  let isFirst = true;
  return (data) => {
    if (isFirst) look(data[0]);
    isFirst = false;
    receive(data);
  };
}

/** Whether an exchange uses an unnamed statement once and ends, so that later ones cannot refer to it. */
function usesUnnamed(messages: readonly Uint8Array[]): boolean {
  const [first, ...others] = messages;
  const [bound, ...more] = others.filter(([type]) => type === bind);
  return (
    first?.[0] === parse &&
    first[headerBytes] === 0 &&
    first.length <= textBytesMax &&
    others.at(-1)?.[0] === messageTypes.sync &&
    more.length === 0 &&
    bound?.[headerBytes] === 0 && // to the unnamed portal
    bound[headerBytes + 1] === 0 // the unnamed statement
  );
}

/** Names the unnamed statement. */
function withName(message: Uint8Array, name: string): Uint8Array {
  const isAboutStatement = message[0] === describe && message[headerBytes] === aboutStatement;
  return message[0] === bind || isAboutStatement ? inserted(message, headerBytes + 1, name) : message;
}

/** No error if the statement is gone. */
function closeMessage(name: string): Uint8Array {
  return messageOf("C", `S${name}\0`);
}

const syncMessage = messageOf("S", "");
const discardPlans = messageOf("Q", "DISCARD PLANS\0");

function messageOf(type: string, body: string): Uint8Array {
  return withLength(Buffer.from(`${type}....${body}`));
}

function inserted(message: Uint8Array, at: number, text: string): Uint8Array {
  return withLength(Buffer.concat([message.subarray(0, at), Buffer.from(text), message.subarray(at)]));
}

/** The message without its header. Each byte is a character, so that different bytes are different texts. */
function textOf(message: Uint8Array): string {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString("latin1", headerBytes);
}

function withLength(message: Buffer): Uint8Array {
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}

/** Longer than an error with its detail and hint, and ReadyForQuery. */
const keptBytes = 4_096;

const readyBytes = 6;

/**
 * The end of the answer to an exchange, which shows whether the engine failed: after an error of the level PANIC, as on a full
 * disk, its memory cannot be trusted, and its client may wait for ReadyForQuery forever.
 */
class AnswerEnd {
  #kept: Buffer = Buffer.alloc(0);

  /** @param data is copied, because the engine reuses it */
  add(data: Uint8Array): void {
    const end = data.subarray(-keptBytes);
    this.#kept = end.length === keptBytes ? Buffer.from(end) : Buffer.concat([this.#kept, end]).subarray(-keptBytes);
  }

  /** The error of an engine that failed, with its SQL state. Undefined if the engine works. */
  get failure(): string | undefined {
    const isOver = isReady(this.#kept);
    if (isOver && !this.#kept.includes("PANIC")) return undefined;
    const error = firstError(this.#kept);
    if (isOver && error.get("V") !== "PANIC") return undefined; // the word PANIC is in a row, not in an error
    return error.has("M") ? `${error.get("M")} (${error.get("C")})` : "It does not answer.";
  }
}

const { query, sync, functionCall, flush, terminate } = messageTypes;
/** ReadyForQuery follows the first three. */
const endsExchange: ReadonlySet<number> = new Set([query, sync, functionCall, terminate]);
const startupMessage = 0;
/** Longer exchanges are sent in parts. */
const heldBytesMax = 1024 * 1024;

/** A statement that notifies. The engine would deliver it to its only session, which all clients share. */
const notifies = "pg_notify(";

interface Listeners {
  /** Called when the engine fails, because clients would wait forever. */
  readonly onFailure: (error: unknown) => void;
  /** Called after each statement that notified. */
  readonly onNotified: () => void;
}

type RawStream = PGlite["execProtocolRawStream"];

/**
 * Lets several clients share PGlite's only session. pglite-socket stays with a client only while PGlite reports a transaction, so
 * another client's Parse could come between Parse and Bind. Therefore an unfinished extended query (Parse … Sync) counts as a
 * transaction. Its messages are held until Sync or Flush, because one call of the engine costs less than five. Frequent
 * statements stay prepared.
 */
export function extendedQueryLock(pglite: PGlite, listeners: Listeners): PGlite {
  const session = new SharedSession(pglite, listeners);
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
    private readonly listeners: Listeners,
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
    // After a failed extended query, the engine skips statements until the Sync that the first exec sent.
    return this.pglite.isInTransaction() ? this.pglite.exec(sql) : results;
  }

  async send(...[message, options]: Parameters<RawStream>): Promise<void> {
    const type = message[0] ?? startupMessage;
    this.#isExchangeOpen = type !== startupMessage && !endsExchange.has(type);
    // Messages of a client that left without Sync must not reach the next one.
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
      this.listeners.onFailure(this.#failure);
      throw this.#failure;
    }
  }

  /** @param isWhole whether the messages are a whole exchange */
  async #exchange(messages: Uint8Array[], isWhole: boolean, options: Parameters<RawStream>[1]): Promise<void> {
    const cleanup = isWhole && !this.pglite.isInTransaction() ? this.#statements.cleanup() : undefined;
    // Not by exec, which would wait for this exchange.
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
    if (messages.some(isNotification)) this.listeners.onNotified();
  }
}

function isNotification(message: Uint8Array): boolean {
  return message[0] === parse && Buffer.from(message.buffer, message.byteOffset, message.byteLength).includes(notifies);
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

/** Whether whole messages follow from here to the end of the answer. */
function isChain(answer: Buffer, from: number): boolean {
  let at = from;
  while (at + headerBytes <= answer.length) at += 1 + Math.max(headerBytes - 1, answer.readUInt32BE(at + 1));
  return at === answer.length;
}
