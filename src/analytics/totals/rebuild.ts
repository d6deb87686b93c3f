import type { Database, RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream } from "../shows/liveStream.js";
import { type NameLimits, nameLimits } from "../events/keptNames.js";
import { rebuildStatements } from "./rebuild.sql.js";
import { withShowLock } from "../shows/showLock.js";

const transactionTimeoutMs = 4 * 3_600_000;

export interface RebuildResult {
  readonly rebuilt: string[];
  readonly pruned: string[];
}

/**
 * Computes all totals of a show, or of all shows of the store, from the events. Each show is one transaction: batches
 * wait, and readers see the old figures until it commits.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, VALIDATION_FAILED where the named show was pruned, or UNAVAILABLE where the
 * show stays locked
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
    const isRebuilt = await withShowLock(db, { storeId, lsId: id, timeoutMs: transactionTimeoutMs }, (transaction) =>
      rebuildShow(transaction, storeId, id, limits),
    );
    result[isRebuilt ? "rebuilt" : "pruned"].push(id);
  }
  if (lsId === undefined || result.pruned.length === 0) return result;
  throw new AppError("VALIDATION_FAILED", `The events of ${lsId} were pruned: its totals cannot be rebuilt.`);
}

/** @returns false where the show was pruned, which is checked with the lock that pruning takes too */
async function rebuildShow(transaction: Database, storeId: string, id: string, limits: NameLimits): Promise<boolean> {
  const { prunedAt, prunedBefore, number } = await findLiveStream(transaction, storeId, id);
  if (prunedAt !== null) return false;
  const show = { storeId, lsId: id, number, isPartial: prunedBefore !== null };
  for (const statement of rebuildStatements(show, limits)) await transaction.$executeRaw(statement);
  return true;
}

async function listIds(db: Database, storeId: string): Promise<string[]> {
  const shows = await db.liveStream.findMany({ where: { storeId }, select: { id: true }, orderBy: { id: "asc" } });
  return shows.map(({ id }) => id);
}
