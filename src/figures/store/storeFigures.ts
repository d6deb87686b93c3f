import type { Database } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import type { OpenRange } from "../../lib/dateRange.js";
import { showTotals, type ShowTotals } from "../show/kpis.js";
import {
  analyticsColumns,
  analyticsOf,
  type AnalyticsRow,
  channelTotals,
  type KpiColumns,
  type LiveStreamAnalytics,
  sourceTotals,
} from "../show/kpis.read.js";
import type { StoreRange } from "./storeRange.js";

export interface StoreFigures {
  readonly showCount: number;
  /** ISO 4217. */
  readonly currency: string | null;
  readonly totals: ShowTotals;
}

/** Beyond this, the devices with the fewest viewers count as `other`. */
const devicesMax = 1_000;
const sourcesMax = 50;

/** The groups of `shows` by name; names beyond a limit become `other`. */
function groups(storeId: string, where: Prisma.Sql, max: number): Prisma.Sql {
  return Prisma.sql`
    SELECT CASE WHEN row_number() OVER (ORDER BY sum(viewers) DESC, name) <= ${max}::int THEN name ELSE 'other' END AS name,
      sum(viewers) AS viewers, sum(orders) AS orders, sum(sales) AS sales
    FROM shows JOIN "LiveStreamGroup" AS g ON g."storeId" = ${storeId} AND g."liveStreamId" = shows.id
    WHERE ${where} GROUP BY name`;
}

/** Sums up the totals of all shows that started within a range. */
export async function readStoreFigures(db: Database, storeId: string, range: StoreRange): Promise<StoreFigures> {
  const [row] = await db.$queryRaw<[KpiColumns & Pick<StoreFigures, "showCount">]>`
    WITH shows AS MATERIALIZED (SELECT s.id FROM "LiveStream" AS s WHERE ${startedWithin(storeId, range)})
    SELECT (SELECT count(*)::int FROM shows) AS "showCount",
      (SELECT currency FROM "Store" WHERE id = ${storeId}) AS currency,
      (SELECT coalesce(json_agg(t), '[]') FROM (
        SELECT ${channelTotals} FROM shows JOIN "LiveStreamTotal" AS t ON t."storeId" = ${storeId} AND t."liveStreamId" = shows.id
        GROUP BY channel) AS t) AS totals,
      (SELECT coalesce(json_agg(d), '[]') FROM (
        SELECT name AS device, sum(viewers)::bigint AS viewers
        FROM (${groups(storeId, Prisma.sql`g.kind <> 'SOURCE'`, devicesMax)}) AS named GROUP BY name HAVING sum(viewers) > 0) AS d) AS devices,
      (SELECT coalesce(json_agg(f), '[]') FROM (
        SELECT name AS source, ${sourceTotals}
        FROM (${groups(storeId, Prisma.sql`g.kind = 'SOURCE'`, sourcesMax)}) AS named GROUP BY name) AS f) AS sources`;
  const { showCount, totals, devices, currency, sources } = row;
  return { showCount, currency, totals: showTotals(totals, devices, currency, sources) };
}

const seen = Prisma.sql`sum(t.viewers) FILTER (WHERE t.channel IN ('LIVE', 'REPLAY'))`;

/** Exact, unlike the rounded rates. */
const scores = {
  SALES: Prisma.sql`sum(t.sales)`,
  ORDERS: Prisma.sql`sum(t.orders)`,
  VIEWERS: seen,
  CONVERSION_RATE: Prisma.sql`sum(t.orders) / nullif(sum(t.viewers) FILTER (WHERE t.channel = 'ANY'), 0)`,
  AVERAGE_VIEW_TIME: Prisma.sql`sum(t."viewSeconds") / nullif(${seen}, 0)`,
} as const;

export type ShowOrder = keyof typeof scores;

/** Shows that started within a range, highest first, then by id. */
export async function readTopShows(
  db: Database,
  storeId: string,
  range: StoreRange,
  { first, by }: { readonly first: number; readonly by: ShowOrder },
): Promise<LiveStreamAnalytics[]> {
  const rows = await db.$queryRaw<AnalyticsRow[]>`
    WITH top AS MATERIALIZED (
      SELECT s.id, coalesce(${scores[by]}, 0) AS score
      FROM "LiveStream" AS s LEFT JOIN "LiveStreamTotal" AS t ON t."storeId" = ${storeId} AND t."liveStreamId" = s.id
      WHERE ${startedWithin(storeId, range)} GROUP BY s.id ORDER BY score DESC, s.id LIMIT ${first}::int)
    SELECT ${analyticsColumns(storeId)} FROM top JOIN "LiveStream" AS s ON s."storeId" = ${storeId} AND s.id = top.id
    ORDER BY top.score DESC, s.id`;
  return asList(rows.map((row) => analyticsOf(storeId, row)));
}

/** A new list of the same shows, because what is read about them is cached with their list. */
export function asList(shows: readonly LiveStreamAnalytics[]): LiveStreamAnalytics[] {
  const list: LiveStreamAnalytics[] = [];
  for (const show of shows) list.push({ ...show, list });
  return list;
}

const showsPerPage = 200;

/**
 * All shows that started in this time, in the order of their start, then of their ids: in pages, at least one, which may be empty.
 *
 * @param select a SELECT of shows `s`, without its conditions
 */
export async function* pagesOfShows<Row extends Pick<LiveStream, "startedAt" | "id">>(
  db: Database,
  storeId: string,
  range: OpenRange,
  select: Prisma.Sql,
  signal?: AbortSignal,
): AsyncGenerator<readonly Row[], void> {
  let isNext = Prisma.empty;
  for (;;) {
    const read = () => db.$queryRaw<Row[]>`
      ${select} WHERE ${startedWithin(storeId, range)} ${isNext} ORDER BY s."startedAt", s.id LIMIT ${showsPerPage}::int`;
    const rows = await asWideRead(db, storeId, read, signal);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < showsPerPage) return;
    isNext = Prisma.sql`AND (s."startedAt", s.id) > (${last.startedAt.toISOString()}::timestamptz, ${last.id})`;
  }
}

/** Whether a show `s` started in this time. */
function startedWithin(storeId: string, { from, until }: OpenRange): Prisma.Sql {
  const isAfter = from ? Prisma.sql`AND s."startedAt" >= ${from.toISOString()}::timestamptz` : Prisma.empty;
  const isBefore = until ? Prisma.sql`AND s."startedAt" < ${until.toISOString()}::timestamptz` : Prisma.empty;
  return Prisma.sql`s."storeId" = ${storeId} AND s.status <> 'SCHEDULED' ${isAfter} ${isBefore}`;
}
