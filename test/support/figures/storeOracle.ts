/**
 * Figures over the shows of a store, worked out from their written definitions in the plainest way: nothing from src.
 * Amounts are whole cents here, seconds whole.
 */
import { accepted, kpis, productsOf, type SentEvent } from "../oracle.js";

/** A show, and the events that arrived for it, in their order. */
export interface OracleShow {
  readonly id: string;
  readonly startedAt: string;
  readonly events: readonly SentEvent[];
}

export interface OracleRange {
  readonly from: Date;
  readonly until: Date;
}

export type OracleBucket = "HOUR" | "DAY" | "WEEK" | "MONTH";
export type OracleOrder = "SALES" | "ORDERS" | "VIEWERS" | "CONVERSION_RATE" | "AVERAGE_VIEW_TIME";

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Whole days back, from a week on whole weeks, at the time that clocks show: the first day by day that is not in the range. */
export function before({ from, until }: OracleRange, timeZone: string): OracleRange {
  let days = Math.max(0, Math.floor((until.getTime() - from.getTime()) / dayMs) - 2); // clocks change by a day at most
  while (daysEarlier(until, days, timeZone) > from) days += 1;
  while (days >= 7 && days % 7 > 0) days += 1;
  return { from: daysEarlier(from, days, timeZone), until: daysEarlier(until, days, timeZone) };
}

/** The first moment at which clocks show the time of day on the earlier date, or, where they skip it, more: they do so at a minute. */
function daysEarlier(moment: Date, days: number, timeZone: string): Date {
  if (days === 0) return moment;
  const shownAt = (ms: number): number => {
    const { date, time } = clock(ms, timeZone);
    return Date.parse(`${date}T${time}Z`);
  };
  const shown = shownAt(moment.getTime()) - days * dayMs;
  let ms = moment.getTime() - days * dayMs - 26 * 60 * minuteMs;
  while (shownAt(ms) < shown) {
    const inAnHour = shownAt(ms + hourMs);
    ms += inAnHour < shown && inAnHour - shownAt(ms) === hourMs ? hourMs : minuteMs;
  }
  return new Date(shownAt(ms) === shown ? ms : Math.floor(ms / minuteMs) * minuteMs);
}

/** The shows that started in the range, added up: a viewer of two shows counts in each. */
export function storeKpis(shows: readonly OracleShow[], range: OracleRange) {
  const apart = (id: string, event: SentEvent) =>
    typeof event.viewerId === "string" ? { ...event, viewerId: `${id} ${event.viewerId}` } : event;
  const started = startedWithin(shows, range);
  return {
    showCount: started.length,
    kpis: kpis(started.flatMap(({ id, events }) => accepted(events).map((event) => apart(id, event)))),
  };
}

export function topShows(shows: readonly OracleShow[], range: OracleRange, by: OracleOrder, first: number) {
  return startedWithin(shows, range)
    .map(({ id, events }) => ({ id, score: scoreOf(accepted(events), by), kpis: kpis(accepted(events)) }))
    .toSorted((a, b) => descending(a.score, b.score) || (a.id < b.id ? -1 : 1))
    .slice(0, first)
    .map((show) => ({ id: show.id, kpis: show.kpis }));
}

/** What happened in whole minutes of the range, by the start of the bucket of local time that it is in. */
export function storeTimeline(
  shows: readonly OracleShow[],
  { from, until }: OracleRange,
  timeZone: string,
  bucket: OracleBucket,
) {
  const buckets = new Map<string, SentEvent[]>();
  const start = Math.floor(from.getTime() / minuteMs) * minuteMs;
  const end = Math.ceil(until.getTime() / minuteMs) * minuteMs;
  for (const event of shows.flatMap(({ events }) => accepted(events))) {
    const moment = Date.parse(event.occurredAt ?? "");
    if (!["ORDER", "ADD_TO_CART"].includes(event.type) || moment < start || moment >= end) continue;
    const startsAt = new Date(bucketStart(moment, timeZone, bucket)).toISOString();
    buckets.set(startsAt, [...(buckets.get(startsAt) ?? []), event]);
  }
  return [...buckets]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([startsAt, events]) => {
      const orders = events.filter(({ type }) => type === "ORDER");
      return {
        startsAt,
        orders: orders.length,
        sales: Number(cents(orders)) / 100,
        carts: events.length - orders.length,
      };
    });
}

const quarterMs = 900_000;

