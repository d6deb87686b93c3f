import { Prisma } from "../../../generated/prisma/client.js";
import { quarterOf } from "./codes.js";
import type { ShowRow } from "./showRow.js";

/** The lines of an event `e`, as `x`; none where it has none. */
export const linesOf = Prisma.sql`
  jsonb_to_recordset((CASE WHEN e.lines = '' THEN '[]' ELSE e.lines END)::jsonb) AS x("productId" text, quantity bigint, amount numeric)`;

/** Sums over productParts, for a SELECT. */
export const productSums = Prisma.sql`
  sum(carts) AS carts, sum(orders) AS orders, sum(quantity) AS quantity, sum(sales) AS sales, sum(refunds) AS refunds`;

/**
 * What events add to products: one row for each event and product, with the quarter of an hour in which it occurred, carts,
 * orders, quantity, sales and refunds. An ORDER or a REFUND counts by its lines, or, without any, as one of its productId.
 *
 * @param source a name or table of events
 * @param where which of them, as `e`
 */
export function productParts(source: Prisma.Sql, where: Prisma.Sql): Prisma.Sql {
  const startsAt = quarterOf(Prisma.sql`e."occurredAt"`);
  const figures = (quantity: string, amount: string) => Prisma.sql`
    CASE WHEN e.type = 2 THEN 1 ELSE 0 END AS carts, CASE WHEN e.type = 3 THEN 1 ELSE 0 END AS orders,
    CASE WHEN e.type = 3 THEN ${Prisma.raw(quantity)} ELSE 0 END AS quantity,
    CASE WHEN e.type = 3 THEN ${Prisma.raw(amount)} ELSE 0 END AS sales,
    CASE WHEN e.type = 4 THEN ${Prisma.raw(amount)} ELSE 0 END AS refunds`;
  return Prisma.sql`
    SELECT e."productId", ${startsAt} AS "startsAt", ${figures("1::bigint", "e.value")}
    FROM ${source} AS e WHERE ${where} AND e.type > 1 AND e.lines = '' AND e."productId" <> ''
    UNION ALL SELECT x."productId", ${startsAt}, ${figures("sum(x.quantity)", "sum(x.amount)")}
    FROM ${source} AS e, ${linesOf} WHERE ${where} AND e.type > 2 AND e.lines <> ''
    GROUP BY e."acceptedAt", e.position, e.id, e.type, e."occurredAt", x."productId"`;
}

/** Adds what a batch has newly stored to a slot of each product. @param hasOthers whether some may be beyond the limit */
export function addToProducts(show: ShowRow, slot: number, hasOthers: boolean): Prisma.Sql {
  return Prisma.sql`
    product AS (
      INSERT INTO "ShowProductSlot" AS t ("storeId", show, "productId", "startsAt", slot, carts, orders, quantity, sales, refunds)
      SELECT l."storeId", l.number, a."productId", a."startsAt", ${slot}::int, a.carts, a.orders, a.quantity, a.sales, a.refunds
      FROM ${show.source}, (
        SELECT "productId", "startsAt", ${productSums}
        FROM (${productParts(Prisma.sql`fresh`, Prisma.sql`true`)}) AS parts GROUP BY "productId", "startsAt") AS a
      WHERE ${show.isShow} ${hasOthers ? isKept(show) : Prisma.empty} ORDER BY a."productId", a."startsAt"
      ON CONFLICT ("storeId", show, "productId", "startsAt", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts,
        orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales,
        refunds = t.refunds + EXCLUDED.refunds
      RETURNING slot)`;
}

function isKept({ storeId, lsId }: ShowRow): Prisma.Sql {
  return Prisma.sql`
    AND (SELECT true FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
      AND k."productId" = a."productId" AND k.slot = -1)`;
}
