import type { PGlite } from "@electric-sql/pglite";

/** Frontend messages after which a client waits for an answer that ends with ReadyForQuery (PostgreSQL manual, 55.7). */
const endsExchange = new Set(["Q", "S", "F", "X"].map((type) => type.charCodeAt(0)));
const startupMessage = 0;

/**
 * PGlite as pglite-socket must see it, so that several clients can share its one session.
 * The socket server queues single protocol messages and keeps to one client only while PGlite reports an open transaction.
 * Without more, one client's Parse could come between another's Parse and Bind, and both use the same unnamed statement.
 * So an exchange that has begun (Parse … Sync) counts as an open transaction here.
 *
 * @param onFailure told when the engine itself fails, not a statement: it cannot be used after that, and the socket
 * server would leave every client waiting
 */
export function extendedQueryLock(pglite: PGlite, onFailure: (error: unknown) => void): PGlite {
  let exchangeOpen = false;
  return new Proxy(pglite, {
    get(target, name) {
      if (name === "isInTransaction") return () => exchangeOpen || target.isInTransaction();
      if (name === "exec") {
        // Called by the server alone, to roll back what a client left open when it went away.
        return async (sql: string) => {
          const results = await target.exec(sql);
          exchangeOpen = false;
          // An exchange that failed skips every statement before its Sync; exec has sent one after the first try.
          return target.isInTransaction() ? target.exec(sql) : results;
        };
      }
      if (name === "execProtocolRawStream") {
        return async (...[message, options]: Parameters<PGlite["execProtocolRawStream"]>) => {
          const type = message[0] ?? startupMessage;
          exchangeOpen = type !== startupMessage && !endsExchange.has(type);
          return target.execProtocolRawStream(message, options).catch((error: unknown) => {
            onFailure(error);
            throw error;
          });
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
