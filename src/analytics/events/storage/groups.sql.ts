import { Prisma } from "../../../generated/prisma/client.js";
import { changes, groupBits } from "./codes.js";
import { unknownName } from "./keptNames.sql.js";
import { idOfShow, type StoreRow } from "./showRow.js";
import { isSameShow, keptName } from "./viewers.sql.js";

const ordersOf = (row: string) => changes.orders(Prisma.raw(`${row}.type`));
const salesOf = (row: string) => changes.sales(Prisma.raw(`${row}.type`), Prisma.raw(`${row}.value`));

/**
 * Counts viewers by device and source, and orders by the source of their viewer, or their own where they name none. Of the
 * condition of their type the planner would expect one row, and join each order with each viewer: coalesce() hides it.
 */
export function addToGroups(store: StoreRow, slot: Prisma.Sql, hasOthers: boolean): Prisma.Sql {
  const own = Prisma.sql`coalesce(nullif(m.source, ''), ${unknownName})`;
  return Prisma.sql`
    grouped AS (
      INSERT INTO "LiveStreamGroup" AS t ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
      SELECT o.id, ${idOfShow("a")}, a.kind, a.name, ${slot}::int, a.viewers, a.orders, a.sales
      FROM ${store.source}, (
        SELECT show, kind, name, sum(viewers) AS viewers, sum(orders) AS orders, sum(sales) AS sales FROM (
          SELECT show, c.kind, CASE WHEN c.bits = 1 THEN "liveDevice" WHEN c.bits = 2 THEN "replayDevice" ELSE source END AS name,
            count(*) AS viewers, 0 AS orders, 0 AS sales
          FROM viewer, ${groupBits} WHERE "newSeen" & c.bits <> 0 AND seen & ~"newSeen" & c.bits = 0 GROUP BY 1, 2, 3
          UNION ALL SELECT f.show, 'SOURCE', coalesce(v.source, m."knownSource"), 0, sum(${ordersOf("f")}), sum(${salesOf("f")}) FROM fresh AS f
          JOIN met AS m ON m."viewerId" = f."viewerId" AND ${isSameShow("m", "f")}
          LEFT JOIN viewer AS v ON v."viewerId" = f."viewerId" AND ${isSameShow("v", "f")}
          WHERE coalesce(${changes.isSold(Prisma.sql`f.type`)}, false) GROUP BY 1, 2, 3
          UNION ALL SELECT m.show, 'SOURCE', ${hasOthers ? keptName(store, "SOURCE", own) : own}, 0, ${ordersOf("m")}, ${salesOf("m")} FROM fresh AS m
          WHERE ${changes.isSold(Prisma.sql`m.type`)} AND m."viewerId" = '') AS parts
        GROUP BY show, kind, name) AS a
      WHERE ${store.isStore} ORDER BY a.show, a.kind, a.name
      ON CONFLICT ("storeId", "liveStreamId", kind, name, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING "liveStreamId")`;
}
