import type { StoreBucket } from "../../generated/dashboard/graphql.js";
import type { ShowOfRange } from "../queries/store.js";
import { momentShowing, shownAt, timeZone } from "../timeZone.js";

export const dayCounts = [7, 28, 90] as const;
/** The last days, including today. */
export type DayCount = (typeof dayCounts)[number];

/** The first and the last day, in the store's time zone, such as `2026-11-30`. */
export interface OwnDates {
  readonly firstDay: string;
  readonly lastDay: string;
}

/** The last days, this month until now, or own dates. */
export type Range = DayCount | "month" | OwnDates;

export interface Bounds {
  /** ISO 8601, like `until`. */
  readonly from: string;
  /** Not included. */
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
  if (typeof range === "object") return range;
  const today = shownAt(nowMs);
  if (range === "month") return { firstDay: `${dayOf(today).slice(0, 7)}-01`, lastDay: dayOf(today) };
  return { firstDay: dayOf(today - (range - 1) * dayMs), lastDay: dayOf(today) };
}

/**
 * The range lasts from midnight to midnight, or to the end of this minute, so that it is compared with a time of the same length.
 */
export function boundsOf(range: Range, nowMs = Date.now()): Bounds {
  const { firstDay, lastDay } = datesOf(range, nowMs);
  const fromMs = midnight(firstDay);
  const thisMinute = (Math.floor(nowMs / minuteMs) + 1) * minuteMs;
  const untilMs = Math.min(midnight(lastDay, 1), Math.max(thisMinute, fromMs));
  return {
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    timeZone: timeZone(),
    bucket: bucketFor((startOfDay(lastDay, 1) - startOfDay(firstDay)) / dayMs),
  };
}

/**
 * The month before this one, to the same day and time of day, or to its end. Undefined for other ranges, because the API itself
 * compares them with the time before.
 */
export function boundsBefore(range: Range, { from, until }: Pick<Bounds, "from" | "until">) {
  if (range !== "month") return undefined;
  const [first, shown] = [new Date(shownAt(Date.parse(from))), new Date(shownAt(Date.parse(until)))];
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() - 1];
  const passedMs = shown.getTime() - first.getTime();
  const fromMs = Date.UTC(year, month, 1);
  const untilMs = Math.min(momentShowing(fromMs + passedMs), Date.parse(from));
  return { from: new Date(momentShowing(fromMs)).toISOString(), until: new Date(untilMs).toISOString() };
}

/** What is wrong with the dates; undefined if they are valid. */
export function problemOfDates({ firstDay, lastDay }: OwnDates): string | undefined {
  if (!isDay(firstDay) || !isDay(lastDay)) return "Enter both days.";
  if (lastDay < firstDay) return "The last day must not be before the first.";
  const [year = 0, month = 1, day = 1] = partsOf(firstDay);
  return startOfDay(lastDay, 1) > Date.UTC(year + yearsMax, month - 1, day)
    ? `Choose at most ${yearsMax} years.`
    : undefined;
}

/** Whether it is a calendar day such as `2026-11-30`. */
export function isDay(text: string): boolean {
  return /^(?:19|2\d)\d\d-\d\d-\d\d$/u.test(text) && dayOf(startOfDay(text)) === text;
}

export interface StorePoint {
  readonly startsAtMs: number;
  readonly orders: number;
  readonly sales: number;
  readonly carts: number;
}

type StoreBucketFigures = Omit<StorePoint, "startsAtMs"> & { readonly startsAt: string };

/** The figures of shows that started in a bucket. */
export interface ShowPoint {
  readonly startsAtMs: number;
  readonly netSales: number;
  readonly viewers: number;
}

