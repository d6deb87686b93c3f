import { batchLookups } from "../../database/batchLookups.js";
import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { errorAt } from "../../errors.js";
import type { LiveStream } from "../../generated/prisma/client.js";
import { mustBe } from "../../lib/mustBe.js";
import { findLiveStream } from "../../shows/liveStream.js";
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
export interface IntervalFigures {
  /** Its length. */
  readonly seconds: number;
  /** False if events that occurred in it were removed: then its ends are those of minutes, and only sums of minutes are known. */
  readonly isExact: boolean;
  readonly sums: () => Promise<IntervalSums>;
  readonly viewers: () => Promise<IntervalViewers>;
  /** Of the product that was shown; null if none was, or if the interval is not exact. */
  readonly ofProduct: ProductInInterval | null;
}

interface ProductInInterval {
  readonly sums: () => Promise<Sums>;
  /** Orders of the product by viewers who put it into the cart in the interval, at most so many minutes after they did. */
  readonly ordersWithin: (minutes: number) => Promise<number>;
}

interface Sums {
  readonly sales: number;
  readonly orders: number;
  readonly quantity: number;
  readonly addToCart: number;
}

interface AllSums extends Sums {
  readonly netSales: number;
  readonly ofProduct: Sums;
}

/** Net sales and quantity are null if only what minutes have was asked for, or is known. */
export type IntervalSums = Omit<AllSums, "netSales" | "quantity"> & Record<"netSales" | "quantity", number | null>;

/** The most viewers in a second, the mean of all seconds, rounded to 2 decimals, and whose first second it has; null if it is not exact. */
export type IntervalViewers = Readonly<
  Record<"viewersAtStart" | "peakViewers" | "averageViewers" | "newViewers", number | null>
>;

function sameViewers(value: 0 | null): IntervalViewers {
  return { viewersAtStart: value, peakViewers: value, averageViewers: value, newViewers: value };
}

interface Wanted {
  readonly from: Date;
  readonly until: Date;
  readonly productId?: string | null;
  /** Whether carts, orders and sales suffice, which minutes have. */
  readonly isOfMinutes: boolean;
}

/** The figures of an interval, from one second until another. @throws {AppError} LIVE_STREAM_NOT_FOUND */
export async function readInterval(
  db: Database,
  storeId: string,
  lsId: string,
  { from, until, productId = null, isOfMinutes }: Wanted,
): Promise<IntervalFigures> {
  const show = await findLiveStream(db, storeId, lsId);
  const { isExact, ...range } = knownRange(show, from, until);
  const product = isExact ? productId : null;
  const key = (more: object) => JSON.stringify({ lsId, number: show.number, ...range, ...more });
  const hasAll = isExact && !isOfMinutes;
  const sums = async () => {
    const read = await lookUpSums(db, storeId, key({ productId: product, isOfMinutes: !hasAll }));
    return hasAll ? read : { ...read, netSales: null, quantity: null };
  };
  return {
    seconds: range.until - range.from,
    isExact,
    sums,
    viewers: async () => (isExact ? lookUpViewers(db, storeId, key({})) : sameViewers(null)),
    ofProduct:
      product === null
        ? null
        : {
            sums: async () => (await sums()).ofProduct,
            ordersWithin: (minutes) =>
              lookUpOrders(db, storeId, key({ productId: product, minutes: checkMinutes(minutes) })),
          },
  };
}

type PrunedShow = Pick<LiveStream, "prunedBefore">;

/** The seconds of a show whose sums are known for an interval. It is exact if none of its events were removed. */
export function knownRange(show: PrunedShow, from: Date, until: Date): Range & { readonly isExact: boolean } {
  const [start, end] = [boundOf(from, show), boundOf(until, show)];
  const isExact = start.isExact && end.isExact && !isBeforeCutoff(start.second, show);
  return { from: start.second, until: Math.max(end.second, start.second), isExact };
}

/**
 * The second of a moment, or that of its minute, if events of that minute were removed. Intervals that follow each other have the same
 * bound, so they still add up.
 */
function boundOf(moment: Date, show: PrunedShow): { readonly second: number; readonly isExact: boolean } {
  const second = Math.floor(moment.getTime() / 1_000);
  const minute = Math.floor(second / 60) * 60;
  return second === minute || !isBeforeCutoff(minute, show)
    ? { second, isExact: true }
    : { second: minute, isExact: false };
}

function isBeforeCutoff(second: number, { prunedBefore }: PrunedShow): boolean {
  return prunedBefore !== null && second * 1_000 < prunedBefore.getTime();
}

const minutesMax = 1_440;

function checkMinutes(minutes: number): number {
  if (minutes >= 0 && minutes <= minutesMax) return minutes;
  throw errorAt("VALIDATION_FAILED", mustBe("minutes", `from 0 to ${minutesMax}`, minutes), ["minutes"]);
}

interface Key extends Range {
  readonly lsId: string;
  readonly number: number;
}

