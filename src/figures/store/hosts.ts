import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { changes } from "../../events/record/eventValues.sql.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import { hostOf, timesOf } from "../../shows/liveStream.js";
import { listMoments, spanOf } from "../../shows/moments/moments.js";
import { knownRange } from "../intervals/intervals.js";
import { during, firstViews, minuteSums, partOf } from "../intervals/intervals.sql.js";
import { Parts } from "../intervals/parts.js";
import { Exact, money, quotient } from "../show/kpis.js";
import { pagesOfShows } from "./storeFigures.js";
import type { StoreRange } from "./storeRange.js";

type Decimal = Prisma.Decimal;
type Host = NonNullable<ReturnType<typeof hostOf>>;

/** What happened in some time, exact. Net sales and viewers are null if they are unknown, or not asked for. */
interface Sums {
  readonly ms: number;
  readonly sales: Decimal;
  readonly orders: Decimal;
  readonly netSales: Decimal | null;
  readonly viewers: Decimal | null;
}

export interface HostSums extends Sums {
  /** As in the latest show or moment, which started at that time. */
  readonly host: Host;
  readonly latest: Date;
}

const hourMs = 3_600_000;
const rateDecimals = 2;
const unknown = new Exact(-Infinity);

const orders = {
  SALES_PER_HOUR: (sums: Sums) => perHour(sums.sales, sums),
  NET_SALES_PER_HOUR: (sums: Sums) => sums.netSales && perHour(sums.netSales, sums),
  ORDERS_PER_HOUR: (sums: Sums) => perHour(sums.orders, sums),
  VIEWERS_PER_HOUR: (sums: Sums) => sums.viewers && perHour(sums.viewers, sums),
  HOURS: ({ ms }: Sums) => new Exact(ms),
} as const;

export type HostOrder = keyof typeof orders;

/** The highest figure first, unknown ones last, then by e-mail address. */
export function rankHosts(hosts: ReadonlyMap<string, HostSums>, by: HostOrder): HostSums[] {
  const all = [...hosts].map(([key, sums]) => ({ key, sums, figure: orders[by](sums) ?? unknown }));
  const ranked = all.toSorted((a, b) => b.figure.comparedTo(a.figure) || (a.key < b.key ? -1 : 1));
  return ranked.map(({ sums }) => sums);
}

export type HostFigures = ReturnType<typeof figuresOfHost>;

/** Rounded. @param decimals those of amounts */
export function figuresOfHost(sums: HostSums, decimals: number) {
  const known = (value: Decimal | null, digits = decimals) => value && money(value, digits);
  return {
    host: sums.host,
    hours: money(quotient(new Exact(sums.ms), hourMs), rateDecimals),
    sales: money(sums.sales, decimals),
    netSales: known(sums.netSales),
    orders: sums.orders.toNumber(),
    viewers: known(sums.viewers),
    salesPerHour: money(orders.SALES_PER_HOUR(sums), decimals),
    netSalesPerHour: known(orders.NET_SALES_PER_HOUR(sums)),
    ordersPerHour: money(orders.ORDERS_PER_HOUR(sums), rateDecimals),
    viewersPerHour: known(orders.VIEWERS_PER_HOUR(sums), rateDecimals),
  };
}

function perHour(value: Decimal, { ms }: Sums): Decimal {
  return quotient(value.times(hourMs), ms);
}

/** `one` and `other` together, or what is left of one without the other. */
function added(one: Sums, other: Sums, sign: 1 | -1 = 1): Sums {
  const sum = (a: Decimal, b: Decimal) => a.plus(b.times(sign));
  const known = (a: Decimal | null, b: Decimal | null) => a && b && sum(a, b);
  return {
    ms: one.ms + sign * other.ms,
    sales: sum(one.sales, other.sales),
    orders: sum(one.orders, other.orders),
    netSales: known(one.netSales, other.netSales),
    viewers: known(one.viewers, other.viewers),
  };
}

/**
 * The hosts of the shows that started within a range, by their e-mail addresses in lower case. HOST moments count for their host, and all
 * else of a show for its own one: so hosts add up to the store.
 *
 * @param isOfMinutes whether neither net sales nor viewers are asked for
 */
export async function readHosts(
  db: Database,
  storeId: string,
  range: StoreRange,
  isOfMinutes: boolean,
): Promise<ReadonlyMap<string, HostSums>> {
  const hosts = new Map<string, HostSums>();
  const add = (host: Host, at: Date, sums: Sums) => {
    const key = host.email.toLowerCase();
    const known = hosts.get(key);
    const named = known !== undefined && known.latest > at ? known : { host, latest: at };
    hosts.set(key, { ...(known === undefined ? sums : added(known, sums)), host: named.host, latest: named.latest });
  };
  for await (const show of showsWithin(db, storeId, range)) {
    const { totals, shares } = show.hasMoments
      ? await asWideRead(db, storeId, () => readShares(db, show, isOfMinutes))
      : { totals: show, shares: [] };
    let left = sumsOf(totals, timesOf(show).durationSeconds * 1_000);
    for (const { host, startedAt, sums, msOfShow } of shares) {
      add(host, startedAt, sums);
      left = added(left, { ...sums, ms: msOfShow }, -1);
    }
    const own = hostOf(show);
    if (own !== null) add(own, show.startedAt, left);
  }
  return hosts;
}

