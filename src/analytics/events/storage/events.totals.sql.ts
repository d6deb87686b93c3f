import { Prisma } from "../../../generated/prisma/client.js";
import { channelName, hourOf, minuteOf, momentOf } from "./codes.js";
import { addToProducts } from "./products.sql.js";
import { idOfShow, type StoreRow } from "./showRow.js";

const name = channelName(Prisma.sql`channel`);
const [occurredAt, hour, minute] = [Prisma.sql`"occurredAt"`, Prisma.sql`hour`, Prisma.sql`minute`];

/** Adds newly stored events to a slot of each total. */
export function totalsOf(store: StoreRow, slot: number, hasOthers: boolean): Prisma.Sql {
  const { source, isStore } = store;
  const lsId = idOfShow("a");
  return Prisma.sql`
    total AS (
      INSERT INTO "LiveStreamTotal" AS t ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds",
        refunds)
      SELECT o.id, ${lsId}, a.channel, ${slot}::int, a.sales, a.orders, a.viewers, a."cartViewers", a.seconds, a.refunds
      FROM ${source}, (
        SELECT show, channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers, sum("cartViewers") AS "cartViewers",
          sum(seconds) AS seconds, sum(refunds) AS refunds
        FROM (
          SELECT show, ${name} AS channel, value AS sales, 1 AS orders, 0 AS viewers, 0 AS "cartViewers", 0 AS seconds, 0 AS refunds
          FROM fresh WHERE type = 3
          UNION ALL SELECT show, ${name}, 0, 0, 0, 0, 0, value FROM fresh WHERE type = 4
          UNION ALL SELECT show, ${name}, 0, 0, 0, 0, sum(value), 0 FROM fresh WHERE type = 1 GROUP BY 1, 2 HAVING sum(value) <> 0
          UNION ALL SELECT show, c.channel, 0, 0, count(*) FILTER (WHERE "newSeen" & c.bit <> 0),
            count(*) FILTER (WHERE "newSeen" & c."cartBit" <> 0), 0, 0
          FROM viewer, (VALUES ('LIVE', 1, 4), ('REPLAY', 2, 8)) AS c(channel, bit, "cartBit")
          WHERE "newSeen" & (c.bit | c."cartBit") <> 0 GROUP BY show, c.channel
          UNION ALL SELECT show, 'ANY', 0, 0, count(*), 0, 0, 0 FROM viewer
          WHERE "newSeen" & 3 <> 0 AND seen & ~"newSeen" & 3 = 0 GROUP BY show) AS parts
        GROUP BY show, channel) AS a
      WHERE ${isStore} ORDER BY a.show, a.channel
      ON CONFLICT ("storeId", "liveStreamId", channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, viewers = t.viewers + EXCLUDED.viewers,
        "cartViewers" = t."cartViewers" + EXCLUDED."cartViewers", "viewSeconds" = t."viewSeconds" + EXCLUDED."viewSeconds",
        refunds = t.refunds + EXCLUDED.refunds),
    device AS (
      INSERT INTO "LiveStreamDevice" AS t ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT o.id, ${lsId}, a.channel, a.device, ${slot}::int, a.viewers
      FROM ${source}, (
        SELECT show, c.channel, CASE WHEN c.bit = 1 THEN "liveDevice" ELSE "replayDevice" END AS device, count(*) AS viewers
        FROM viewer, (VALUES ('LIVE', 1), ('REPLAY', 2)) AS c(channel, bit) WHERE "newSeen" & c.bit <> 0 GROUP BY 1, 2, 3) AS a
      WHERE ${isStore} ORDER BY a.show, a.channel, a.device
      ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers
      RETURNING "liveStreamId"),
    minute AS (
      INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT o.id, ${lsId}, a.minute, ${slot}::int, a.viewers, a.carts, a.orders, a.sales
      FROM ${source}, (
        SELECT show, ${momentOf(hour, minute)} AS minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders,
          sum(sales) AS sales
        FROM (
          SELECT show, hour, minute, viewers, 0 AS carts, 0 AS orders, 0::numeric AS sales FROM present
          UNION ALL SELECT show, hour, minute, 0, 1, 0, 0 FROM heard WHERE type = 2
          UNION ALL SELECT show, ${hourOf(occurredAt)}, ${minuteOf(occurredAt)}, 0, 0, 1, value FROM fresh WHERE type = 3) AS parts
        GROUP BY show, hour, minute) AS a
      WHERE ${isStore} ORDER BY a.show, a.minute
      ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING "liveStreamId"),
    ${addToProducts(store, slot, hasOthers)}`;
}
