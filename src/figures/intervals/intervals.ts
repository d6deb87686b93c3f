import { batchLookups } from "../../database/batchLookups.js";
import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { errorAt } from "../../errors.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import { mustBe } from "../../lib/mustBe.js";
import { decimalsOfStore } from "../../stores/store.currency.js";
import { moneySum } from "../show/kpis.js";
import {
  eventSums,
  minuteSums,
  ordersAfterCarts,
  type ShowOfIntervals,
  type SumsRow,
  type ViewersRow,
  viewersOfParts,
} from "./intervals.sql.js";
import { joined, Parts, type Range } from "./parts.js";

/** What happened in an interval of a show. Each function reads its figures with those of all intervals that are asked for together. */
export type IntervalFigures = ReturnType<typeof readInterval>;

interface Wanted {
  readonly from: Date;
  readonly until: Date;
  /** Of the product that was shown, if any. */
  readonly productId?: string | null;
  /** Whether carts, orders and sales suffice, which minutes have. */
  readonly isOfMinutes: boolean;
}

/** The figures of an interval, from one second until another. */
export function readInterval(
  db: Database,
  { storeId, id, number, prunedBefore }: LiveStream,
  { from, until, productId = null, isOfMinutes }: Wanted,
) {
  const { isExact, ...range } = knownRange({ prunedBefore }, from, until);
  const show = { storeId, id, number };
  const product = isExact ? productId : null;
  const hasAll = isExact && !isOfMinutes;
  /** Net sales and quantity are null if only what minutes have was asked for, or is known. */
  const sums = async () => {
    const read = await lookUpSums(db, { ...show, isOfMinutes: !hasAll }, { ...range, productId: product });
    return hasAll ? read : { ...read, netSales: null, quantity: null };
  };
  return {
    /** Its length. */
    seconds: range.until - range.from,
    /** False if events that occurred in it were removed: then its ends are those of minutes, and only sums of minutes are known. */
    isExact,
    sums,
    viewers: async () => {
      const era = Math.floor(range.from / eraSeconds);
      return isExact ? lookUpViewers(db, { ...show, era }, range) : unknownViewers;
    },
    /** Of the product that was shown; null if none was, or if the interval is not exact. */
    ofProduct:
      product === null
        ? null
        : {
            sums: async () => (await sums()).ofProduct,
            /** Orders of viewers who put it into the cart in the interval, at most so many minutes after they did. */
            ordersWithin: (minutes: number) =>
              lookUpOrders(db, { ...show, minutes: checkMinutes(minutes) }, { ...range, productId: product }),
          },
  };
}

/**
 * The seconds of a show whose sums are known for an interval. Where events were removed, those of minutes are known: its ends are those of
 * their minutes, so that intervals which follow each other still add up. It is exact if none of its events were removed.
 */
export function knownRange({ prunedBefore }: Pick<LiveStream, "prunedBefore">, from: Date, until: Date) {
  const isPruned = (second: number) => prunedBefore !== null && second * 1_000 < prunedBefore.getTime();
  const boundOf = (second: number) => {
    const minute = Math.floor(second / 60) * 60;
    return isPruned(minute) ? minute : second;
  };
  const [first, end] = [from, until].map((time) => Math.floor(time.getTime() / 1_000)) as [number, number];
  const start = boundOf(first);
  const isExact = !isPruned(start) && boundOf(end) === end;
  return { from: start, until: Math.max(boundOf(end), start), isExact };
}

/** The most viewers in a second, the mean of all seconds, rounded to 2 decimals, and whose first second it has. */
const noViewers = { viewersAtStart: 0, peakViewers: 0, averageViewers: 0, newViewers: 0 };
const unknownViewers = { viewersAtStart: null, peakViewers: null, averageViewers: null, newViewers: null };

const minutesMax = 1_440;

function checkMinutes(minutes: number): number {
  if (minutes >= 0 && minutes <= minutesMax) return minutes;
  throw errorAt("VALIDATION_FAILED", mustBe("minutes", `from 0 to ${minutesMax}`, minutes), ["minutes"]);
}

const noSums = { sales: 0, orders: 0, quantity: 0, addToCart: 0 };

