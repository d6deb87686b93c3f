import type { Pool, PoolConfig } from "pg";
import { isDiskFull } from "./embedded/engineFailure.js";
import { socketFolderOf } from "./engine.js";
import { type Fault, faultOf } from "./databaseErrors.js";
import { findFault, findPending } from "./faults/findFault.js";
import { openConnections } from "./pool.js";

/** Checks over its own connection, so that load does not matter. */
export interface DatabaseReadiness {
  /** What keeps the database from serving. @throws if it does not answer */
  findFault(): Promise<Fault | undefined>;
  /** How long a check counts while the next one is pending. */
  readonly trustMs: number;
  close(): Promise<void>;
}

const answerTimeoutMs = 3_000;
/** Long, because the engine does not answer during a statement, which may take minutes at the end of an import. */
const embeddedTrustMs = 5 * 60_000;
const closeTimeoutMs = 1_000;

/** @param folder of the embedded engine's files, in the process that runs it */
export function openReadiness(
  connection: PoolConfig,
  log: (problem: Error) => void,
  folder?: string,
): DatabaseReadiness {
  const isEmbedded = socketFolderOf(connection) !== undefined;
  const limits: PoolConfig = isEmbedded
    ? { connectionTimeoutMillis: 0, idleTimeoutMillis: 0 }
    : {
        connectionTimeoutMillis: answerTimeoutMs,
        query_timeout: answerTimeoutMs,
        statement_timeout: answerTimeoutMs,
        maxUses: 1, // an open connection does not show a new password or new settings of the role
      };
  const own = { ...connection, ...limits, max: 1, application_name: "vitrine readiness" };
  const { pool, destroyAll } = openConnections(own, log);
  return {
    trustMs: isEmbedded ? embeddedTrustMs : 0,
    async findFault() {
      try {
        if (folder !== undefined && (await isDiskFull(folder))) return "disk full";
        return await ask(pool, isEmbedded ? findPending : findFault);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined) throw error;
        return fault;
      }
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

/** @param find findPending for the embedded engine, whose only role may do everything */
async function ask(pool: Pool, find: typeof findFault): Promise<Fault | undefined> {
  const client = await pool.connect();
  let problem: Error | undefined;
  try {
    return (await find(async <Row>(sql: string) => (await client.query(sql)).rows as Row[]))?.fault;
  } catch (error) {
    problem = error as Error;
    throw error;
  } finally {
    client.release(problem);
  }
}
