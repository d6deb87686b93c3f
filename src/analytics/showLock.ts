import type { Database } from "../database/client.js";
import { setLocal } from "../database/setLocal.js";
import { showLockKey } from "./events.sql.js";

/** Recorders end, or are ended, before that. */
const lockTimeoutMs = 60_000;
const statementTimeoutMs = 30 * 60_000;

/**
 * Takes a show alone, until the transaction ends: waits for the batches that are being recorded; later ones wait.
 * The lock is asked for beside the show's row, as recorders do: Citus takes it on the node of the show, where theirs are.
 */
export async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  await setLocal(transaction, {
    lock_timeout: String(lockTimeoutMs),
    statement_timeout: String(statementTimeoutMs), // waiting may outlast the one of ordinary statements
    // Without statistics on a show that is new, nested loops would be chosen, whose time grows with the square of its size.
    enable_nestloop: "off",
  });
  await transaction.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${showLockKey(storeId, lsId)}, 0))::text
    FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
}
