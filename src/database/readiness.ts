import type { PoolConfig } from "pg";
import { pendingMigrationsBy } from "./migrations/applied.js";
import { openConnections } from "./pool.js";

/** Checks over its own connection, so that load does not matter. */
export interface DatabaseReadiness {
  isMigrated(): Promise<boolean>;
  /** Counts for so long while the next check is pending. */
  readonly trustMs: number;
  close(): Promise<void>;
}

const answerTimeoutMs = 3_000;
/** It answers nobody during a statement, which may take minutes at the end of an import. */
const embeddedTrustMs = 5 * 60_000;
const closeTimeoutMs = 1_000;

export function openReadiness(connection: PoolConfig, log: (problem: Error) => void): DatabaseReadiness {
  const isEmbedded = connection.host !== undefined; // recognizable by its socket folder
  const limits: PoolConfig = isEmbedded
    ? { connectionTimeoutMillis: 0, idleTimeoutMillis: 0 }
    : {
        connectionTimeoutMillis: answerTimeoutMs,
        query_timeout: answerTimeoutMs,
        statement_timeout: answerTimeoutMs,
      };
  const own = { ...connection, ...limits, max: 1, application_name: "vitrine readiness" };
  const { pool, destroyAll } = openConnections(own, log);
  return {
    trustMs: isEmbedded ? embeddedTrustMs : 0,
    async isMigrated() {
      const query = async <Row>(sql: string) => (await pool.query(sql)).rows as Row[];
      return (await pendingMigrationsBy(query)).length === 0;
    },
    async close() {
      const timer = setTimeout(destroyAll, closeTimeoutMs);
      try {
        if (!pool.ending) await pool.end();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
