import type { Database, RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream } from "../shows/liveStream.js";
import { type NameLimits, nameLimits } from "../events/keptNames.js";
import { rebuildStatements } from "./rebuild.sql.js";
import { withShowAlone } from "../shows/showLock.js";

const transactionTimeoutMs = 4 * 3_600_000;

/** Ids of shows. */
export interface RebuildResult {
  readonly rebuilt: string[];
  /** Left as they are: their events were removed, and their totals are all that is known of them. */
  readonly pruned: string[];
}

/**
 * Computes everything that is kept of a show's events from the events again: of one show, or of all of the store.
 * Each show is rebuilt in a transaction of its own, while which no event of it is recorded; readers see the old
 * figures until it ends.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, VALIDATION_FAILED where the one show named was pruned, or UNAVAILABLE where
 *   the show is locked for too long
 */
export async function rebuildAnalytics(
  db: RootDatabase,
  storeId: string,
  lsId?: string,
  limits: NameLimits = nameLimits,
): Promise<RebuildResult> {
  const ids = lsId === undefined ? await listIds(db, storeId) : [(await findLiveStream(db, storeId, lsId)).id];
  const result: RebuildResult = { rebuilt: [], pruned: [] };
  for (const id of ids) {
    const isRebuilt = await withShowAlone(db, { storeId, lsId: id, timeoutMs: transactionTimeoutMs }, (transaction) =>
      rebuildShow(transaction, storeId, id, limits),
    );
    result[isRebuilt ? "rebuilt" : "pruned"].push(id);
  }
  if (lsId === undefined || result.pruned.length === 0) return result;
  throw new AppError("VALIDATION_FAILED", `The events of ${lsId} were pruned: its totals cannot be rebuilt.`);
}

/** @returns false where the events are no longer there, which is asked with the show locked: pruning takes the same lock */
async function rebuildShow(transaction: Database, storeId: string, id: string, limits: NameLimits): Promise<boolean> {
  const { prunedAt } = await findLiveStream(transaction, storeId, id);
  if (prunedAt !== null) return false;
  for (const statement of rebuildStatements(storeId, id, limits)) await transaction.$executeRaw(statement);
  return true;
}

async function listIds(db: Database, storeId: string): Promise<string[]> {
  const shows = await db.liveStream.findMany({ where: { storeId }, select: { id: true }, orderBy: { id: "asc" } });
  return shows.map(({ id }) => id);
}
