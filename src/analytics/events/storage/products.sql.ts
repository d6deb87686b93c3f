import { Prisma } from "../../../generated/prisma/client.js";
import { quarterOf } from "./codes.js";
import { idOfShow, type StoreRow } from "./showRow.js";

/** Lines of an event `e`, as `x`. */
export const linesOf = Prisma.sql`
  jsonb_to_recordset((CASE WHEN e.lines = '' THEN '[]' ELSE e.lines END)::jsonb) AS x("productId" text, quantity bigint, amount numeric)`;

/** Sums over productParts, for a SELECT. */
export const productSums = Prisma.sql`
  sum(carts) AS carts, sum(orders) AS orders, sum(quantity) AS quantity, sum(sales) AS sales, sum(refunds) AS refunds`;

/**
 * One row for each event and product, with the show's number, the quarter of an hour in which it occurred, carts,
 * orders, quantity, sales and refunds. An ORDER or a REFUND counts by its lines, or, without any, as one of its
 * productId.
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
    SELECT e.show, e."productId", ${startsAt} AS "startsAt", ${figures("1::bigint", "e.value")}
    FROM ${source} AS e WHERE ${where} AND e.type > 1 AND e.lines = '' AND e."productId" <> ''
    UNION ALL SELECT e.show, x."productId", ${startsAt}, ${figures("sum(x.quantity)", "sum(x.amount)")}
    FROM ${source} AS e, ${linesOf} WHERE ${where} AND e.type > 2 AND e.lines <> ''
    GROUP BY e.show, e."acceptedAt", e.position, e.id, e.type, e."occurredAt", x."productId"`;
}

/** Adds newly stored events to a slot of each product. @param hasOthers whether some may be beyond the limit */
export function addToProducts(store: StoreRow, slot: number, hasOthers: boolean): Prisma.Sql {
  return Prisma.sql`
    product AS (
      INSERT INTO "ShowProductSlot" AS t ("storeId", show, "productId", "startsAt", slot, carts, orders, quantity, sales, refunds)
      SELECT o.id, a.show, a."productId", a."startsAt", ${slot}::int, a.carts, a.orders, a.quantity, a.sales, a.refunds
      FROM ${store.source}, (
        SELECT show, "productId", "startsAt", ${productSums}
        FROM (${productParts(Prisma.sql`fresh`, Prisma.sql`true`)}) AS parts GROUP BY show, "productId", "startsAt") AS a
      WHERE ${store.isStore} ${hasOthers ? isKept(store) : Prisma.empty} ORDER BY a.show, a."productId", a."startsAt"
      ON CONFLICT ("storeId", show, "productId", "startsAt", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts,
        orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales,
        refunds = t.refunds + EXCLUDED.refunds
      RETURNING show)`;
}

function isKept({ storeId }: StoreRow): Prisma.Sql {
  return Prisma.sql`
    AND (SELECT true FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${idOfShow("a")}
      AND k."productId" = a."productId" AND k.slot = -1)`;
}
