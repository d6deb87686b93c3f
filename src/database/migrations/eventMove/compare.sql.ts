import { bytes } from "./copy.sql.js";

/**
 * Figures of show $2, which has the number $3, of store $1 by the old tables and by the new ones, in one snapshot. Events that the queue still has, and their
 * viewers, are left out on both sides.
 */
export const compareShow = `
  WITH queued AS MATERIALIZED (
    SELECT e."id", e."viewerId" FROM "EventMoveQueue" AS q
    JOIN LATERAL (SELECT * FROM "ShopperEvent" AS o WHERE o."storeId" = q."storeId" AND o."liveStreamId" = q."liveStreamId"
      AND o."id" = q."id" OFFSET 0) AS e ON true
    WHERE q."storeId" = $1 AND q."liveStreamId" = $2),
  "newHours" AS (
    SELECT "viewerId", "minutes" FROM "ShowViewer" WHERE "storeId" = $1 AND "show" = $3::integer
    UNION ALL SELECT "viewerId", "minutes" FROM "ShowPresence" WHERE "storeId" = $1 AND "show" = $3::integer)
  SELECT o.*, n.* FROM
    (SELECT count(*) AS "oldEvents", trim_scale(coalesce(sum(e."amount") FILTER (WHERE e."type" = 'ORDER'), 0))::text AS "oldAmount",
       trim_scale(coalesce(sum(e."seconds") FILTER (WHERE e."type" = 'VIEW'), 0))::text AS "oldSeconds",
       (SELECT count(*) FROM "LiveStreamViewer" AS v WHERE v."storeId" = $1 AND v."liveStreamId" = $2
          AND v."channel" <> 'ANY' AND ${isSettled(`v."viewerId"`)}) AS "oldViewers",
       (SELECT count(*) FROM "LiveStreamCartViewer" AS v WHERE v."storeId" = $1 AND v."liveStreamId" = $2
          AND ${isSettled(`v."viewerId"`)}) AS "oldCarts",
       (SELECT count(*) FROM "LiveStreamPresence" AS v WHERE v."storeId" = $1 AND v."liveStreamId" = $2
          AND ${isSettled(`v."viewerId"`)}) AS "oldMinutes"
     FROM "ShopperEvent" AS e WHERE e."storeId" = $1 AND e."liveStreamId" = $2 AND e."id" NOT IN (SELECT "id" FROM queued)) AS o,
    (SELECT count(*) AS "newEvents", trim_scale(coalesce(sum(e."value") FILTER (WHERE e."type" = 3), 0))::text AS "newAmount",
       trim_scale(coalesce(sum(e."value") FILTER (WHERE e."type" = 1), 0))::text AS "newSeconds",
       (SELECT count(*) FILTER (WHERE "seen" & 1 > 0) + count(*) FILTER (WHERE "seen" & 2 > 0)
        FROM "ShowViewer" AS v WHERE v."storeId" = $1 AND v."show" = $3::integer AND ${isSettled(`v."viewerId"`, bytes)}) AS "newViewers",
       (SELECT count(*) FILTER (WHERE "seen" & 4 > 0) + count(*) FILTER (WHERE "seen" & 8 > 0)
        FROM "ShowViewer" AS v WHERE v."storeId" = $1 AND v."show" = $3::integer AND ${isSettled(`v."viewerId"`, bytes)}) AS "newCarts",
       (SELECT coalesce(sum(bit_count(v."minutes"::bit(64))), 0) FROM "newHours" AS v
        WHERE ${isSettled(`v."viewerId"`, bytes)}) AS "newMinutes"
     FROM "ShowEvent" AS e WHERE e."storeId" = $1 AND e."show" = $3::integer
       AND e."id" NOT IN (SELECT ${bytes(`"id"`)} FROM queued)) AS n`;

/** SQL: whether the queue has no event of a viewer, named by `form`. */
function isSettled(viewerId: string, form = (id: string) => id): string {
  return `${viewerId} NOT IN (SELECT ${form(`"viewerId"`)} FROM queued WHERE "viewerId" IS NOT NULL)`;
}