const lookUpSums = batchIntervals(
  async (
    db,
    { isOfMinutes, ...show }: ShowOfIntervals & { readonly isOfMinutes: boolean },
    intervals: readonly (Range & { readonly productId: string | null })[],
  ) => {
    const parts = new Parts(intervals);
    const products = intervals.flatMap(({ productId, ...range }) =>
      productId === null ? [] : [...parts.of(range)].map((part) => [part, productId] as const),
    );
    const statement = isOfMinutes ? minuteSums(show, parts) : eventSums(show, parts, products);
    const rows = await db.$queryRaw<SumsRow[]>(statement);
    const decimals = await decimalsOfStore(db, show.storeId);
    const keyOf = (part: number, productId = "") => `${part} ${productId}`;
    const known = new Map(rows.map((row) => [keyOf(row.part, row.productId ?? undefined), row]));
    const rowsOf = (interval: Range, productId?: string) =>
      [...parts.of(interval)].flatMap((part) => known.get(keyOf(part, productId)) ?? []);
    return ({ productId, ...range }) => {
      const own = rowsOf(range);
      const net = own.flatMap(({ sales, refunds = "0" }) => [sales, negative(refunds)]);
      const ofProduct = productId === null ? noSums : sumsOf(rowsOf(range, productId), decimals);
      return { ...sumsOf(own, decimals), netSales: moneySum(net, decimals), ofProduct };
    };
  },
  { ...noSums, netSales: 0, ofProduct: noSums },
);

function sumsOf(rows: readonly SumsRow[], decimals: number): typeof noSums {
  const sum = (of: (row: SumsRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const sales = rows.map((row) => row.sales);
  return {
    sales: moneySum(sales, decimals),
    orders: sum(({ orders }) => orders),
    quantity: sum(({ quantity = 0 }) => quantity),
    addToCart: sum(({ carts }) => carts),
  };
}

function negative(decimal: string): string {
  return decimal.startsWith("-") ? decimal.slice(1) : `-${decimal}`;
}

/** Intervals that begin further apart are read by statements of their own: a statement counts seconds from its first one in 32 bits. */
const eraSeconds = 2 ** 30;

const lookUpViewers = batchIntervals(
  async (db, show: ShowOfIntervals & { readonly era: number }, intervals: readonly Range[]) => {
    const parts = new Parts(intervals);
    const rows = await db.$queryRaw<ViewersRow[]>(viewersOfParts(show, parts));
    const known = new Map(rows.map((row) => [row.part, row]));
    return (interval) => {
      const own = [...parts.of(interval)].flatMap((part) => known.get(part) ?? []);
      const sum = (of: (row: ViewersRow) => number) => own.reduce((total, row) => total + of(row), 0);
      const hundredths = (sum(({ viewerSeconds }) => viewerSeconds) * 100) / (interval.until - interval.from); // a half stays one
      return {
        viewersAtStart: own[0]?.atStart ?? 0,
        peakViewers: own.reduce((most, { peak }) => Math.max(most, peak), 0),
        averageViewers: Math.round(hundredths) / 100,
        newViewers: sum(({ newViewers }) => newViewers),
      };
    };
  },
  noViewers,
);

const lookUpOrders = batchIntervals(
  async (
    db,
    { minutes, ...show }: ShowOfIntervals & { readonly minutes: number },
    intervals: readonly (Range & { readonly productId: string })[],
  ) => {
    const orders = intervals.map(({ from, until }) => ({ from, until: until + minutes * 60 + 1 }));
    const runs = { carts: joined(intervals), orders: joined(orders) };
    const statement = ordersAfterCarts(show, intervals, { minutes, runs });
    const rows = await db.$queryRaw<{ place: number; orders: number }[]>(statement);
    const known = new Map(rows.map((row) => [row.place, row.orders]));
    const places = new Map(intervals.map((interval, index) => [interval, index + 1]));
    return (interval) => known.get(places.get(interval) ?? 0) ?? 0;
  },
  0,
);

/**
 * Joins reads of intervals: one statement for each show, and whatever else is said of it.
 *
 * @param read returns the value of each of the intervals, which are not empty
 * @param nothing the value of an empty interval
 */
function batchIntervals<Show extends ShowOfIntervals, Interval extends Range, Value>(
  read: (db: Database, show: Show, intervals: readonly Interval[]) => Promise<(interval: Interval) => Value>,
  nothing: Value,
) {
  const lookUp = batchLookups<Value>(async (db, storeId, keys) => {
    const shows = new Map<string, Map<string, Interval>>();
    for (const key of keys) {
      const [show, interval] = JSON.parse(key) as [Show, Interval];
      const name = JSON.stringify(show);
      shows.set(name, (shows.get(name) ?? new Map<string, Interval>()).set(key, interval));
    }
    const values = new Map<string, Value>();
    for (const [show, byKey] of shows) {
      const intervals = [...byKey.values()];
      const valueOf = await asWideRead(db, storeId, () => read(db, JSON.parse(show) as Show, intervals));
      for (const [key, interval] of byKey) values.set(key, valueOf(interval));
    }
    return (key) => values.get(key) ?? nothing;
  });
  return async (db: Database, show: Show, interval: Interval): Promise<Value> =>
    interval.from === interval.until ? nothing : lookUp(db, show.storeId, JSON.stringify([show, interval]));
}
