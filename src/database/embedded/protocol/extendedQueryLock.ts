import type { PGlite } from "@electric-sql/pglite";
import { AnswerEnd } from "./answerEnd.js";
import { messageTypes } from "./messages.js";
import { StatementCache } from "./statementCache.js";

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