/** Sums are text, to stay exact. */
type SumsRow = Readonly<Record<"sales" | "refunds" | "orders" | "viewers", string>>;

function sumsOf({ sales, refunds, orders: count, viewers }: SumsRow, ms: number, isKnown = true): Sums {
  const known = { netSales: new Exact(sales).minus(refunds), viewers: new Exact(viewers) };
  return {
    ms,
    sales: new Exact(sales),
    orders: new Exact(count),
    ...(isKnown ? known : { netSales: null, viewers: null }),
  };
}

type PartRow = SumsRow & { readonly part: number };
type Show = LiveStream & SumsRow & { readonly hasMoments: boolean };

const asText = Prisma.sql`orders::text AS orders, sales::text AS sales, refunds::text AS refunds, viewers::text AS viewers`;

function totalsOf(storeId: string, lsId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    coalesce(sum(orders), 0) AS orders, coalesce(sum(sales), 0) AS sales, coalesce(sum(refunds), 0) AS refunds,
      coalesce(sum(viewers) FILTER (WHERE channel = 'ANY'), 0) AS viewers
    FROM "LiveStreamTotal" AS t WHERE t."storeId" = ${storeId} AND t."liveStreamId" = ${lsId}`;
}

/** With their totals. */
async function* showsWithin(db: Database, storeId: string, range: StoreRange): AsyncGenerator<Show, void> {
  const select = Prisma.sql`
    SELECT s.*, ${asText}, EXISTS (
      SELECT FROM "ShowMoment" AS m WHERE m."storeId" = ${storeId} AND m.show = s.number AND m.kind = 'HOST') AS "hasMoments"
    FROM "LiveStream" AS s, LATERAL (SELECT ${totalsOf(storeId, Prisma.sql`s.id`)}) AS t`;
  for await (const shows of pagesOfShows<Show>(db, storeId, range, select)) yield* shows;
}

const noSums: SumsRow = { sales: "0", refunds: "0", orders: "0", viewers: "0" };

/** What happened in the HOST moments of a show that have lasted, and its totals at the same time. */
async function readShares(db: Database, show: Show, isOfMinutes: boolean) {
  const moments = (await listMoments(db, show)).flatMap((moment) => {
    const [host, { from, until }] = [hostOf(moment), spanOf(moment)];
    const isOfHost = moment.kind === "HOST" && host !== null && from < until;
    return isOfHost ? [{ host, from, until, range: knownRange(show, from, until) }] : [];
  });
  const ranges = moments.map(({ range }) => range).filter(({ from, until }) => from < until);
  const parts = ranges.length === 0 ? undefined : new Parts(ranges);
  const rows = parts === undefined ? [] : await db.$queryRaw<PartRow[]>(sumsOfParts(show, parts, isOfMinutes));
  const known = new Map(rows.map((row) => [row.part, row]));
  const showStart = show.startedAt.getTime();
  const showEnd = showStart + timesOf(show).durationSeconds * 1_000;
  const shares = moments.map(({ host, from, until, range }) => {
    const [part = -1] = parts?.of(range) ?? []; // one part each, because they do not overlap
    const [start, end] = [from.getTime(), until.getTime()];
    const sums = sumsOf(known.get(part) ?? noSums, end - start, range.isExact && !isOfMinutes);
    const msOfShow = Math.max(0, Math.min(end, showEnd) - Math.max(start, showStart));
    return { host, startedAt: from, sums, msOfShow };
  });
  return { totals: known.get(0) ?? show, shares };
}

/** The totals of a show as part 0, and the sums of its parts. Refunds and viewers are not in minutes. */
function sumsOfParts(show: Show, parts: Parts, isOfMinutes: boolean): Prisma.Sql {
  const { storeId, id, number } = show;
  const occurredAt = Prisma.sql`"occurredAt"`;
  const others = Prisma.sql`
    UNION ALL SELECT ${partOf(occurredAt, parts)}, 0, 0, ${changes.refunds(Prisma.sql`type`, Prisma.sql`value`)}, 0
    FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = ${number} AND type IN (4, 6) AND ${during(occurredAt, parts)}
    UNION ALL SELECT part, 0, 0, 0, 1 FROM (${firstViews(show, parts)}) AS v`;
  return Prisma.sql`
    SELECT part, ${asText} FROM (
      SELECT part, sum(orders) AS orders, sum(sales) AS sales, sum(refunds) AS refunds, sum(viewers) AS viewers FROM (
        SELECT 0 AS part, ${totalsOf(storeId, Prisma.sql`${id}`)}
        UNION ALL SELECT part, orders::numeric, sales::numeric, 0, 0 FROM (${minuteSums(show, parts)}) AS minutes
        ${isOfMinutes ? Prisma.empty : others}) AS parts
      GROUP BY part) AS sums`;
}
