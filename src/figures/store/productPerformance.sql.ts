import { Prisma } from "../../generated/prisma/client.js";
import { daySeconds, quarterSeconds } from "../../events/record/spans.sql.js";
import type { OpenRange } from "../../lib/dateRange.js";
import { timestampOf } from "../../events/record/eventValues.sql.js";

/** SELECT list for productFigures. Sums of decimals are text, to stay exact. */
export const figureColumns = Prisma.sql`
  "productId", carts::float8 AS carts, orders::float8 AS orders, quantity::float8 AS quantity, sales::text AS sales,
  refunds::text AS refunds, shows::float8 AS shows`;

const figures = ["carts", "orders", "quantity", "sales", "refunds"] as const;
type Figure = (typeof figures)[number];

/**
 * Figures of each product in a range, over all shows: from whole days, from quarters of an hour at both ends, and from what is not folded
 * yet. The range is rounded outwards to quarters of an hour.
 *
 * @param only a condition for rows, which begins with AND
 */
export function productFigures(storeId: string, range: OpenRange, only: Prisma.Sql = Prisma.empty): Prisma.Sql {
  const sums = Prisma.join(figures.map(sumOf));
  return Prisma.sql`
    SELECT "productId", ${sums}, count(*) AS shows FROM (
      SELECT "productId", show, ${sums} FROM (${productParts(storeId, range, figures, only)}) AS parts
      GROUP BY "productId", show) AS "byShow"
    GROUP BY "productId"`;
}

/** A single figure, in half the time of all figures. */
export function productFigure(storeId: string, range: OpenRange, figure: Figure | "shows"): Prisma.Sql {
  if (figure !== "shows") {
    return Prisma.sql`
      SELECT "productId", ${sumOf(figure)} FROM (${productParts(storeId, range, [figure])}) AS parts GROUP BY "productId"`;
  }
  return Prisma.sql`
    SELECT "productId", count(*) AS shows FROM (
      SELECT DISTINCT "productId", show FROM (${productParts(storeId, range, [])}) AS parts) AS "byShow"
    GROUP BY "productId"`;
}

function sumOf(figure: Figure): Prisma.Sql {
  const name = Prisma.raw(figure);
  return Prisma.sql`sum(${name}) AS ${name}`;
}

/** Rows with show, productId and these figures. */
function productParts(
  storeId: string,
  range: OpenRange,
  named: readonly Figure[],
  only: Prisma.Sql = Prisma.empty,
): Prisma.Sql {
  const { from, until } = wholeQuarters(range);
  const firstDay = Math.ceil(from / daySeconds) * daySeconds;
  const endOfDays = Math.max(firstDay, Math.floor(until / daySeconds) * daySeconds);
  const columns = Prisma.raw(["show", '"productId"', ...named].join(", "));
  const within = (start: number, end: number) =>
    Prisma.sql`"storeId" = ${storeId} AND "startsAt" >= ${timestampOf(start)} AND "startsAt" < ${timestampOf(end)} ${only}`;
  const spans = (seconds: number, start: number, end: number) =>
    start < end
      ? Prisma.sql`SELECT ${columns} FROM "ShowProductSpan" WHERE seconds = ${seconds}::int AND ${within(start, end)} UNION ALL`
      : Prisma.empty;
  return Prisma.sql`
    ${spans(daySeconds, firstDay, endOfDays)}
    ${spans(quarterSeconds, from, Math.min(firstDay, until))}
    ${spans(quarterSeconds, endOfDays, until)}
    SELECT ${columns} FROM "ShowProductSlot" WHERE ${within(from, until)}`;
}

/** Seconds since 1970; infinite without a bound. */
function wholeQuarters({ from, until }: OpenRange) {
  const quarters = (date: Date) => date.getTime() / 1_000 / quarterSeconds;
  return {
    from: from ? Math.floor(quarters(from)) * quarterSeconds : -Infinity,
    until: until ? Math.ceil(quarters(until)) * quarterSeconds : Infinity,
  };
}
