import type { Database, RootDatabase } from "../database/client.js";
import { inTransaction } from "../database/transaction.js";
import { showLockKey } from "./events.sql.js";
import { findLiveStream } from "./liveStream.js";
import { rebuildStatements } from "./rebuild.sql.js";

/** Recorders end, or are ended, before that. */
const lockTimeoutMs = 60_000;
const statementTimeoutMs = 30 * 60_000;
const transactionTimeoutMs = 4 * 3_600_000;

/**
 * Computes everything that is kept of a show's events from the events again: of one show, or of all of the store.
 * Each show is rebuilt in a transaction of its own, while which no event of it is recorded; readers see the old
 * figures until it ends.
 *
 * @returns the ids of the shows
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE where the show is locked for too long
 */
export async function rebuildAnalytics(db: RootDatabase, storeId: string, lsId?: string): Promise<string[]> {
  const ids = lsId === undefined ? await listIds(db, storeId) : [(await findLiveStream(db, storeId, lsId)).id];
  for (const id of ids) {
    await inTransaction(db, { timeoutMs: transactionTimeoutMs }, async (transaction) => {
      await lockShow(transaction, storeId, id);
      for (const statement of rebuildStatements(storeId, id)) await transaction.$executeRaw(statement);
    });
  }
  return ids;
}

async function listIds(db: Database, storeId: string): Promise<string[]> {
  const shows = await db.liveStream.findMany({ where: { storeId }, select: { id: true }, orderBy: { id: "asc" } });
  return shows.map(({ id }) => id);
}

/** Waits for the batches of the show that are being recorded; later ones wait until the transaction ends. */
async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  // In a statement of its own: a new statement_timeout holds from the next one on, and waiting may outlast the old one.
  // Without statistics on a show that is new, nested loops would be chosen, whose time grows with the square of its size.
  await transaction.$executeRaw`
    SELECT set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
      set_config('statement_timeout', ${String(statementTimeoutMs)}, true), set_config('enable_nestloop', 'off', true)`;
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${showLockKey(storeId, lsId)}, 0))::text`;
}
