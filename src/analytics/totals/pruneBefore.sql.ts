import { Prisma } from "../../generated/prisma/client.js";
import { trySharedLock } from "../shows/showLock.js";

interface PrunedPage {
  readonly storeId: string;
  readonly lsId: string;
  readonly before: Date;
  /** The id after which the page begins. */
  readonly after: Uint8Array;
  readonly rowsMax: number;
}

export interface PrunedRows {
  /** Otherwise nothing was done. */
  readonly hasLock: boolean;
  readonly removed: number;
  /** The last event of the page, null where no events are left. */
  readonly last: Uint8Array | null;
}

/**
 * Removes the events of a page that occurred before the show's cutoff. Recording goes on meanwhile, since it takes no events
 * from before the cutoff.
 */
export function pruneStatement({ storeId, lsId, before, after, rowsMax }: PrunedPage): Prisma.Sql {
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

/** Something counted lies between the show's cutoff, if it has any, and a time. Of a show `s`. */
export function hasEventsBefore(storeId: string, before: Date): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "LiveStreamMinute" AS m WHERE m."storeId" = ${storeId} AND m."liveStreamId" = s.id
      AND m.minute < ${before}::timestamptz
      AND (s."prunedBefore" IS NULL
        OR (s."prunedBefore" < ${before}::timestamptz AND m.minute > s."prunedBefore" - interval '1 minute')))`;
}
