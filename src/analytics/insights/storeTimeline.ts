import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import { startOfDay, type ZoneOffset, zoneOffsets } from "../../lib/timeZone.js";
import { moneySum } from "../kpis/kpis.js";
import { bucketsMax, wholeMinutes } from "../kpis/timeline.sql.js";
import { daySeconds, quarterSeconds } from "../totals/spans.sql.js";
import type { StoreRange } from "./storeRange.js";

export const storeBuckets = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
export type StoreBucket = (typeof storeBuckets)[number];

export interface StoreBucketFigures {
  readonly startsAt: Date;
  readonly orders: number;
  readonly sales: number;
  readonly carts: number;
}

/** Sums of an hour, by its start in seconds since 1970, or of a local day, by its number since 1970-01-01. */
interface PartRow {
  readonly part: number;
  readonly orders: number;
  readonly carts: number;
  /** A decimal. */
  readonly sales: string;
}

/** The local days of five years, and those at both ends. */
const daysMax = 1_830;
const monthSeconds = 31 * daySeconds;

/** What happened in a range, whichever show it was of: the hours, days, weeks or months of the time zone, the latest 1,500. */
export async function readStoreTimeline(
  db: Database,
  storeId: string,
  range: StoreRange,
  bucket: StoreBucket,
): Promise<StoreBucketFigures[]> {
  const { from, until } = wholeMinutes(range);
  const offsets = zoneOffsets(range.timeZone, from - monthSeconds, until);
  const rows = await db.$queryRaw<PartRow[]>`
    SELECT ${partOf(bucket, offsets)} AS part,
      sum(orders)::float8 AS orders, sum(carts)::float8 AS carts, sum(sales)::text AS sales
    FROM (
      SELECT extract(epoch FROM starts)::bigint AS starts, sum(orders) AS orders, sum(carts) AS carts, sum(sales) AS sales
      FROM (${happened(storeId, from, until)}) AS parts GROUP BY 1) AS parts
    GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucket === "HOUR" ? bucketsMax : daysMax}::int`;
  return merged(rows.toReversed(), startOf(bucket, offsets)).slice(-bucketsMax);
}

function partOf(bucket: StoreBucket, offsets: readonly ZoneOffset[]): Prisma.Sql {
  const array = (values: readonly number[]) => Prisma.sql`${`{${values.join(",")}}`}::bigint[]`;
  const changes = array(offsets.map(({ since }) => since));
  const offset = Prisma.sql`(${array(offsets.map(({ seconds }) => seconds))})[width_bucket(starts, ${changes})]`;
  return bucket === "HOUR"
    ? Prisma.sql`(floor((starts + ${offset}) / 3600.0) * 3600 - ${offset})::float8`
    : Prisma.sql`floor((starts + ${offset}) / ${daySeconds}::numeric)::float8`;
}

/** Rows of quarters of an hour, with minutes at the ends and those that are not folded yet: for zones of any offset. */
function happened(storeId: string, from: number, until: number): Prisma.Sql {
  const firstSpan = Math.ceil(from / quarterSeconds) * quarterSeconds;
  const endOfSpans = Math.max(firstSpan, Math.floor(until / quarterSeconds) * quarterSeconds);
  const columns = Prisma.sql`p.orders, p.carts, p.sales FROM "LiveStream" AS s`;
  const minutes = (start: number, end: number, slots: Prisma.Sql) => Prisma.sql`
    UNION ALL SELECT p.minute, ${columns}
    JOIN "LiveStreamMinute" AS p ON p."storeId" = ${storeId} AND p."liveStreamId" = s.id
    WHERE s."storeId" = ${storeId} AND ${slots} AND p.orders + p.carts > 0
      AND p.minute >= ${moment(start)} AND p.minute < ${moment(end)}`;
  const folded = Prisma.sql`p.slot = -1`;
  return Prisma.sql`
    SELECT p."startsAt" AS starts, ${columns}
    JOIN "LiveStreamSpan" AS p ON p."storeId" = ${storeId} AND p."liveStreamId" = s.id
    WHERE s."storeId" = ${storeId} AND p.seconds = ${quarterSeconds}::int AND p.orders + p.carts > 0
      AND p."startsAt" >= ${moment(firstSpan)} AND p."startsAt" < ${moment(endOfSpans)}
    ${from < firstSpan ? minutes(from, Math.min(firstSpan, until), folded) : Prisma.empty}
    ${endOfSpans < until ? minutes(endOfSpans, until, folded) : Prisma.empty}
    ${minutes(from, until, Prisma.sql`p.slot >= 0`)}`;
}

function moment(seconds: number): Prisma.Sql {
  return Prisma.sql`to_timestamp(${String(seconds)}::float8)`;
}

/** The start of the bucket that an hour or a day is in, in seconds since 1970. */
function startOf(bucket: StoreBucket, offsets: readonly ZoneOffset[]): (part: number) => number {
  if (bucket === "HOUR") return (hour) => hour;
  return (day) => startOfDay(offsets, firstDayOf(bucket, day));
}

function firstDayOf(bucket: StoreBucket, day: number): number {
  if (bucket === "WEEK") return day - ((((day + 3) % 7) + 7) % 7); // 1970-01-01 was a Thursday
  return bucket === "MONTH" ? day - new Date(day * daySeconds * 1_000).getUTCDate() + 1 : day;
}

function merged(rows: readonly PartRow[], startOfPart: (part: number) => number): StoreBucketFigures[] {
  const byStart = new Map<number, PartRow[]>();
  for (const row of rows) {
    const start = startOfPart(row.part);
    const parts = byStart.get(start);
    if (parts === undefined) byStart.set(start, [row]);
    else parts.push(row);
  }
  return [...byStart].map(([start, parts]) => ({
    startsAt: new Date(start * 1_000),
    orders: sum(parts.map(({ orders }) => orders)),
    carts: sum(parts.map(({ carts }) => carts)),
    sales: moneySum(parts.map(({ sales }) => sales)),
  }));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
