import type { RootDatabase } from "../../database/client.js";
import { LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { retrying } from "../../database/transaction.js";
import { showLocked, trySharedLock, withShowLock } from "../../database/showLock.js";
import { Prisma } from "../../generated/prisma/client.js";

interface PruneBeforeOptions {
  readonly before: Date;
  readonly pageRows?: number;
  /** Ends it early, between pages; the next run continues. */
  readonly signal?: AbortSignal | undefined;
  readonly onPage?: (removed: number) => void;
}

/** Small enough to take some tens of milliseconds. */
const pageRowsByDefault = 5_000;
const claimTimeoutMs = 60_000;
/** A process that removed nothing for this long has ended. */
const abandonedAfter = "2 minutes";

/** Ended and archived shows with events before a time. */
export async function showsWithEventsBefore(db: RootDatabase, storeId: string, before: Date): Promise<string[]> {
  const shows = await db.$queryRaw<{ id: string }[]>`
    SELECT s.id FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.status IN ('ENDED', 'ARCHIVED')
      AND s."prunedAt" IS NULL AND (s."pruningAt" IS NOT NULL OR ${hasEventsBefore(storeId, before)}) ORDER BY s.id`;
  return shows.map(({ id }) => id);
}

/**
 * Removes the events of an ended or archived show that occurred before a time, in one process at a time. Totals and rows about viewers
 * stay; the show can no longer be rebuilt. It takes no more events of that time, because duplicates could not be recognized.
 *
 * @returns how many events were removed; undefined if another process is doing it, or the show is neither ended nor archived
 * @throws {AppError} UNAVAILABLE if the show stays locked
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

/** Waits for running batches, which do not know the new cutoff. @returns the cutoff, which never goes back */
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

interface PrunedPage {
  readonly storeId: string;
  readonly lsId: string;
  readonly before: Date;
  /** The id after which the page begins. */
  readonly after: Uint8Array;
  readonly rowsMax: number;
}

interface PrunedRows {
  /** If false, nothing was done. */
  readonly hasLock: boolean;
  readonly removed: number;
  /** The last event of the page; null if no events are left. */
  readonly last: Uint8Array | null;
}

/**
 * Removes the events of a page that occurred before the show's cutoff. Recording continues, because it takes no events from before the
 * cutoff.
 */
function pruneStatement({ storeId, lsId, before, after, rowsMax }: PrunedPage): Prisma.Sql {
  return Prisma.sql`
    WITH show AS MATERIALIZED (
      SELECT number, ${trySharedLock(storeId, lsId)} AS "hasLock" FROM "LiveStream" AS s
      WHERE s."storeId" = ${storeId} AND s.id = ${lsId}),
    page AS MATERIALIZED (
      SELECT e.id, e."occurredAt" FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId}
        AND e.show = (SELECT number FROM show WHERE "hasLock") AND e.id > ${after} ORDER BY e.id LIMIT ${rowsMax}),
    gone AS (
      DELETE FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = (SELECT number FROM show)
        AND (e.id IN (SELECT id FROM page WHERE "occurredAt" < ${before}::timestamptz)) IS TRUE
      RETURNING e.id)
    SELECT "hasLock", (SELECT count(*) FROM gone)::int AS removed, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last
    FROM show`;
}

/** Whether a show `s` counted something between its cutoff, if it has one, and a time. */
function hasEventsBefore(storeId: string, before: Date): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "LiveStreamMinute" AS m WHERE m."storeId" = ${storeId} AND m."liveStreamId" = s.id
      AND m.minute < ${before}::timestamptz
      AND (s."prunedBefore" IS NULL
        OR (s."prunedBefore" < ${before}::timestamptz AND m.minute > s."prunedBefore" - interval '1 minute')))`;
}
