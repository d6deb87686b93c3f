import { Prisma } from "../../../generated/prisma/client.js";
import { channelName, hourOf, minuteOf, momentOf } from "./codes.js";
import { addToProducts } from "./products.sql.js";
import type { ShowRow } from "./showRow.js";

const name = channelName(Prisma.sql`channel`);
const [occurredAt, hour, minute] = [Prisma.sql`"occurredAt"`, Prisma.sql`hour`, Prisma.sql`minute`];

/** Adds what a batch has newly stored to a slot of each total. */
export function totalsOf(show: ShowRow, slot: number, hasOthers: boolean): Prisma.Sql {
  const { source, isShow } = show;
  return Prisma.sql`
    total AS (
      INSERT INTO "LiveStreamTotal" AS t ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds",
        refunds)
      SELECT l."storeId", l.id, a.channel, ${slot}::int, a.sales, a.orders, a.viewers, a."cartViewers", a.seconds, a.refunds
      FROM ${source}, (
        SELECT channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers, sum("cartViewers") AS "cartViewers",
          sum(seconds) AS seconds, sum(refunds) AS refunds
        FROM (
          SELECT ${name} AS channel, value AS sales, 1 AS orders, 0 AS viewers, 0 AS "cartViewers", 0 AS seconds, 0 AS refunds
          FROM fresh WHERE type = 3
          UNION ALL SELECT ${name}, 0, 0, 0, 0, 0, value FROM fresh WHERE type = 4
          UNION ALL SELECT ${name}, 0, 0, 0, 0, sum(value), 0 FROM fresh WHERE type = 1 GROUP BY 1 HAVING sum(value) <> 0
          UNION ALL SELECT c.channel, 0, 0, count(*) FILTER (WHERE "newSeen" & c.bit <> 0),
            count(*) FILTER (WHERE "newSeen" & c."cartBit" <> 0), 0, 0
          FROM viewer, (VALUES ('LIVE', 1, 4), ('REPLAY', 2, 8)) AS c(channel, bit, "cartBit")
          WHERE "newSeen" & (c.bit | c."cartBit") <> 0 GROUP BY c.channel
          UNION ALL SELECT 'ANY', 0, 0, count(*), 0, 0, 0 FROM viewer
          WHERE "newSeen" & 3 <> 0 AND seen & ~"newSeen" & 3 = 0 HAVING count(*) > 0) AS parts
        GROUP BY channel) AS a
      WHERE ${isShow} ORDER BY a.channel
      ON CONFLICT ("storeId", "liveStreamId", channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, viewers = t.viewers + EXCLUDED.viewers,
        "cartViewers" = t."cartViewers" + EXCLUDED."cartViewers", "viewSeconds" = t."viewSeconds" + EXCLUDED."viewSeconds",
        refunds = t.refunds + EXCLUDED.refunds),
    device AS (
      INSERT INTO "LiveStreamDevice" AS t ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT l."storeId", l.id, a.channel, a.device, ${slot}::int, a.viewers
      FROM ${source}, (
        SELECT c.channel, CASE WHEN c.bit = 1 THEN "liveDevice" ELSE "replayDevice" END AS device, count(*) AS viewers
        FROM viewer, (VALUES ('LIVE', 1), ('REPLAY', 2)) AS c(channel, bit) WHERE "newSeen" & c.bit <> 0 GROUP BY 1, 2) AS a
      WHERE ${isShow} ORDER BY a.channel, a.device
      ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers
      RETURNING slot),
    minute AS (
      INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT l."storeId", l.id, a.minute, ${slot}::int, a.viewers, a.carts, a.orders, a.sales
      FROM ${source}, (
        SELECT ${momentOf(hour, minute)} AS minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders,
          sum(sales) AS sales
        FROM (
          SELECT hour, minute, viewers, 0 AS carts, 0 AS orders, 0::numeric AS sales FROM present
          UNION ALL SELECT hour, minute, 0, 1, 0, 0 FROM heard WHERE type = 2
          UNION ALL SELECT ${hourOf(occurredAt)}, ${minuteOf(occurredAt)}, 0, 0, 1, value FROM fresh WHERE type = 3) AS parts
        GROUP BY hour, minute) AS a
      WHERE ${isShow} ORDER BY a.minute
      ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING slot),
    ${addToProducts(show, slot, hasOthers)}`;
}
