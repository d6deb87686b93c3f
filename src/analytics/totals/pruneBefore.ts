import type { RootDatabase } from "../../database/client.js";
import { LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { retrying } from "../../database/transaction.js";
import { showLocked, withShowLock } from "../shows/showLock.js";
import { hasEventsBefore, type PrunedRows, pruneStatement } from "./pruneBefore.sql.js";

interface PruneBeforeOptions {
  readonly before: Date;
  readonly pageRows?: number;
  /** Ends early, between pages; the next run goes on. */
  readonly signal?: AbortSignal | undefined;
  readonly onPage?: (removed: number) => void;
}

/** Takes some tens of milliseconds. */
const pageRowsByDefault = 5_000;
const claimTimeoutMs = 60_000;
/** A process that has removed nothing for so long has ended. */
const abandonedAfter = "2 minutes";

/** Ended and archived shows with events before a time. */
export async function showsWithEventsBefore(db: RootDatabase, storeId: string, before: Date): Promise<string[]> {
  const shows = await db.$queryRaw<{ id: string }[]>`
    SELECT s.id FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.status IN ('ENDED', 'ARCHIVED')
      AND s."prunedAt" IS NULL AND (s."pruningAt" IS NOT NULL OR ${hasEventsBefore(storeId, before)}) ORDER BY s.id`;
  return shows.map(({ id }) => id);
}

/**
 * Removes the events of an ended or archived show that occurred before a time, by one process at a time. Totals stay, and
 * rows about viewers; the show can no longer be rebuilt. It takes no events from before any more: they could not be
 * recognized as duplicates.
 *
 * @returns how many events were removed; undefined where another process is at it, or the show is neither
 * @throws {AppError} UNAVAILABLE where the show stays locked
 */
export async function pruneBefore(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  { before, pageRows = pageRowsByDefault, signal, onPage = () => undefined }: PruneBeforeOptions,
): Promise<number | undefined> {
  const cutoff = await claim(db, storeId, lsId, before);
  if (cutoff === undefined) return undefined;
  let removed = 0;
  let after: Uint8Array | null = new Uint8Array();
  while (after !== null) {
    if (signal?.aborted === true) return removed;
    const page = { storeId, lsId, before: cutoff, after, rowsMax: pageRows };
    const rows = await prunePage(db, page);
    removed += rows.removed;
    onPage(rows.removed);
    after = rows.last;
    await db.liveStream.updateMany({
      where: { storeId, id: lsId },
      data: { pruningAt: after === null ? null : new Date() },
    });
  }
  return removed;
}

/** Waits for the batches under way, which do not know the new cutoff. @returns the cutoff, which never goes back */
async function claim(db: RootDatabase, storeId: string, lsId: string, before: Date): Promise<Date | undefined> {
  return withShowLock(db, { storeId, lsId, timeoutMs: claimTimeoutMs }, async (transaction) => {
    const [claimed] = await transaction.$queryRaw<{ prunedBefore: Date }[]>`
      UPDATE "LiveStream" SET "prunedBefore" = greatest("prunedBefore", ${before}::timestamptz), "pruningAt" = ${new Date()}
      WHERE "storeId" = ${storeId} AND id = ${lsId} AND status IN ('ENDED', 'ARCHIVED') AND "prunedAt" IS NULL
        AND ("pruningAt" IS NULL OR "pruningAt" < ${new Date()}::timestamptz - ${abandonedAfter}::interval)
      RETURNING "prunedBefore"`;
    return claimed?.prunedBefore;
  });
}

async function prunePage(db: RootDatabase, page: Parameters<typeof pruneStatement>[0]): Promise<PrunedRows> {
  const attempt = async (): Promise<PrunedRows> => {
    const [rows] = await retrying(() => db.$queryRaw<PrunedRows[]>(pruneStatement(page)));
    if (rows?.hasLock === false) throw new LockedError();
    return rows ?? { hasLock: true, removed: 0, last: null }; // the show was deleted
  };
  return whenUnlocked(`prune ${page.storeId} ${page.lsId}`, attempt, { waitMs: claimTimeoutMs, refusal: showLocked });
}
