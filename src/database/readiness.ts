import type { PoolConfig } from "pg";
import { pendingAccordingTo } from "./migrations/applied.js";
import { openConnections } from "./pool.js";

/** Tells whether a database can be used, over a connection that nothing else uses: however busy the others are. */
export interface DatabaseReadiness {
  /** Whether the database has all migrations. Rejects where it cannot be asked. */
  isMigrated(): Promise<boolean>;
  /** How long an answer still counts while the next one is waited for. */
  readonly trustMs: number;
  close(): Promise<void>;
}

/** A server that has more than one session answers by then, or it cannot be used. */
const answerTimeoutMs = 3_000;
/** The embedded engine answers nobody during a statement, and an import's last statement may take minutes. */
const embeddedTrustMs = 5 * 60_000;
const closeTimeoutMs = 1_000;

/** Opens nothing before it is asked for the first time; a connection that is lost is opened again. */
export function openReadiness(connection: PoolConfig, log: (problem: Error) => void): DatabaseReadiness {
  const isEmbedded = connection.host !== undefined; // known by its socket's folder
  const limits: PoolConfig = isEmbedded
    ? { connectionTimeoutMillis: 0, idleTimeoutMillis: 0 }
    : {
        connectionTimeoutMillis: answerTimeoutMs,
        query_timeout: answerTimeoutMs,
        statement_timeout: answerTimeoutMs,
      };
  const own = { ...connection, ...limits, max: 1, application_name: "vitrine readiness" };
  const { pool, cut } = openConnections(own, log);
  return {
    trustMs: isEmbedded ? embeddedTrustMs : 0,
    async isMigrated() {
      const ask = async <Row>(sql: string) => (await pool.query(sql)).rows as Row[];
      return (await pendingAccordingTo(ask)).length === 0;
    },
    async close() {
      const timer = setTimeout(cut, closeTimeoutMs);
      try {
        if (!pool.ending) await pool.end();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
