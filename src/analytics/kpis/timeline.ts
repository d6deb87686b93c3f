import type { Database } from "../../database/client.js";
import { errorAt } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { mustBe } from "../../lib/mustBe.js";
import { epoch, wholeShowSeconds } from "../totals/spans.sql.js";
import { money } from "./kpis.js";
import { bucketsMax, minuteSeconds, partsOf, slotsOf, type TimelineSpan, wholeMinutes } from "./timeline.sql.js";

export interface TimelineBucket {
  readonly startsAt: Date;
  /** The highest number of distinct active viewers in any of its minutes. */
  readonly viewers: number;
  readonly carts: number;
  readonly orders: number;
  readonly sales: number;
}

const bucketSecondsMax = 86_400;

/**
 * The parts of a show with any event, in order; the latest 1,500.
 *
 * @throws {AppError} VALIDATION_FAILED for a bucket that is not of whole minutes
 */
export async function readTimeline(
  db: Database,
  storeId: string,
  lsId: string,
  bucketSeconds: number,
  span: TimelineSpan = {},
): Promise<TimelineBucket[]> {
  if (bucketSeconds < minuteSeconds || bucketSeconds > bucketSecondsMax || bucketSeconds % minuteSeconds !== 0) {
    const message = mustBe("bucketSeconds", `a multiple of ${minuteSeconds}, up to ${bucketSecondsMax}`, bucketSeconds);
    throw errorAt("VALIDATION_FAILED", message, ["bucketSeconds"]);
  }
  const parts = { storeId, lsId, bucketSeconds, ...wholeMinutes(span) };
  const rows = await db.$queryRaw<(Omit<TimelineBucket, "sales"> & { sales: string })[]>`
    SELECT to_timestamp(floor(extract(epoch FROM starts) / ${bucketSeconds}::int) * ${bucketSeconds}::int) AS "startsAt",
      max(viewers)::int AS viewers, sum(carts)::int AS carts, sum(orders)::int AS orders, sum(sales)::text AS sales
    FROM (${partsOf(parts)}) AS parts GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucketsMax}`;
  return rows.map((row) => ({ ...row, sales: money(row.sales) })).toReversed();
}

/** The highest number of distinct active viewers in any minute of the show. */
export async function readPeakViewers(db: Database, storeId: string, lsId: string): Promise<number> {
  const [row] = await db.$queryRaw<[{ peak: number }]>`
    SELECT coalesce(greatest(
      (SELECT viewers FROM "LiveStreamSpan" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
        AND seconds = ${wholeShowSeconds} AND "startsAt" = ${epoch}),
      (SELECT max(viewers) FROM (${slotsOf({ storeId, lsId })}) AS slots)), 0)::int AS peak`;
  return row.peak;
}

export interface ProductFigures {
  readonly productId: string;
  readonly carts: number;
  readonly orders: number;
  readonly quantity: number;
  readonly sales: number;
}

export const productOrders = ["CARTS", "ORDERS", "QUANTITY", "SALES"] as const;
export type ProductOrder = (typeof productOrders)[number];

const columns: Readonly<Record<ProductOrder, Prisma.Sql>> = {
  CARTS: Prisma.sql`sum(carts)`,
  ORDERS: Prisma.sql`sum(orders)`,
  QUANTITY: Prisma.sql`sum(quantity)`,
  SALES: Prisma.sql`sum(sales)`,
};

/** The products of a show with the highest figure, then by id; none for which it is 0. */
export async function readTopProducts(
  db: Database,
  storeId: string,
  lsId: string,
  { first, by }: { readonly first: number; readonly by: ProductOrder },
): Promise<ProductFigures[]> {
  const figure = columns[by];
  const rows = await db.$queryRaw<(Omit<ProductFigures, "sales"> & { sales: string })[]>`
    SELECT "productId", sum(carts)::int AS carts, sum(orders)::int AS orders, sum(quantity)::int AS quantity,
      sum(sales)::text AS sales
    FROM (
      SELECT "productId", carts, orders, quantity, sales FROM "LiveStreamProduct"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
      UNION ALL SELECT "productId", carts, orders, quantity, sales FROM "ShowProductSlot"
      WHERE "storeId" = ${storeId}
        AND show = (SELECT number FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ${lsId})) AS parts
    GROUP BY "productId" HAVING ${figure} > 0 ORDER BY ${figure} DESC, "productId" LIMIT ${first}`;
  return rows.map((row) => ({ ...row, sales: money(row.sales) }));
}