interface SumsKey extends Key {
  readonly productId: string | null;
  readonly isOfMinutes: boolean;
}

interface OrdersKey extends Key {
  readonly productId: string;
  readonly minutes: number;
}

const noSums = { sales: 0, orders: 0, quantity: 0, addToCart: 0 };

const lookUpSums = batchIntervals<SumsKey, AllSums>(
  ({ isOfMinutes }) => String(isOfMinutes),
  async (db, show, intervals) => {
    const [parts, isOfMinutes] = [new Parts(intervals), intervals[0]?.isOfMinutes === true];
    const products = intervals.flatMap((interval) => {
      const { productId } = interval;
      return productId === null || isOfMinutes ? [] : [...parts.of(interval)].map((part) => [part, productId] as const);
    });
    const statement = isOfMinutes ? minuteSums(show, parts) : eventSums(show, parts, products);
    const rows = await db.$queryRaw<SumsRow[]>(statement);
    const decimals = await decimalsOfStore(db, show.storeId);
    const known = new Map(rows.map((row) => [keyOf(row.part, row.productId ?? null), row]));
    const rowsOf = (interval: Range, productId: string | null) =>
      [...parts.of(interval)].flatMap((part) => known.get(keyOf(part, productId)) ?? []);
    return (interval) => {
      const [own, { productId }] = [rowsOf(interval, null), interval];
      const ofProduct = productId === null ? noSums : sumsOf(rowsOf(interval, productId), decimals);
      return { ...sumsOf(own, decimals), netSales: netSalesOf(own, decimals), ofProduct };
    };
  },
  { ...noSums, netSales: 0, ofProduct: noSums },
);

function keyOf(part: number, productId: string | null): string {
  return productId === null ? String(part) : `${part} ${productId}`;
}

function sumsOf(rows: readonly SumsRow[], decimals: number): Sums {
  const sum = (of: (row: SumsRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    sales: moneySum(
      rows.map(({ sales }) => sales),
      decimals,
    ),
    orders: sum(({ orders }) => orders),
    quantity: sum(({ quantity = 0 }) => quantity),
    addToCart: sum(({ carts }) => carts),
  };
}

function netSalesOf(rows: readonly SumsRow[], decimals: number): number {
  const amounts = rows.flatMap(({ sales, refunds = "0" }) => [sales, negative(refunds)]);
  return moneySum(amounts, decimals);
}

function negative(decimal: string): string {
  return decimal.startsWith("-") ? decimal.slice(1) : `-${decimal}`;
}

/** Seconds of a statement are integers of 32 bits, which have twice these and the longest interval. */
const viewersSeconds = 2 ** 30;

const lookUpViewers = batchIntervals<Key, IntervalViewers>(
  ({ from }) => String(Math.floor(from / viewersSeconds)),
  async (db, show, intervals) => {
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
  sameViewers(0),
);

const lookUpOrders = batchIntervals<OrdersKey, number>(
  ({ minutes }) => String(minutes),
  async (db, show, intervals) => {
    const minutes = intervals[0]?.minutes ?? 0;
    const orders = intervals.map(({ from, until }) => ({ from, until: until + minutes * 60 + 1 }));
    const runs = { carts: joined(intervals), orders: joined(orders) };
    const rows = await db.$queryRaw<{ place: number; orders: number }[]>(
      ordersAfterCarts(show, intervals, { minutes, runs }),
    );
    const known = new Map(rows.map((row) => [row.place, row.orders]));
    const places = new Map(intervals.map((interval, index) => [interval, index + 1]));
    return (interval) => known.get(places.get(interval) ?? 0) ?? 0;
  },
  0,
);

/**
 * Joins reads of intervals: one statement for each show and group.
 *
 * @param groupOf reads with other groups need another statement
 * @param read returns the value of each of the intervals, which are not empty
 * @param nothing the value of an empty interval
 */
function batchIntervals<IntervalKey extends Key, Value>(
  groupOf: (key: IntervalKey) => string,
  read: (
    db: Database,
    show: ShowOfIntervals,
    intervals: readonly IntervalKey[],
  ) => Promise<(interval: IntervalKey) => Value>,
  nothing: Value,
) {
  return batchLookups<Value>(async (db, storeId, keys) => {
    const groups = new Map<string, Map<string, IntervalKey>>();
    for (const key of keys) {
      const interval = JSON.parse(key) as IntervalKey;
      if (interval.from === interval.until) continue;
      const name = JSON.stringify([interval.lsId, groupOf(interval)]);
      groups.set(name, (groups.get(name) ?? new Map<string, IntervalKey>()).set(key, interval));
    }
    const values = new Map<string, Value>();
    for (const intervals of groups.values()) {
      const all = [...intervals.values()];
      const { lsId: id = "", number = 0 } = all[0] ?? {};
      const valueOf = await asWideRead(db, storeId, () => read(db, { storeId, id, number }, all));
      for (const [key, interval] of intervals) values.set(key, valueOf(interval));
    }
    return (key) => values.get(key) ?? nothing;
  });
}
