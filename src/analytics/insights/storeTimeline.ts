import { decimalsOfStore } from "../../access/stores/store.currency.js";
import type { Database } from "../../database/client.js";
import { startOfDay, type ZoneOffset, zoneOffsets } from "../../lib/timeZone.js";
import { moneySum } from "../kpis/kpis.js";
import { bucketsMax, wholeMinutes } from "../kpis/timeline.sql.js";
import { daySeconds } from "../totals/spans.sql.js";
import type { StoreRange } from "./storeRange.js";
import { days, hours } from "./storeTimeline.sql.js";

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

/** Five years, and the days at both ends. */
const daysMax = 1_830;
const monthSeconds = 31 * daySeconds;

/** Covers all shows, in hours, days, weeks or months of the time zone, the latest 1,500. */
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
