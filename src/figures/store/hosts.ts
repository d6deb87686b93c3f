import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import { changes, timestampOf } from "../../events/record/eventValues.sql.js";
import { hostOf, timesOf } from "../../shows/liveStream.js";
import { spanOf, withEnds } from "../../shows/moments/moments.js";
import { knownRange } from "../intervals/intervals.js";
import { minuteSums } from "../intervals/intervals.sql.js";
import { Parts } from "../intervals/parts.js";
import { Exact, money } from "../show/kpis.js";
import { startedWithin } from "./storeFigures.js";
import type { StoreRange } from "./storeRange.js";

type Decimal = Prisma.Decimal;

interface Host {
  readonly name: string;
  readonly email: string;
}

/** What happened in some time. Net sales and viewers are null if they are unknown, or not wanted. */
interface Share {
  readonly ms: number;
  readonly sales: Decimal;
  readonly orders: number;
  readonly netSales: Decimal | null;
  readonly viewers: number | null;
}

/** What happened in all the time of a host, exact. */
export interface HostTotals extends Share {
  /** As in the latest show or moment. */
  readonly host: Host;
  /** When that started. */
  readonly latest: Date;
}

/** What has to be read for figures that minutes do not have. */
export interface WantedOfHosts {
  readonly netSales: boolean;
  readonly viewers: boolean;
}

export interface HostFigures {
  readonly host: Host;
  readonly hours: number;
  readonly sales: number;
  readonly netSales: number | null;
  readonly orders: number;
  readonly viewers: number | null;
  readonly salesPerHour: number;
  readonly netSalesPerHour: number | null;
  readonly ordersPerHour: number;
  readonly viewersPerHour: number | null;
}

const hourMs = 3_600_000;
const rateDecimals = 2;
/** How many shows are read at once, each of which may have 2,000 moments. */
const pageShows = 200;

const nothing: Share = { ms: 0, sales: new Exact(0), orders: 0, netSales: new Exact(0), viewers: 0 };

const scores = {
  SALES_PER_HOUR: ({ sales, ms }: Share) => perHour(sales, ms),
  NET_SALES_PER_HOUR: ({ netSales, ms }: Share) => netSales && perHour(netSales, ms),
  ORDERS_PER_HOUR: ({ orders, ms }: Share) => perHour(orders, ms),
  VIEWERS_PER_HOUR: ({ viewers, ms }: Share) => (viewers === null ? null : perHour(viewers, ms)),
  HOURS: ({ ms }: Share) => new Exact(ms),
} as const;

export type HostOrder = keyof typeof scores;

/** The first hosts, the highest figure first, unknown ones last, then by e-mail address. */
export function topHosts(
  hosts: ReadonlyMap<string, HostTotals>,
  { first, by, decimals }: { readonly first: number; readonly by: HostOrder; readonly decimals: number },
): HostFigures[] {
  const ranked = [...hosts].map(([key, totals]) => ({ key, totals, score: scores[by](totals) }));
  const sorted = ranked.toSorted((a, b) => {
    const order =
      a.score && b.score ? b.score.comparedTo(a.score) : Number(a.score === null) - Number(b.score === null);
    return order || (a.key < b.key ? -1 : 1);
  });
  return sorted.slice(0, first).map(({ totals }) => figuresOf(totals, decimals));
}

function figuresOf(totals: HostTotals, decimals: number): HostFigures {
  const { host, ms, sales, netSales, orders, viewers } = totals;
  const rounded = (value: Decimal | null, digits = decimals) => value && money(value, digits);
  return {
    host,
    hours: money(new Exact(ms).div(hourMs), rateDecimals),
    sales: money(sales, decimals),
    netSales: rounded(netSales),
    orders,
    viewers,
    salesPerHour: money(scores.SALES_PER_HOUR(totals), decimals),
    netSalesPerHour: rounded(scores.NET_SALES_PER_HOUR(totals)),
    ordersPerHour: money(scores.ORDERS_PER_HOUR(totals), rateDecimals),
    viewersPerHour: rounded(scores.VIEWERS_PER_HOUR(totals), rateDecimals),
  };
}

function perHour(value: Decimal | number, ms: number): Decimal {
  return ms === 0 ? new Exact(0) : new Exact(value).times(hourMs).div(ms);
}

/**
 * The hosts of the shows that started within a range, by their e-mail addresses in lower case. HOST moments count for their host, and all
 * else of a show for its own one: so hosts add up to the store.
 */
