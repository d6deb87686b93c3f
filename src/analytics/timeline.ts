import type { Database } from "../database/client.js";
import { errorAt } from "../errors.js";
import { money } from "./kpis.js";

/** What happened in a part of a show. */
export interface TimelineBucket {
  readonly startsAt: Date;
  /** The most distinct viewers of whom something was heard within one minute of the bucket. */
  readonly viewers: number;
  readonly carts: number;
  readonly orders: number;
  readonly sales: number;
}

const minuteSeconds = 60;
const bucketSecondsMax = 86_400;
/** Buckets of an answer at most: a day of minutes. */
const bucketsMax = 1_500;

/** What a time line covers: everything, unless given. Minutes count as a whole. */
interface TimelineSpan {
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

/**
 * The parts of a show in which something happened, in order, from totals kept for each minute. Where there would be more
 * than 1,500 of them, the latest are given.
 *
 * @throws {AppError} VALIDATION_FAILED for a bucket that is not of whole minutes
 */
export async function readTimeline(
  db: Database,
  storeId: string,
  lsId: string,
  bucketSeconds: number,
  { from = null, until = null }: TimelineSpan = {},
): Promise<TimelineBucket[]> {
  if (bucketSeconds < minuteSeconds || bucketSeconds > bucketSecondsMax || bucketSeconds % minuteSeconds !== 0) {
    const message = `bucketSeconds must be a multiple of ${minuteSeconds}, up to ${bucketSecondsMax}.`;
    throw errorAt("VALIDATION_FAILED", message, ["bucketSeconds"]);
  }
  const rows = await db.$queryRaw<(Omit<TimelineBucket, "sales"> & { sales: string })[]>`
    SELECT to_timestamp(floor(extract(epoch FROM minute) / ${bucketSeconds}::int) * ${bucketSeconds}::int) AS "startsAt",
      max(viewers)::int AS viewers, sum(carts)::int AS carts, sum(orders)::int AS orders, sum(sales)::text AS sales
    FROM (
      SELECT minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales
      FROM "LiveStreamMinute" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
        AND minute > coalesce(${from}::timestamptz - interval '1 minute', '-infinity')
        AND minute < coalesce(${until}::timestamptz, 'infinity')
      GROUP BY minute) AS minutes
    GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucketsMax}`;
  return rows.map((row) => ({ ...row, sales: money(row.sales) })).toReversed();
}

/** The most distinct viewers of whom something was heard within one minute of the show. */
export async function readPeakViewers(db: Database, storeId: string, lsId: string): Promise<number> {
  const [row] = await db.$queryRaw<[{ peak: number }]>`
    SELECT coalesce(max(viewers), 0)::int AS peak FROM (
      SELECT sum(viewers) AS viewers FROM "LiveStreamMinute"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} GROUP BY minute) AS minutes`;
  return row.peak;
}

/** A product of a show, and how often it was put into a cart. */
export interface ProductCarts {
  readonly productId: string;
  readonly carts: number;
}

/** The products most often put into carts, then by their ids. */
export function readTopProducts(db: Database, storeId: string, lsId: string, first: number): Promise<ProductCarts[]> {
  return db.$queryRaw<ProductCarts[]>`
    SELECT "productId", sum(carts)::int AS carts FROM "LiveStreamProduct"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
    GROUP BY "productId" ORDER BY carts DESC, "productId" LIMIT ${first}`;
}
