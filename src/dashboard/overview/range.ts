import type { StoreBucket } from "../../generated/dashboard/graphql.js";

export const dayCounts = [7, 28, 90] as const;
/** The last days, of which today is one. */
export type DayCount = (typeof dayCounts)[number];

/** Days of the browser's time zone, both included, as `2026-11-30`. */
export interface OwnDates {
  readonly firstDay: string;
  readonly lastDay: string;
}

export type Range = DayCount | OwnDates;

export interface Bounds {
  /** ISO 8601, like `until`. */
  readonly from: string;
  /** Not part of the time. */
  readonly until: string;
  /** An IANA name. */
  readonly timeZone: string;
  readonly bucket: StoreBucket;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const minuteMs = 60_000;
/** The API's maximum. */
const yearsMax = 5;

export function datesOf(range: Range, nowMs = Date.now()): OwnDates {
  if (typeof range !== "number") return range;
  const today = new Date(nowMs);
  const first = new Date(today.getFullYear(), today.getMonth(), today.getDate() - range + 1);
  return { firstDay: dayOf(first), lastDay: dayOf(today) };
}

/**
 * The range lasts from midnight until midnight, or until the end of this minute, so that the time before is not longer than what
 * has passed.
 */
export function boundsOf(range: Range, nowMs = Date.now()): Bounds {
  const { firstDay, lastDay } = datesOf(range, nowMs);
  const fromMs = midnight(firstDay);
  const thisMinute = (Math.floor(nowMs / minuteMs) + 1) * minuteMs;
  const untilMs = Math.min(midnight(lastDay, 1), Math.max(thisMinute, fromMs));
  return {
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    bucket: bucketFor((midnight(lastDay, 1) - fromMs) / dayMs),
  };
}

/** Why dates cannot be asked for; undefined if they can. */
export function problemOfDates({ firstDay, lastDay }: OwnDates): string | undefined {
  if (!isDay(firstDay) || !isDay(lastDay)) return "Enter both days.";
  if (lastDay < firstDay) return "The last day must not be before the first.";
  const [year = 0, month = 1, day = 1] = partsOf(firstDay);
  const latest = new Date(year + yearsMax, month - 1, day);
  return midnight(lastDay, 1) > latest.getTime() ? `Choose at most ${yearsMax} years.` : undefined;
}

/** Whether it is a day of the calendar, as `2026-11-30`. */
export function isDay(text: string): boolean {
  return /^(?:19|2\d)\d\d-\d\d-\d\d$/u.test(text) && dayOf(new Date(midnight(text))) === text;
}

export interface StorePoint {
  readonly startsAtMs: number;
  readonly orders: number;
  readonly sales: number;
  readonly carts: number;
}

type StoreBucketFigures = Omit<StorePoint, "startsAtMs"> & { readonly startsAt: string };

/** The buckets of a time without gaps: the API omits empty ones. */
export function fillStoreBuckets(
  buckets: readonly StoreBucketFigures[],
  { from, until, bucket }: Pick<Bounds, "from" | "until" | "bucket">,
): StorePoint[] {
  const points = new Map<number, StorePoint>();
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
  for (let startsAtMs = startOf(bucket, fromMs); startsAtMs < untilMs; startsAtMs = startAfter(bucket, startsAtMs)) {
    points.set(startsAtMs, { startsAtMs, orders: 0, sales: 0, carts: 0 });
  }
  for (const { startsAt, orders, sales, carts } of buckets) {
    const startsAtMs = Date.parse(startsAt);
    points.set(startsAtMs, { startsAtMs, orders, sales, carts });
  }
  return [...points.values()].toSorted((one, other) => one.startsAtMs - other.startsAtMs);
}

/** Picks the bucket so that a chart can show all of them as bars. */
function bucketFor(days: number): StoreBucket {
  if (days < 2.5) return "HOUR";
  if (days < 100) return "DAY";
  return days < 740 ? "WEEK" : "MONTH";
}

/** The start of the bucket that a time is in; weeks start on Monday. */
function startOf(bucket: StoreBucket, ms: number): number {
  const date = new Date(ms);
  if (bucket === "HOUR") return date.setMinutes(0, 0, 0);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  if (bucket === "MONTH") return new Date(year, month, 1).getTime();
  return new Date(year, month, bucket === "WEEK" ? day - ((date.getDay() + 6) % 7) : day).getTime();
}

function startAfter(bucket: StoreBucket, ms: number): number {
  if (bucket === "HOUR") return ms + hourMs;
  const date = new Date(ms);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  if (bucket === "MONTH") return new Date(year, month + 1, 1).getTime();
  return new Date(year, month, day + (bucket === "WEEK" ? 7 : 1)).getTime();
}

function midnight(day: string, plusDays = 0): number {
  const [year = 0, month = 1, date = 1] = partsOf(day);
  return new Date(year, month - 1, date + plusDays).getTime();
}

function partsOf(day: string): number[] {
  return day.split("-").map(Number);
}

function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
