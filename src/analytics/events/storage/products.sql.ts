import { Prisma } from "../../../generated/prisma/client.js";
import type { ShowRow } from "./showRow.js";

/** The lines of an event `e`, as `x`; none where it has none. */
export const linesOf = Prisma.sql`
  jsonb_to_recordset((CASE WHEN e.lines = '' THEN '[]' ELSE e.lines END)::jsonb) AS x("productId" text, quantity bigint, amount numeric)`;

/**
 * What events add to products: one row for each event and product, with carts, orders, quantity and sales. An ORDER counts by
 * its lines, or, without any, as one of its productId.
 *
 * @param source a name or table of events
 * @param where which of them, as `e`
 */
export function productParts(source: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT e."productId", 1 AS carts, 0 AS orders, 0::bigint AS quantity, 0::numeric AS sales
    FROM ${source} AS e WHERE ${where} AND e.type = 2 AND e."productId" <> ''
    UNION ALL SELECT e."productId", 0, 1, 1, e.value
    FROM ${source} AS e WHERE ${where} AND e.type = 3 AND e.lines = '' AND e."productId" <> ''
    UNION ALL SELECT x."productId", 0, 1, sum(x.quantity), sum(x.amount)
    FROM ${source} AS e, ${linesOf} WHERE ${where} AND e.type = 3 AND e.lines <> ''
    GROUP BY e."acceptedAt", e.position, e.id, x."productId"`;
}

/** Adds what a batch has newly stored to a slot of each product. @param hasOthers whether some may be beyond the limit */
export function addToProducts(show: ShowRow, slot: number, hasOthers: boolean): Prisma.Sql {
  return Prisma.sql`
    product AS (
      INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", slot, carts, orders, quantity, sales)
      SELECT l."storeId", l.id, a."productId", ${slot}::int, a.carts, a.orders, a.quantity, a.sales
      FROM ${show.source}, (
        SELECT "productId", sum(carts) AS carts, sum(orders) AS orders, sum(quantity) AS quantity, sum(sales) AS sales
        FROM (${productParts(Prisma.sql`fresh`, Prisma.sql`true`)}) AS parts GROUP BY "productId") AS a
      WHERE ${show.isShow} ${hasOthers ? isKept(show) : Prisma.empty} ORDER BY a."productId"
      ON CONFLICT ("storeId", "liveStreamId", "productId", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts,
        orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales
      RETURNING slot)`;
}

function isKept({ storeId, lsId }: ShowRow): Prisma.Sql {
  return Prisma.sql`
    AND (SELECT true FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
      AND k."productId" = a."productId" AND k.slot = -1)`;
}
