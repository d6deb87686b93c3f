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

/**
 * Lets several clients share PGlite's one session. pglite-socket stays with a client only while PGlite reports a
 * transaction: another client's Parse could come between Parse and Bind. So an unfinished extended query (Parse … Sync)
 * counts as a transaction. Its messages are held until Sync or Flush: the engine takes them in one call, which costs less than five.
 * Frequent statements stay prepared.
 *
 * @param onFailure called when the engine fails, where clients would wait forever
 */
export function extendedQueryLock(pglite: PGlite, onFailure: (error: unknown) => void): PGlite {
  let exchangeOpen = false;
  let isPartSent = false;
  let held: Uint8Array[] = [];
  let failure: unknown;
  const statements = new StatementCache();
  return new Proxy(pglite, {
    get(target, name) {
      if (name === "isInTransaction") return () => exchangeOpen || target.isInTransaction();
      if (name === "exec") {
        // Called only to roll back after a client that left.
        return async (sql: string) => {
          if (failure !== undefined) throw failure;
          held = [];
          isPartSent = false;
          const results = await target.exec(sql);
          exchangeOpen = false;
          // A failed extended query skips statements until the Sync that the first exec has sent.
          return target.isInTransaction() ? target.exec(sql) : results;
        };
      }
      if (name === "execProtocolRawStream") {
        return async (...[message, options]: Parameters<PGlite["execProtocolRawStream"]>) => {
          const type = message[0] ?? startupMessage;
          exchangeOpen = type !== startupMessage && !endsExchange.has(type);
          // Of a client that leaves without Sync, nothing is left for the next one.
          const messages = type === terminate ? [message] : [...held, message];
          const isHeld = exchangeOpen && type !== flush && totalLength(messages) <= heldBytesMax;
          held = isHeld ? messages : [];
          if (isHeld) return;
          const answer = new AnswerEnd();
          const receive = (data: Uint8Array) => {
            answer.add(data);
            options?.onRawData?.(data);
          };
          const isWhole = !isPartSent && type !== startupMessage && type !== terminate;
          isPartSent = exchangeOpen;
          try {
            const cleanup = isWhole && !target.isInTransaction() ? statements.cleanup() : undefined;
            // Not by exec, which would wait for this very exchange.
            if (cleanup !== undefined) await target.execProtocolRawStream(cleanup, { onRawData: () => undefined });
            const exchange = statements.exchangeFor(messages, isWhole);
            const onRawData = exchange?.answered(receive) ?? receive;
            await target.execProtocolRawStream(joined(exchange?.messages ?? messages), { ...options, onRawData });
            const problem = endsExchange.has(type) && type !== terminate ? answer.failure : undefined;
            if (problem !== undefined) throw new Error(problem);
          } catch (error) {
            failure ??= error;
            onFailure(failure);
            throw failure;
          }
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function totalLength(messages: readonly Uint8Array[]): number {
  return messages.reduce((sum, { length }) => sum + length, 0);
}

function joined(messages: readonly Uint8Array[]): Uint8Array {
  const [first] = messages;
  return messages.length === 1 && first !== undefined ? first : Buffer.concat(messages);
}
