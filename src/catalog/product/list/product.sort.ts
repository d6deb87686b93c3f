import type { Database } from "../../../database/client.js";
import { directionSql, isBeyond, isIdBeyond, type SortDirection, type SortKey } from "../../../database/sql/keyset.js";
import { Prisma } from "../../../generated/prisma/client.js";
import {
  type SearchQuery,
  matching,
  type PageLimits,
  productColumnsOf,
  readPage,
} from "../search/product.searchIndex.js";
import type { StoredProduct } from "../product.sql.js";

export type ProductOrder = "ID" | "TITLE" | "PRICE" | "UPDATED_AT";

/** A product with the value that orders it, as in its cursor: empty without a price, undefined in the order by id. */
export interface OrderedProduct extends StoredProduct {
  readonly sortValue?: string;
}

const double = /^(\d{1,25}(\.\d{1,25})?(e[+-]?\d{1,3})?)?$/u;
const microseconds = /^-?\d{1,18}$/u;

/**
 * Titles are compared by their first 200 characters, ignoring the case of A to Z, so that every database sorts alike; prices as the
 * numbers that callers see.
 */
const sorts: Readonly<Record<ProductOrder, SortKey>> = {
  ID: { value: Prisma.sql`id`, given: (value) => Prisma.sql`${value}::text`, isValue: () => true },
  TITLE: {
    value: Prisma.sql`left(lower(title COLLATE "C"), 200)`,
    given: (value) => Prisma.sql`${value}::text`,
    isValue: () => true,
  },
  PRICE: {
    value: Prisma.sql`price::float8`,
    given: (value) => Prisma.sql`${value}::float8`,
    isValue: (value) => double.test(value) && Number.isFinite(Number(value)),
  },
  UPDATED_AT: {
    value: Prisma.sql`(extract(epoch FROM "updatedAt") * 1000000)::bigint`,
    given: (value) => Prisma.sql`${value}::bigint`,
    isValue: (value) => microseconds.test(value),
  },
};

export function isProductSortValue(orderBy: ProductOrder): (value: string) => boolean {
  return sorts[orderBy].isValue;
}

interface OrderedPage extends PageLimits {
  readonly orderBy: ProductOrder;
  readonly direction: SortDirection;
}

/**
 * Ties are ordered by id, in the same direction; products without a price come last in either. Every order except by id reads the sort
 * values of all matching products.
 *
 * @param query all products if undefined
 */
export function productsOrdered<Row>(db: Database, page: OrderedPage, query: SearchQuery | undefined): Promise<Row[]> {
  const { rowsMax, orderBy, direction } = page;
  const { value } = sorts[orderBy];
  const way = directionSql(direction);
  const sortValue = orderBy === "ID" ? Prisma.empty : Prisma.sql`, coalesce(${value}::text, '') AS "sortValue"`;
  const nullsLast = orderBy === "PRICE" ? Prisma.sql`(price IS NULL), ` : Prisma.empty;
  const keys = orderBy === "ID" ? Prisma.sql`id ${way}` : Prisma.sql`${nullsLast}${value} ${way}, id ${way}`;
  return readPage(
    db,
    page,
    Prisma.sql`
    SELECT ${productColumnsOf(page)} ${sortValue} FROM "Product"
    WHERE ${matching(page, query)} ${isAfter(page)}
    ORDER BY ${keys} LIMIT ${rowsMax}`,
  );
}

function isAfter({ after, orderBy, direction }: OrderedPage): Prisma.Sql {
  if (after === undefined) return Prisma.empty;
  const idIsBeyond = isIdBeyond(Prisma.sql`id`, direction, after);
  if (orderBy === "ID") return Prisma.sql`AND ${idIsBeyond}`;
  if (after.value === "" && orderBy === "PRICE") return Prisma.sql`AND price IS NULL AND ${idIsBeyond}`;
  const isFurther = isBeyond(sorts[orderBy], Prisma.sql`id`, direction, after);
  return orderBy === "PRICE" ? Prisma.sql`AND (price IS NULL OR ${isFurther})` : Prisma.sql`AND ${isFurther}`;
}
