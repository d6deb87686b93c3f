import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import { type Kpis, kpisOf } from "../kpis/kpis.js";
import { analyticsColumns, analyticsOf, type AnalyticsRow, type LiveStreamAnalytics } from "../kpis/kpis.read.js";
import { channelTotals, type KpiColumns } from "../kpis/kpis.sql.js";
import type { StoreRange } from "./storeRange.js";

export interface StoreFigures {
  readonly showCount: number;
  /** ISO 4217. */
  readonly currency: string | null;
  readonly kpis: Kpis;
}

/** More devices count as `other`: those with the fewest viewers. */
const devicesMax = 1_000;

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
        SELECT device, sum(viewers)::bigint AS viewers FROM (
          SELECT CASE WHEN row_number() OVER (ORDER BY sum(viewers) DESC, device) <= ${devicesMax}::int THEN device ELSE 'other' END AS device,
            sum(viewers) AS viewers
          FROM shows JOIN "LiveStreamDevice" AS d ON d."storeId" = ${storeId} AND d."liveStreamId" = shows.id
          GROUP BY device HAVING sum(viewers) > 0) AS named
        GROUP BY device) AS d) AS devices`;
  const { showCount, totals, devices, currency } = row;
  return { showCount, currency, kpis: kpisOf(totals, devices, currency) };
}

const seen = Prisma.sql`sum(t.viewers) FILTER (WHERE t.channel IN ('LIVE', 'REPLAY'))`;

/** Exact, unlike rates, which are rounded. */
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

/** A list of its own of the same shows: what is read of each of them is kept with the list. */
export function asList(shows: readonly LiveStreamAnalytics[]): LiveStreamAnalytics[] {
  const list: LiveStreamAnalytics[] = [];
  for (const show of shows) list.push({ ...show, list });
  return list;
}

function startedWithin(storeId: string, { from, until }: StoreRange): Prisma.Sql {
  return Prisma.sql`s."storeId" = ${storeId} AND s.status <> 'SCHEDULED'
    AND s."startedAt" >= ${from.toISOString()}::timestamptz AND s."startedAt" < ${until.toISOString()}::timestamptz`;
}