export async function readHosts(
  db: Database,
  storeId: string,
  range: StoreRange,
  wanted: WantedOfHosts,
): Promise<ReadonlyMap<string, HostTotals>> {
  const hosts = new Map<string, HostTotals>();
  const add = (host: Host, at: Date, share: Share) => {
    const key = host.email.toLowerCase();
    const known = hosts.get(key);
    const newest = known !== undefined && known.latest > at ? known : { host, latest: at };
    hosts.set(key, { ...plus(known ?? nothing, share), host: newest.host, latest: newest.latest });
  };
  for await (const { show, moments, totals } of sharesOf(db, storeId, range, wanted)) {
    for (const { host, startedAt, share } of moments) add(host, startedAt, share);
    const own = hostOf(show);
    if (own !== null) add(own, show.startedAt, moments.reduce(withoutMoment, totals));
  }
  return hosts;
}

function plus(one: Share, other: Share): Share {
  const { netSales, viewers } = one;
  return {
    ms: one.ms + other.ms,
    sales: one.sales.plus(other.sales),
    orders: one.orders + other.orders,
    netSales: netSales && other.netSales && netSales.plus(other.netSales),
    viewers: viewers === null || other.viewers === null ? null : viewers + other.viewers,
  };
}

/** What is left of a show's figures. */
function withoutMoment(left: Share, { msOfShow, share }: SharedMoment): Share {
  const { sales, netSales, orders, viewers } = share;
  const negative = { sales: sales.negated(), netSales: netSales && netSales.negated(), orders: -orders };
  return plus(left, { ...negative, ms: -msOfShow, viewers: viewers === null ? null : -viewers });
}

type Show = Pick<
  LiveStream,
  "storeId" | "id" | "number" | "status" | "startedAt" | "durationSeconds" | "hostName" | "hostEmail" | "prunedBefore"
>;

/** The time of a HOST moment. */
interface HostSpan {
  readonly host: Host;
  readonly startedAt: Date;
  readonly from: number;
  readonly until: number;
  /** How much of it lies within the show. */
  readonly msOfShow: number;
}

interface SharedMoment extends HostSpan {
  readonly share: Share;
}

/** Each show with its totals, and what happened in its HOST moments. These are read first, so that what happens meanwhile is not missing. */
async function* sharesOf(db: Database, storeId: string, range: StoreRange, wanted: WantedOfHosts) {
  let after = { startedAt: range.from, id: "" };
  for (;;) {
    const now = Date.now();
    const shows = await asWideRead(db, storeId, () => listShows(db, storeId, range, after));
    const spans = await asWideRead(db, storeId, () => listSpans(db, storeId, shows, now));
    const moments = new Map<Show, SharedMoment[]>();
    for (const [show, ofShow] of spans) {
      moments.set(show, await asWideRead(db, storeId, () => readMoments(db, show, ofShow, wanted)));
    }
    const ids = shows.map(({ id }) => id);
    const totals = await asWideRead(db, storeId, () => readTotals(db, storeId, ids));
    for (const show of shows) {
      const ms = timesOf(show, now).durationSeconds * 1_000;
      yield { show, moments: moments.get(show) ?? [], totals: { ...(totals.get(show.id) ?? nothing), ms } };
    }
    const last = shows.at(-1);
    if (last === undefined || shows.length < pageShows) return;
    after = last;
  }
}

function listShows(
  db: Database,
  storeId: string,
  range: StoreRange,
  after: Pick<Show, "id" | "startedAt">,
): Promise<Show[]> {
  const { id, startedAt } = after;
  return db.$queryRaw<Show[]>`
    SELECT s."storeId", s.id, s.number, s.status, s."startedAt", s."durationSeconds", s."hostName", s."hostEmail", s."prunedBefore"
    FROM "LiveStream" AS s WHERE ${startedWithin(storeId, { ...range, from: startedAt })}
      AND (s."startedAt" > ${startedAt.toISOString()}::timestamptz OR s.id > ${id})
    ORDER BY s."startedAt", s.id LIMIT ${pageShows}::int`;
}

/** Of shows with HOST moments that have lasted. */
async function listSpans(db: Database, storeId: string, shows: readonly Show[], now: number) {
  const rows = await db.showMoment.findMany({
    where: { storeId, kind: "HOST", show: { in: shows.map(({ number }) => number) } },
    orderBy: [{ startedAt: "asc" }, { id: "asc" }],
  });
  const byShow = new Map<number, typeof rows>();
  for (const row of rows) {
    const known = byShow.get(row.show);
    if (known === undefined) byShow.set(row.show, [row]);
    else known.push(row);
  }
  return shows.flatMap((show) => {
    const spans = spansOf(show, byShow.get(show.number) ?? [], now);
    return spans.length === 0 ? [] : [[show, spans] as const];
  });
}

function spansOf(show: Show, rows: Parameters<typeof withEnds>[0], now: number): HostSpan[] {
  const { endedAt, durationSeconds } = timesOf(show, now);
  const start = show.startedAt.getTime();
  return withEnds(rows, endedAt).flatMap((moment) => {
    const host = hostOf(moment);
    const span = spanOf(moment, now);
    const [from, until] = [wholeSecond(span.from), wholeSecond(span.until)];
    if (host === null || from >= until) return [];
    const msOfShow = Math.max(0, Math.min(until, start + durationSeconds * 1_000) - Math.max(from, start));
    return [{ host, startedAt: moment.startedAt, from, until, msOfShow }];
  });
}

