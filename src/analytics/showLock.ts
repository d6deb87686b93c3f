import type { Database } from "../database/client.js";
import { showLockKey } from "./events.sql.js";

/** Recorders end, or are ended, before that. */
const lockTimeoutMs = 60_000;
const statementTimeoutMs = 30 * 60_000;

/**
 * Takes a show alone, until the transaction ends: waits for the batches that are being recorded; later ones wait.
 * The lock is asked for beside the show's row, as recorders do: Citus takes it on the node of the show, where theirs are.
 */
export async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  // In a statement of its own: a new statement_timeout holds from the next one on, and waiting may outlast the old one.
  // Without statistics on a show that is new, nested loops would be chosen, whose time grows with the square of its size.
  await transaction.$executeRaw`
    SELECT set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
      set_config('statement_timeout', ${String(statementTimeoutMs)}, true), set_config('enable_nestloop', 'off', true)`;
  await transaction.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${showLockKey(storeId, lsId)}, 0))::text
    FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
}