/** What happened with each product in whole quarters of an hour, by its id. An event counts for a product once, its lines added up. */
function storePerformance(shows: readonly OracleShow[], range: Partial<OracleRange>) {
  const start = Math.floor((range.from?.getTime() ?? -Infinity) / quarterMs) * quarterMs;
  const end = Math.ceil((range.until?.getTime() ?? Infinity) / quarterMs) * quarterMs;
  const parts = shows.flatMap(({ id, events }) =>
    accepted(events)
      .filter(({ occurredAt = "" }) => Date.parse(occurredAt) >= start && Date.parse(occurredAt) < end)
      .flatMap((event) => productsOf(event).map((part) => ({ ...part, show: id, event }))),
  );
  const ids = [...new Set(parts.map(({ productId }) => productId))].toSorted(byBytes);
  return ids.map((productId) => {
    const own = parts.filter((part) => part.productId === productId);
    const of = (type: SentEvent["type"]) => own.filter(({ event }) => event.type === type);
    return {
      productId,
      carts: of("ADD_TO_CART").length,
      orders: new Set(of("ORDER").map(({ show, event }) => `${show} ${event.id}`)).size,
      quantity: of("ORDER").reduce((all, { quantity }) => all + quantity, 0),
      sales: Number(cents(of("ORDER"))) / 100,
      refunds: Number(cents(of("REFUND"))) / 100,
      shows: new Set(own.map(({ show }) => show)).size,
    };
  });
}

/** The products with the most first, then by id. */
export function rankedPerformance(
  shows: readonly OracleShow[],
  range: OracleRange,
  by: "sales" | "orders" | "quantity" | "carts" | "shows",
) {
  return storePerformance(shows, range).toSorted((a, b) => b[by] - a[by] || byBytes(a.productId, b.productId));
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function startedWithin(shows: readonly OracleShow[], { from, until }: OracleRange): OracleShow[] {
  return shows.filter(({ startedAt }) => {
    const moment = Date.parse(startedAt);
    return moment >= from.getTime() && moment < until.getTime();
  });
}

/** A fraction. */
type Score = readonly [numerator: bigint, denominator: bigint];

function scoreOf(events: readonly SentEvent[], by: OracleOrder): Score {
  const { viewers, orders } = kpis(events);
  if (by === "SALES") return [cents(events.filter(({ type }) => type === "ORDER")), 1n];
  if (by === "ORDERS") return [BigInt(orders.total), 1n];
  if (by === "VIEWERS") return [BigInt(viewers.total), 1n];
  if (by === "CONVERSION_RATE") return fraction(orders.total, viewers.unique);
  const seconds = events.filter(({ type }) => type === "VIEW").reduce((sum, event) => sum + (event.seconds ?? 0), 0);
  return fraction(seconds, viewers.total);
}

function fraction(numerator: number, denominator: number): Score {
  return denominator === 0 ? [0n, 1n] : [BigInt(numerator), BigInt(denominator)];
}

function descending([a, b]: Score, [c, d]: Score): number {
  return c * b > a * d ? 1 : c * b < a * d ? -1 : 0;
}

function cents(amounts: readonly { readonly amount?: number | null }[]): bigint {
  return amounts.reduce((sum, { amount }) => sum + BigInt(Math.round((amount ?? 0) * 100)), 0n);
}

/** The first minute of the bucket, found by looking at the clock of the time zone. */
function bucketStart(moment: number, timeZone: string, bucket: OracleBucket): number {
  if (bucket === "HOUR") {
    const { minute, second } = clock(moment, timeZone);
    return Math.floor(moment / 1_000) * 1_000 - minute * minuteMs - second * 1_000;
  }
  const first = firstDate(clock(moment, timeZone).date, bucket);
  let [outside, inside] = [Math.floor(moment / minuteMs) - 33 * 1_440, Math.floor(moment / minuteMs)];
  while (inside - outside > 1) {
    const middle = Math.floor((outside + inside) / 2);
    if (clock(middle * minuteMs, timeZone).date < first) outside = middle;
    else inside = middle;
  }
  return inside * minuteMs;
}

/** The first date of the day, week or month of a date. */
function firstDate(date: string, bucket: OracleBucket): string {
  if (bucket === "MONTH") return `${date.slice(0, 8)}01`;
  let day = Date.parse(`${date}T00:00:00Z`);
  const weekday = new Date(day).getUTCDay();
  if (bucket === "WEEK") day -= (weekday === 0 ? 6 : weekday - 1) * dayMs;
  return new Date(day).toISOString().slice(0, 10);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clock(moment: number, timeZone: string) {
  const known = clocks.get(timeZone);
  const format =
    known ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium", hourCycle: "h23" });
  clocks.set(timeZone, format);
  const [, date = "", time = "", minute, second] = /^([\d-]+) (\d+:(\d+):(\d+))$/u.exec(format.format(moment)) ?? [];
  return { date, time, minute: Number(minute), second: Number(second) };
}
