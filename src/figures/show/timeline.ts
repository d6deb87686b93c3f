import { decimalsOfStore } from "../../stores/store.currency.js";
import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { errorAt } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { mustBe } from "../../lib/mustBe.js";
import { timestampOf } from "../../events/record/eventValues.sql.js";
import { epoch, wholeShowSeconds } from "../../events/record/spans.sql.js";
import { money } from "./kpis.js";
import { bucketsMax, minuteSeconds, partsOf, slotsOf, type TimelineSpan, wholeMinutes } from "./timeline.sql.js";
import { batchLookups } from "../../database/batchLookups.js";
import type { LiveStreamAnalytics } from "./kpis.read.js";
import { cachedWith } from "../../lib/cached.js";

export interface TimelineBucket {
  readonly startsAt: Date;
  /** The highest number of distinct active viewers in any minute. */
  readonly viewers: number;
  readonly carts: number;
  readonly orders: number;
  readonly sales: number;
}

const bucketSecondsMax = 86_400;
/** The show of the outer row. */
const lsId = Prisma.sql`s.id`;

interface TimelineArgs {
  readonly bucketSeconds: number;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/** Seconds since 1970. */
type BucketRow = readonly [startsAt: number, viewers: number, carts: number, orders: number, sales: string];

/** Reads buckets as one JSON text for each show, because reading up to 1,500 rows takes much longer than parsing it. */
const lookUpTimeline = batchShowReads<TimelineArgs, TimelineBucket[]>(async (db, storeId, ids, args) => {
  const { bucketSeconds, fromMs, untilMs } = args;
  const span = wholeMinutes({ from: dateOf(fromMs), until: dateOf(untilMs) });
  const parts = partsOf({ storeId, lsId, bucketSeconds, ...span });
  const read = () => db.$queryRaw<{ id: string; buckets: string | null }[]>`
    SELECT s.id, (
      SELECT json_agg(json_build_array("startsAt", viewers, carts, orders, sales) ORDER BY "startsAt")::text FROM (
        SELECT floor(extract(epoch FROM starts) / ${bucketSeconds}::int)::bigint * ${bucketSeconds}::int AS "startsAt",
          max(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales)::text AS sales
        FROM (${parts}) AS parts GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucketsMax}) AS b) AS buckets
    FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids})`;
  const rows = await asWideRead(db, storeId, read);
  const decimals = await decimalsOfStore(db, storeId);
  return new Map(rows.map(({ id, buckets }) => [id, bucketsOf(buckets, decimals)]));
}, []);

function bucketsOf(json: string | null, decimals: number): TimelineBucket[] {
  if (json === null) return [];
  return (JSON.parse(json) as BucketRow[]).map(([startsAt, viewers, carts, orders, sales]) => ({
    startsAt: new Date(startsAt * 1_000),
    viewers,
    carts,
    orders,
    sales: money(sales, decimals),
  }));
}

/**
 * Parts with any event, in order; the latest 1,500. One statement reads all shows that are requested together.
 *
 * @throws {AppError} VALIDATION_FAILED for a bucket that is not a multiple of a minute
 */
export async function readTimeline(
  db: Database,
  storeId: string,
  show: string,
  bucketSeconds: number,
  { from, until }: TimelineSpan = {},
): Promise<TimelineBucket[]> {
  if (bucketSeconds < minuteSeconds || bucketSeconds > bucketSecondsMax || bucketSeconds % minuteSeconds !== 0) {
    const message = mustBe("bucketSeconds", `a multiple of ${minuteSeconds}, up to ${bucketSecondsMax}`, bucketSeconds);
    throw errorAt("VALIDATION_FAILED", message, ["bucketSeconds"]);
  }
  const args = { bucketSeconds, fromMs: from?.getTime() ?? null, untilMs: until?.getTime() ?? null };
  return lookUpTimeline(db, storeId, show, args);
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

const lookUpPeak = batchShowReads<null, number>(async (db, storeId, ids) => {
  const rows = await db.$queryRaw<{ id: string; peak: number }[]>`
    SELECT s.id, coalesce(greatest(
      (SELECT viewers FROM "LiveStreamSpan" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
        AND seconds = ${wholeShowSeconds} AND "startsAt" = ${epoch}),
      (SELECT max(viewers) FROM (${slotsOf({ storeId, lsId })}) AS slots)), 0)::int AS peak
    FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids})`;
  return new Map(rows.map(({ id, peak }) => [id, peak]));
}, 0);

/** The highest number of distinct active viewers in any minute. */
export function readPeakViewers(db: Database, storeId: string, show: string): Promise<number> {
  return lookUpPeak(db, storeId, show, null);
}

const lookUpWatching = batchShowReads<{ readonly minute: number }, number>(async (db, storeId, ids, { minute }) => {
  const rows = await db.$queryRaw<{ id: string; viewers: number }[]>`
    SELECT s.id, coalesce((SELECT max(viewers) FROM (
      SELECT sum(viewers) AS viewers FROM "LiveStreamMinute" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
        AND minute >= ${timestampOf(minute - minuteSeconds)} AND minute <= ${timestampOf(minute)} GROUP BY minute) AS m), 0)::int AS viewers
    FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids})`;
  return new Map(rows.map(({ id, viewers }) => [id, viewers]));
}, 0);

/** Distinct viewers of the last full minute, or of the current one, which has only begun, if those are more. */
export function readWatchingNow(db: Database, storeId: string, show: string, nowMs = Date.now()): Promise<number> {
  const minute = Math.floor(nowMs / 1_000 / minuteSeconds) * minuteSeconds;
  return lookUpWatching(db, storeId, show, { minute });
}

export interface ProductFigures {
  readonly productId: string;
  readonly carts: number;
  readonly orders: number;
  readonly quantity: number;
  readonly sales: number;
}

type ProductOrder = "CARTS" | "ORDERS" | "QUANTITY" | "SALES";

const columns: Readonly<Record<ProductOrder, Prisma.Sql>> = {
  CARTS: Prisma.sql`sum(carts)`,
  ORDERS: Prisma.sql`sum(orders)`,
  QUANTITY: Prisma.sql`sum(quantity)`,
  SALES: Prisma.sql`sum(sales)`,
};

export interface TopProducts {
  readonly first: number;
  readonly by: ProductOrder;
}

type ProductRow = Omit<ProductFigures, "sales"> & { readonly id: string; readonly sales: string };

const lookUpTopProducts = batchShowReads<TopProducts, ProductFigures[]>(async (db, storeId, ids, { first, by }) => {
  const figure = columns[by];
  const read = () => db.$queryRaw<ProductRow[]>`
    SELECT s.id, p."productId", p.carts, p.orders, p.quantity, p.sales FROM "LiveStream" AS s, LATERAL (
      SELECT "productId", sum(carts)::int AS carts, sum(orders)::int AS orders, sum(quantity)::int AS quantity,
        sum(sales)::text AS sales, row_number() OVER (ORDER BY ${figure} DESC, "productId") AS place
      FROM (
        SELECT "productId", carts, orders, quantity, sales FROM "LiveStreamProduct"
        WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
        UNION ALL SELECT "productId", carts, orders, quantity, sales FROM "ShowProductSlot"
        WHERE "storeId" = ${storeId} AND show = s.number) AS parts
      GROUP BY "productId" HAVING ${figure} > 0 ORDER BY place LIMIT ${first}) AS p
    WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids}) ORDER BY s.id, p.place`;
  const rows = await asWideRead(db, storeId, read);
  const decimals = await decimalsOfStore(db, storeId);
  return byShow(rows, (row) => ({ ...row, sales: money(row.sales, decimals) }));
}, []);

/** Products with the highest figure, then by id, without those for which it is 0. */
export function readTopProducts(
  db: Database,
  storeId: string,
  show: string,
  { first, by }: TopProducts,
): Promise<ProductFigures[]> {
  return lookUpTopProducts(db, storeId, show, { first, by });
}

/**
 * Joins reads of shows with the same arguments into one statement.
 *
 * @param read returns the value of each show, or undefined
 * @param nothing the value for a show that was deleted in between
 */
function batchShowReads<Args, Value>(
  read: (db: Database, storeId: string, ids: string[], args: Args) => Promise<ReadonlyMap<string, Value>>,
  nothing: Value,
): (db: Database, storeId: string, id: string, args: Args) => Promise<Value> {
  const lookUp = batchLookups<Value>(async (db, storeId, keys) => {
    const byArgs = new Map<string, string[]>();
    for (const key of keys) {
      const [args, id] = keyParts(key);
      const ids = byArgs.get(args);
      if (ids === undefined) byArgs.set(args, [id]);
      else ids.push(id);
    }
    const found = new Map<string, ReadonlyMap<string, Value>>();
    for (const [args, ids] of byArgs) found.set(args, await read(db, storeId, ids, JSON.parse(args) as Args));
    return (key) => {
      const [args, id] = keyParts(key);
      return found.get(args)?.get(id) ?? nothing;
    };
  });
  return (db, storeId, id, args) => lookUp(db, storeId, JSON.stringify([JSON.stringify(args), id]));
}

function keyParts(key: string): readonly [args: string, id: string] {
  return JSON.parse(key) as [string, string];
}

/** Groups rows by show, in their order. */
function byShow<Row extends { readonly id: string }, Value>(
  rows: readonly Row[],
  valueOf: (row: Omit<Row, "id">) => Value,
): Map<string, Value[]> {
  const found = new Map<string, Value[]>();
  for (const { id, ...row } of rows) {
    const known = found.get(id);
    if (known === undefined) found.set(id, [valueOf(row)]);
    else known.push(valueOf(row));
  }
  return found;
}

/** A timeline from a minute on; times are in seconds since 1970. */
interface Line {
  readonly from: number;
  readonly buckets: readonly TimelineBucket[];
}

/**
 * `readTimeline` for everyone who holds the same analytics. Timelines of later subscribers differ only in their beginning: it reads at
 * most two of these, and takes the others from them.
 *
 * @throws {AppError} VALIDATION_FAILED as `readTimeline`
 */
export async function sharedTimeline(
  db: Database,
  analytics: LiveStreamAnalytics,
  bucketSeconds: number,
  span: TimelineSpan,
): Promise<readonly TimelineBucket[]> {
  const { storeId, id } = analytics;
  const { from, until } = wholeMinutes(span);
  const key = [bucketSeconds, String(until)];
  const line = (name: string, since: TimelineSpan["from"], start: number) =>
    cachedWith<Promise<Line>>(analytics, JSON.stringify([name, ...key]), async () => {
      return { from: start, buckets: await readTimeline(db, storeId, id, bucketSeconds, { ...span, from: since }) };
    });
  const isWhole = from === -Infinity || from % bucketSeconds === 0;
  // A part of its first bucket would be missing.
  if (!isWhole) return (await line(`timeline from ${from}`, span.from, from)).buckets;
  const first = await line("first timeline", span.from, from);
  if (first.from === from) return first.buckets;
  const covering = first.from < from ? first : await line("timeline", null, -Infinity);
  return covering.buckets.filter(({ startsAt }) => startsAt.getTime() >= from * 1_000);
}
