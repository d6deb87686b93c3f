import { Prisma } from "../../generated/prisma/client.js";
import { changes } from "../events/storage/codes.js";
import { salesBySource } from "../events/storage/groups.sql.js";
import { productParts } from "../events/storage/events.totals.sql.js";
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

const [type, value] = [Prisma.sql`type`, Prisma.sql`value`];
/** Minutes since 1970, as ShowBase has them. */
const epochMinute = Prisma.sql`floor(date_part('epoch', "occurredAt") / 60)::int`;

/**
 * Removes the events of a page that occurred before the show's cutoff, and keeps what they had added for a rebuild.
 * Recording goes on meanwhile, since it takes no events from before the cutoff.
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
      RETURNING e.show, e.id, e.type, e.channel, e."occurredAt", e."productId", e."viewerId", e.source, e.value, e.lines, e."acceptedAt",
        e.position),
    base AS (
      INSERT INTO "ShowBase" AS t ("storeId", show, channel, minute, "productId", source, sales, orders, carts, seconds, refunds,
        quantity, "ordersWithoutViewer")
      SELECT l."storeId", l.number, a.channel, a.minute, a."productId", a.source, a.sales, a.orders, a.carts, a.seconds, a.refunds, a.quantity,
        a.nobodys
      FROM "LiveStream" AS l, (
        SELECT coalesce(channel, 0) AS channel, coalesce(minute, -1) AS minute, '' AS "productId", '' AS source,
          sum(${changes.sales(type, value)}) AS sales, sum(${changes.orders(type)}) AS orders,
          count(*) FILTER (WHERE type = 2) AS carts, coalesce(sum(value) FILTER (WHERE type = 1), 0) AS seconds,
          sum(${changes.refunds(type, value)}) AS refunds, 0 AS quantity,
          coalesce(sum(${changes.orders(type)}) FILTER (WHERE "viewerId" = ''), 0) AS nobodys
        FROM (SELECT type, channel, ${epochMinute} AS minute, value, "viewerId" FROM gone) AS g
        GROUP BY GROUPING SETS ((channel), (minute))
        UNION ALL SELECT 0, -1, '', name, sales, orders, 0, 0, 0, 0, 0
        FROM (${salesBySource({ storeId, lsId }, Prisma.sql`gone`, Prisma.sql`true`)}) AS s
        UNION ALL SELECT 0, (date_part('epoch', "startsAt") / 60)::int, "productId", '', sum(sales), sum(orders), sum(carts), 0,
          sum(refunds), sum(quantity), 0
        FROM (${productParts(Prisma.sql`gone`, Prisma.sql`true`)}) AS p GROUP BY "productId", "startsAt") AS a
      WHERE l."storeId" = ${storeId} AND l.id = ${lsId}
      ORDER BY a.channel, a.minute, a."productId", a.source
      ON CONFLICT ("storeId", show, channel, minute, "productId", source) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, carts = t.carts + EXCLUDED.carts, seconds = t.seconds + EXCLUDED.seconds,
        refunds = t.refunds + EXCLUDED.refunds, quantity = t.quantity + EXCLUDED.quantity,
        "ordersWithoutViewer" = t."ordersWithoutViewer" + EXCLUDED."ordersWithoutViewer")
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