/** All buckets of a range, with the figures of the shows that started in them. */
export function bucketsOfShows(shows: readonly ShowOfRange[], bounds: Pick<Bounds, "from" | "until" | "bucket">) {
  const empty = fillStoreBuckets([], bounds);
  const points = new Map(
    empty.map(({ startsAtMs }): [number, ShowPoint] => [startsAtMs, { startsAtMs, netSales: 0, viewers: 0 }]),
  );
  for (const { startedAt, kpis } of shows) {
    const startsAtMs = startOf(bounds.bucket, Date.parse(startedAt));
    const { netSales, viewers } = points.get(startsAtMs) ?? { netSales: 0, viewers: 0 };
    points.set(startsAtMs, {
      startsAtMs,
      netSales: netSales + (kpis?.netSales.total ?? 0),
      viewers: viewers + (kpis?.viewers.total ?? 0),
    });
  }
  return [...points.values()].toSorted((one, other) => one.startsAtMs - other.startsAtMs);
}

/** All buckets of a range: adds empty ones, which the API omits. */
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

/** Picks a bucket size for which a chart can show all buckets as bars. */
function bucketFor(days: number): StoreBucket {
  if (days < 2.5) return "HOUR";
  if (days < 100) return "DAY";
  return days < 740 ? "WEEK" : "MONTH";
}

/** The start of the bucket that contains a time. Weeks start on Monday. */
function startOf(bucket: StoreBucket, ms: number): number {
  const shown = shownAt(ms);
  if (bucket === "HOUR") return ms - (((shown % hourMs) + hourMs) % hourMs);
  const date = new Date(shown);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (bucket === "MONTH") return momentShowing(Date.UTC(year, month, 1));
  return momentShowing(Date.UTC(year, month, bucket === "WEEK" ? day - ((date.getUTCDay() + 6) % 7) : day));
}

function startAfter(bucket: StoreBucket, ms: number): number {
  if (bucket === "HOUR") return ms + hourMs;
  const date = new Date(shownAt(ms));
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (bucket === "MONTH") return momentShowing(Date.UTC(year, month + 1, 1));
  return momentShowing(Date.UTC(year, month, day + (bucket === "WEEK" ? 7 : 1)));
}

function midnight(day: string, plusDays = 0): number {
  return momentShowing(startOfDay(day, plusDays));
}

/** Midnight of a day, as shownAt returns it. */
function startOfDay(day: string, plusDays = 0): number {
  const [year = 0, month = 1, date = 1] = partsOf(day);
  return Date.UTC(year, month - 1, date + plusDays);
}

function partsOf(day: string): number[] {
  return day.split("-").map(Number);
}

/** @param shown as shownAt returns it */
function dayOf(shown: number): string {
  return new Date(shown).toISOString().slice(0, 10);
}

/** Shows are grouped by their host, or by the weekday or hour of their start. */
export type Grouping = "host" | "weekday" | "hour";

/** Shows with the same host, weekday or hour. */
export interface ShowGroup {
  /** The name of the host (empty without one), the weekday from 0 for Monday, or the hour from 0. */
  readonly key: string | number;
  readonly shows: number;
  readonly netSales: number;
  readonly orders: number;
  readonly viewers: number;
}

/** Groups shows. Hosts are ordered by net sales, the highest first; weekdays and hours by time. */
export function groupsOf(shows: readonly ShowOfRange[], by: Grouping): ShowGroup[] {
  const groups = new Map<ShowGroup["key"], ShowGroup>();
  for (const show of shows) {
    const key = keyOf(show, by);
    const known = groups.get(key) ?? { key, shows: 0, netSales: 0, orders: 0, viewers: 0 };
    groups.set(key, {
      key,
      shows: known.shows + 1,
      netSales: known.netSales + (show.kpis?.netSales.total ?? 0),
      orders: known.orders + (show.kpis?.orders.total ?? 0),
      viewers: known.viewers + (show.kpis?.viewers.total ?? 0),
    });
  }
  const order = (one: ShowGroup, other: ShowGroup) =>
    by === "host" ? other.netSales - one.netSales : Number(one.key) - Number(other.key);
  return [...groups.values()].toSorted(order);
}

function keyOf({ startedAt, host }: ShowOfRange, by: Grouping): ShowGroup["key"] {
  if (by === "host") return host?.name ?? "";
  const shown = new Date(shownAt(Date.parse(startedAt)));
  return by === "weekday" ? (shown.getUTCDay() + 6) % 7 : shown.getUTCHours();
}
