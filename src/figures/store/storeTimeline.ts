import { decimalsOfStore } from "../../stores/store.currency.js";
import type { Database } from "../../database/client.js";
import { startOfDay, type ZoneOffset, zoneOffsets } from "../../lib/timeZone.js";
import { moneySum } from "../show/kpis.js";
import { bucketsMax, wholeMinutes } from "../show/timeline.sql.js";
import { daySeconds, quarterSeconds } from "../../events/record/spans.sql.js";
import type { StoreRange } from "./storeRange.js";
import { Prisma } from "../../generated/prisma/client.js";
import { timestampOf } from "../../events/record/eventValues.sql.js";

export type StoreBucket = "HOUR" | "DAY" | "WEEK" | "MONTH";

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
  readonly sales: string;
}

/** Five years, with the days at both ends. */
const daysMax = 1_830;
const monthSeconds = 31 * daySeconds;

/** What happened in all shows by hours, days, weeks or months of the time zone: the latest 1,500. */
export async function readStoreTimeline(
  db: Database,
  storeId: string,
  range: StoreRange,
  bucket: StoreBucket,
): Promise<StoreBucketFigures[]> {
  const { from, until } = wholeMinutes(range);
  const offsets = zoneOffsets(range.timeZone, from - monthSeconds, until);
  const parts = bucket === "HOUR" ? hours(storeId, from, until, offsets) : days(storeId, from, until, offsets);
  const rows = await db.$queryRaw<PartRow[]>`
    SELECT part::float8 AS part, sum(orders)::float8 AS orders, sum(carts)::float8 AS carts, sum(sales)::text AS sales
    FROM (${parts}) AS parts GROUP BY part HAVING sum(orders) + sum(carts) > 0
    ORDER BY part DESC LIMIT ${bucket === "HOUR" ? bucketsMax : daysMax}::int`;
  const decimals = await decimalsOfStore(db, storeId);
  return merged(rows.toReversed(), startOf(bucket, offsets), decimals).slice(-bucketsMax);
}

/** The start of an hour's or day's bucket, in seconds since 1970. */
function startOf(bucket: StoreBucket, offsets: readonly ZoneOffset[]): (part: number) => number {
  if (bucket === "HOUR") return (hour) => hour;
  return (day) => startOfDay(offsets, firstDayOf(bucket, day));
}

function firstDayOf(bucket: StoreBucket, day: number): number {
  if (bucket === "WEEK") return day - ((((day + 3) % 7) + 7) % 7); // 1970-01-01 was a Thursday
  return bucket === "MONTH" ? day - new Date(day * daySeconds * 1_000).getUTCDate() + 1 : day;
}

function merged(
  rows: readonly PartRow[],
  startOfPart: (part: number) => number,
  decimals: number,
): StoreBucketFigures[] {
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
    sales: moneySum(
      parts.map(({ sales }) => sales),
      decimals,
    ),
  }));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** `hours` and `days` return rows of a part with orders, carts and sales to add up. Seconds are since 1970. */
type Offsets = readonly ZoneOffset[];

const columns = Prisma.sql`p.orders, p.carts, p.sales`;

/** Parts are hours of local time, by their start in seconds. */
function hours(storeId: string, from: number, until: number, offsets: Offsets): Prisma.Sql {
  const { firstSpan, endOfSpans } = spansWithin(from, until, quarterSeconds);
  const offset = offsetOf(offsets);
  return Prisma.sql`
    SELECT floor((starts + ${offset}) / 3600.0) * 3600 - ${offset} AS part, orders, carts, sales FROM (${partsByStart(Prisma.sql`
      ${spans(storeId, quarterSeconds, firstSpan, endOfSpans)} UNION ALL ${minutes(storeId, from, until)}`)}) AS parts`;
}

/**
 * Parts are local days, by their number since 1970-01-01. It reads days of UTC, which are few rows, and moves quarters of an hour with
 * another local date. Sums are exact, so a day from which everything was moved is zero.
 */
function days(storeId: string, from: number, until: number, offsets: Offsets): Prisma.Sql {
  const quarters = spansWithin(from, until, quarterSeconds);
  const whole = spansWithin(quarters.firstSpan, quarters.endOfSpans, daySeconds);
  const localDay = Prisma.sql`floor((starts + ${offsetOf(offsets)}) / ${daySeconds}::numeric)`;
  const utcDay = Prisma.sql`floor(starts / ${daySeconds}::numeric)`;
  const ends = Prisma.sql`
    ${spans(storeId, quarterSeconds, quarters.firstSpan, Math.min(whole.firstSpan, quarters.endOfSpans))}
    UNION ALL ${spans(storeId, quarterSeconds, whole.endOfSpans, quarters.endOfSpans)}
    UNION ALL ${minutes(storeId, from, until)}`;
  const moved = movedQuarters(storeId, whole.firstSpan, whole.endOfSpans, offsets);
  return Prisma.sql`
    SELECT ${utcDay} AS part, orders, carts, sales
    FROM (${partsByStart(spans(storeId, daySeconds, whole.firstSpan, whole.endOfSpans))}) AS whole
    UNION ALL SELECT ${localDay}, orders, carts, sales FROM (${partsByStart(ends)}) AS ends
    UNION ALL SELECT t.part, t.sign * orders, t.sign * carts, t.sign * sales
    FROM (${partsByStart(moved)}) AS moved, LATERAL (VALUES (${localDay}, 1), (${utcDay}, -1)) AS t(part, sign)`;
}

