import { Prisma } from "../../generated/prisma/client.js";
import type { ShowRow } from "../events/storage/showRow.js";
import { productSums } from "../events/storage/events.totals.sql.js";
import { daySeconds, epoch, quarterSeconds } from "./spans.sql.js";

interface ProductSpanSources {
  readonly show: ShowRow;
  /** A name or subquery with productId, startsAt (a quarter of an hour), and the figures to add. */
  readonly added: Prisma.Sql;
}

/** Quarters of an hour and days of UTC. Rows are written in the order of their keys. */
export function addToProductSpans({ show, added }: ProductSpanSources): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "ShowProductSpan" AS t ("storeId", show, seconds, "startsAt", "productId", carts, orders, quantity, sales, refunds)
    SELECT l."storeId", l.number, s.seconds, s.starts, s."productId", s.carts, s.orders, s.quantity, s.sales, s.refunds
    FROM ${show.source}, (
      SELECT seconds, date_bin(seconds * interval '1 second', a."startsAt", ${epoch}) AS starts, "productId", ${productSums}
      FROM ${added} AS a, unnest(ARRAY[${quarterSeconds}::int, ${daySeconds}::int]) AS seconds
      GROUP BY seconds, starts, "productId") AS s
    WHERE ${show.isShow} ORDER BY s.seconds, s.starts, s."productId"
    ON CONFLICT ("storeId", seconds, "startsAt", show, "productId") DO UPDATE SET carts = t.carts + EXCLUDED.carts,
      orders = t.orders + EXCLUDED.orders, quantity = t.quantity + EXCLUDED.quantity, sales = t.sales + EXCLUDED.sales,
      refunds = t.refunds + EXCLUDED.refunds`;
}
