import type { Database, RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream, timesOf } from "../../shows/liveStream.js";
import { deleteEvents } from "../../shows/events.delete.js";
import { hasEventRows } from "../../database/storeTables.js";
import { withShowLock } from "../../database/showLock.js";

export interface PruneResult {
  readonly shows: string[];
  readonly events: number;
  /** Rows that identified distinct viewers. */
  readonly viewerRows: number;
}

export interface PruneProgress {
  readonly showsDone: number;
  readonly showsTotal: number;
  readonly rowsRemoved: number;
}

interface PruneOptions {
  readonly before: Date;
  readonly lsId?: string | undefined;
  readonly batchRows?: number | undefined;
  readonly onProgress?: (progress: PruneProgress) => void;
}

const lockTimeoutMs = 60_000;

/**
 * Removes the events of archived shows, and the rows that identify their viewers; all totals stay. Archived shows only take later
 * refunds, so no removed event can count again. If a run is interrupted, another one completes it.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or VALIDATION_FAILED if the named show is not archived or ended later
 */
export async function pruneEvents(db: RootDatabase, storeId: string, options: PruneOptions): Promise<PruneResult> {
  const { before, lsId, batchRows, onProgress = () => undefined } = options;
  const ids = lsId === undefined ? await listPrunable(db, storeId, before) : [await named(db, storeId, lsId, before)];
  const shows: string[] = [];
  let [events, viewerRows] = [0, 0];
  for (const [showsDone, id] of ids.entries()) {
    let isChanged = await markPruned(db, storeId, id);
    for await (const { table, removed } of deleteEvents(db, storeId, id, batchRows)) {
      isChanged ||= removed > 0;
      if (table === "ShowEvent") events += removed;
      else viewerRows += removed;
      onProgress({ showsDone, showsTotal: ids.length, rowsRemoved: events + viewerRows });
    }
    if (isChanged) shows.push(id);
  }
  return { shows, events, viewerRows };
}

/**
 * From now on the show cannot be rebuilt. Waits for running batches and a running rebuild.
 *
 * @returns whether it was not marked before
 */
async function markPruned(db: RootDatabase, storeId: string, id: string): Promise<boolean> {
  return withShowLock(db, { storeId, lsId: id, timeoutMs: lockTimeoutMs }, async (transaction) => {
    const [where, now] = [{ storeId, id, status: "ARCHIVED" }, new Date()];
    const { count } = await transaction.liveStream.updateMany({
      where: { ...where, prunedAt: null },
      data: { prunedAt: now, pruningAt: null },
    });
    // An earlier refund may be one of the removed ones.
    await transaction.liveStream.updateMany({ where, data: { prunedBefore: now } });
    return count === 1;
  });
}

async function listPrunable(db: Database, storeId: string, before: Date): Promise<string[]> {
  const shows = await db.$queryRaw<(Parameters<typeof timesOf>[0] & { id: string })[]>`
    SELECT id, status, "startedAt", "durationSeconds" FROM "LiveStream" AS s
    WHERE "storeId" = ${storeId} AND status = 'ARCHIVED' AND ("prunedAt" IS NULL OR ${hasEventRows(storeId)}) ORDER BY id`;
  return shows.filter((show) => hasEnded(show, before)).map(({ id }) => id);
}

async function named(db: Database, storeId: string, lsId: string, before: Date): Promise<string> {
  const show = await findLiveStream(db, storeId, lsId);
  if (show.status !== "ARCHIVED") {
    throw new AppError("VALIDATION_FAILED", `Only archived live streams can be pruned; ${lsId} is ${show.status}.`);
  }
  if (!hasEnded(show, before)) {
    throw new AppError("VALIDATION_FAILED", `${lsId} did not end before ${before.toISOString()}.`);
  }
  return show.id;
}

function hasEnded(show: Parameters<typeof timesOf>[0], before: Date): boolean {
  const { endedAt } = timesOf(show);
  return endedAt !== null && endedAt < before;
}