/** Local dates can differ only this long before and after midnight UTC. An array makes the planner use the index. */
function movedQuarters(storeId: string, from: number, until: number, offsets: Offsets): Prisma.Sql {
  const seconds = offsets.map(
    (offset) => Math.ceil(Math.abs(offset.seconds) / quarterSeconds) * quarterSeconds * Math.sign(offset.seconds),
  );
  const [behind, ahead] = [Math.max(0, -Math.min(...seconds)), Math.max(0, ...seconds)];
  const series = (start: number, end: number) =>
    Prisma.sql`SELECT generate_series(${start}::int, ${end - quarterSeconds}::int, ${quarterSeconds}::int) AS seconds`;
  return Prisma.sql`
    SELECT p."startsAt" AS starts, ${columns} FROM "LiveStreamSpan" AS p
    WHERE p."storeId" = ${storeId} AND p.seconds = ${quarterSeconds}::int AND p."startsAt" = ANY (ARRAY(
      SELECT d."startsAt" + q.seconds * interval '1 second'
      FROM (SELECT DISTINCT p."startsAt" FROM "LiveStreamSpan" AS p WHERE ${spansOf(storeId, daySeconds, from, until)}) AS d,
        (${series(0, behind)} UNION ${series(daySeconds - ahead, daySeconds)}) AS q))`;
}

/** Adds over all shows first, because converting times takes longer than adding. */
function partsByStart(parts: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT extract(epoch FROM starts)::bigint AS starts, orders, carts, sales FROM (
      SELECT starts, sum(orders) AS orders, sum(carts) AS carts, sum(sales) AS sales FROM (${parts}) AS parts GROUP BY starts) AS sums`;
}

function spans(storeId: string, seconds: number, start: number, end: number): Prisma.Sql {
  return Prisma.sql`SELECT p."startsAt" AS starts, ${columns} FROM "LiveStreamSpan" AS p WHERE ${spansOf(storeId, seconds, start, end)}`;
}

function spansOf(storeId: string, seconds: number, start: number, end: number): Prisma.Sql {
  return Prisma.sql`
    p."storeId" = ${storeId} AND p.seconds = ${seconds}::int AND p."startsAt" >= ${timestampOf(start)} AND p."startsAt" < ${timestampOf(end)}`;
}

/** Minutes at both ends that do not fill a quarter of an hour, and all that are not folded yet. */
function minutes(storeId: string, from: number, until: number): Prisma.Sql {
  const { firstSpan, endOfSpans } = spansWithin(from, until, quarterSeconds);
  const within = (start: number, end: number) =>
    Prisma.sql`p."storeId" = ${storeId} AND p.minute >= ${timestampOf(start)} AND p.minute < ${timestampOf(end)}`;
  const part = (start: number, end: number) => Prisma.sql`
    UNION ALL SELECT p.minute, ${columns} FROM "LiveStreamSpan" AS q
    JOIN "LiveStreamMinute" AS p ON p."storeId" = ${storeId} AND p."liveStreamId" = q."liveStreamId"
    WHERE q."storeId" = ${storeId} AND q.seconds = ${quarterSeconds}::int
      AND q."startsAt" = ${timestampOf(Math.floor(start / quarterSeconds) * quarterSeconds)} AND p.slot = -1 AND ${within(start, end)}`;
  return Prisma.sql`
    SELECT p.minute AS starts, ${columns} FROM "LiveStreamMinute" AS p WHERE p.slot >= 0 AND ${within(from, until)}
    ${from < firstSpan ? part(from, Math.min(firstSpan, until)) : Prisma.empty}
    ${endOfSpans < until ? part(endOfSpans, until) : Prisma.empty}`;
}

/** The end is never before the beginning, which may be after the range. */
function spansWithin(from: number, until: number, seconds: number) {
  const firstSpan = Math.ceil(from / seconds) * seconds;
  return { firstSpan, endOfSpans: Math.max(firstSpan, Math.floor(until / seconds) * seconds) };
}

/** How many seconds local time is ahead of UTC at `starts`. */
function offsetOf(offsets: Offsets): Prisma.Sql {
  const array = (values: readonly number[]) => Prisma.sql`${`{${values.join(",")}}`}::bigint[]`;
  const changes = array(offsets.map(({ since }) => since));
  return Prisma.sql`(${array(offsets.map(({ seconds }) => seconds))})[width_bucket(starts, ${changes})]`;
}