function wholeSecond(time: Date): number {
  return Math.floor(time.getTime() / 1_000) * 1_000;
}

interface PartRow {
  readonly part: number;
  readonly orders: number;
  readonly sales: string;
  readonly refunds: string;
  readonly viewers: number;
}

/** Each moment is one part, because HOST moments do not overlap. */
async function readMoments(
  db: Database,
  show: Show,
  spans: readonly HostSpan[],
  wanted: WantedOfHosts,
): Promise<SharedMoment[]> {
  const moments = spans.map((span) => ({ span, range: knownRange(show, new Date(span.from), new Date(span.until)) }));
  const ranges = moments.map(({ range }) => range).filter(({ from, until }) => from < until);
  const parts = ranges.length === 0 ? undefined : new Parts(ranges);
  const rows = parts === undefined ? [] : await db.$queryRaw<PartRow[]>(sumsOfParts(show, parts, wanted));
  const known = new Map(rows.map((row) => [row.part, row]));
  return moments.map(({ span, range: { isExact, ...range } }) => {
    const [part = 0] = parts?.of(range) ?? [];
    const { orders, refunds, viewers, ...row } = known.get(part) ?? { orders: 0, sales: "0", refunds: "0", viewers: 0 };
    const sales = new Exact(row.sales);
    const netSales = isExact && wanted.netSales ? sales.minus(refunds) : null;
    const share = {
      ms: span.until - span.from,
      sales,
      orders,
      netSales,
      viewers: isExact && wanted.viewers ? viewers : null,
    };
    return { ...span, share };
  });
}

/** Refunds and new viewers are only right in parts whose events are stored. */
function sumsOfParts(show: Show, parts: Parts, wanted: WantedOfHosts): Prisma.Sql {
  const { storeId, number } = show;
  const bounds = parts.bounds.map((second) => new Date(second * 1_000).toISOString());
  const partOf = (time: Prisma.Sql) => Prisma.sql`width_bucket(${time}, ${bounds}::timestamptz[])`;
  const within = (time: Prisma.Sql) =>
    Prisma.sql`${time} >= ${timestampOf(parts.from)} AND ${time} < ${timestampOf(parts.until)}`;
  const [occurredAt, firstViewAt] = [Prisma.sql`e."occurredAt"`, Prisma.sql`v."firstViewAt"`];
  const refunds = Prisma.sql`
    UNION ALL SELECT ${partOf(occurredAt)}, 0, 0, ${changes.refunds(Prisma.sql`e.type`, Prisma.sql`e.value`)}, 0 FROM "ShowEvent" AS e
    WHERE e."storeId" = ${storeId} AND e.show = ${number} AND e.type IN (4, 6) AND ${within(occurredAt)}`;
  const viewers = Prisma.sql`
    UNION ALL SELECT ${partOf(firstViewAt)}, 0, 0, 0, count(*) FROM "ShowViewer" AS v
    WHERE v."storeId" = ${storeId} AND v.show = ${number} AND ${within(firstViewAt)} GROUP BY 1`;
  return Prisma.sql`
    SELECT part, sum(orders)::float8 AS orders, sum(sales)::text AS sales, sum(refunds)::text AS refunds, sum(viewers)::float8 AS viewers
    FROM (
      SELECT part, orders, sales::numeric AS sales, 0 AS refunds, 0 AS viewers FROM (${minuteSums(show, parts)}) AS minutes
      ${wanted.netSales ? refunds : Prisma.empty} ${wanted.viewers ? viewers : Prisma.empty}) AS sums
    GROUP BY part`;
}

async function readTotals(db: Database, storeId: string, ids: readonly string[]): Promise<ReadonlyMap<string, Share>> {
  const rows = await db.$queryRaw<(Omit<PartRow, "part"> & { readonly id: string })[]>`
    SELECT t."liveStreamId" AS id, sum(t.orders)::float8 AS orders, sum(t.sales)::text AS sales, sum(t.refunds)::text AS refunds,
      coalesce(sum(t.viewers) FILTER (WHERE t.channel = 'ANY'), 0)::float8 AS viewers
    FROM "LiveStreamTotal" AS t WHERE t."storeId" = ${storeId} AND t."liveStreamId" = ANY(${[...ids]}) GROUP BY 1`;
  return new Map(
    rows.map(({ id, orders, refunds, viewers, ...row }) => {
      const sales = new Exact(row.sales);
      return [id, { ms: 0, sales, orders, netSales: sales.minus(refunds), viewers }];
    }),
  );
}
