import type { Database, RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { findLiveStream, timesOf } from "../shows/liveStream.js";
import { hasRows, prunedTables, type PruneCursor, pruneBatch } from "./prune.sql.js";
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
  readonly batchRows?: number;
  readonly onProgress?: (progress: PruneProgress) => void;
}

/** Holds locks, and vacuum back, only for a moment. */
const batchRowsByDefault = 10_000;
const batchTimeoutMs = 60_000;

/**
 * Removes the events of archived shows, and the rows that identify their viewers; all totals stay. Archived shows take
 * nothing but refunds of later, so no removed event can count again. Another run completes an interrupted one.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or VALIDATION_FAILED where the named show is not archived or ended later
 */
export async function pruneEvents(db: RootDatabase, storeId: string, options: PruneOptions): Promise<PruneResult> {
  const { before, lsId, batchRows = batchRowsByDefault, onProgress = () => undefined } = options;
  const ids = lsId === undefined ? await listPrunable(db, storeId, before) : [await named(db, storeId, lsId, before)];
  const shows: string[] = [];
  let [events, viewerRows] = [0, 0];
  for (const [showsDone, id] of ids.entries()) {
    let isChanged = await markPruned(db, storeId, id);
    for await (const { table, removed } of pruneShow(db, storeId, id, batchRows)) {
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
 * From now on the show cannot be rebuilt. Waits for batches and a rebuild under way.
 *
 * @returns whether it was not marked before
 */
async function markPruned(db: RootDatabase, storeId: string, id: string): Promise<boolean> {
  return withShowLock(db, { storeId, lsId: id, timeoutMs: batchTimeoutMs }, async (transaction) => {
    const [where, now] = [{ storeId, id, status: "ARCHIVED" }, new Date()];
    const { count } = await transaction.liveStream.updateMany({
      where: { ...where, prunedAt: null },
      data: { prunedAt: now, pruningAt: null },
    });
    // A refund of before may be one of those that are removed.
    await transaction.liveStream.updateMany({ where, data: { prunedBefore: now } });
    return count === 1;
  });
}

/** The show must be marked as pruned. @returns how many */
export async function removeEvents(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  batchRows = batchRowsByDefault,
): Promise<number> {
  let events = 0;
  for await (const { table, removed } of pruneShow(db, storeId, lsId, batchRows)) {
    if (table === "ShowEvent") events += removed;
  }
  return events;
}

async function* pruneShow(db: RootDatabase, storeId: string, lsId: string, rowsMax: number) {
  const { number } = await findLiveStream(db, storeId, lsId);
  for (const table of prunedTables) {
    let after: PruneCursor | undefined;
    do {
      const batch = await withShowLock(db, { storeId, lsId, timeoutMs: batchTimeoutMs }, (transaction) =>
        pruneBatch(transaction, { storeId, number, table, after, rowsMax }),
      );
      after = batch.last;
      yield { table: table.name, removed: batch.removed };
    } while (after !== undefined);
  }
}

async function listPrunable(db: Database, storeId: string, before: Date): Promise<string[]> {
  const shows = await db.$queryRaw<(Parameters<typeof timesOf>[0] & { id: string })[]>`
    SELECT id, status, "startedAt", "durationSeconds" FROM "LiveStream" AS s
    WHERE "storeId" = ${storeId} AND status = 'ARCHIVED' AND ("prunedAt" IS NULL OR ${hasRows(storeId)}) ORDER BY id`;
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
