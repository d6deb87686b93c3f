import type { Database } from "../../database/client.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import { isStorable } from "../../lib/text.js";
import { type ChannelTotals, type DeviceTotal, showTotals, type ShowTotals, type SourceTotal } from "./kpis.js";
import { hostOf, liveStreamNotFound, type LiveStreamStatus, timesOf } from "../../shows/liveStream.js";

export interface LiveStreamAnalytics {
  readonly storeId: string;
  readonly id: string;
  readonly name: string;
  readonly status: LiveStreamStatus;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly durationSeconds: number;
  readonly host: { readonly name: string; readonly email: string } | null;
  readonly totals: ShowTotals;
  readonly devices: readonly DeviceTotal[];
  /** The list that contains this show, if any. */
  readonly list?: readonly LiveStreamAnalytics[];
}

export type AnalyticsRow = Pick<
  LiveStream,
  "id" | "name" | "startedAt" | "durationSeconds" | "hostName" | "hostEmail"
> &
  KpiColumns & { readonly status: LiveStreamStatus };

/**
 * Reads totals, so its cost does not depend on the number of events.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, also for another store's show
 */
export async function readAnalytics(db: Database, storeId: string, id: string): Promise<LiveStreamAnalytics> {
  const [show] = isStorable(id) ? await selectAnalytics(db, storeId, id) : [];
  if (show === undefined) throw liveStreamNotFound();
  return analyticsOf(storeId, show);
}

/** One statement, so that all figures are consistent. */
function selectAnalytics(db: Database, storeId: string, id: string): Promise<AnalyticsRow[]> {
  return db.$queryRaw<AnalyticsRow[]>`/* analytics_read */
    SELECT ${analyticsColumns(storeId)} FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ${id}`;
}

/** SELECT list for a show `s`. */
export function analyticsColumns(storeId: string): Prisma.Sql {
  return Prisma.sql`
    s.id, s.name, s.status, s."startedAt", s."durationSeconds", s."hostName", s."hostEmail", ${kpiColumns(storeId)}`;
}

export function analyticsOf(storeId: string, show: AnalyticsRow): LiveStreamAnalytics {
  const { id, name, status, startedAt, devices, currency, sources } = show;
  const totals = showTotals(show.totals, devices, currency, sources);
  return { storeId, id, name, status, startedAt, ...timesOf(show), host: hostOf(show), totals, devices };
}

export interface KpiColumns {
  readonly currency: string | null;
  readonly totals: readonly ChannelTotals[];
  readonly devices: readonly DeviceTotal[];
  readonly sources: readonly SourceTotal[];
}

/** Grouped by channel. Sums of decimals are text, to stay exact. */
export const channelTotals = Prisma.sql`
  channel, sum(sales)::text AS sales, sum(orders)::bigint AS orders, sum(viewers)::bigint AS viewers,
  sum("cartViewers")::bigint AS "cartViewers", sum("viewSeconds")::text AS "viewSeconds", sum(refunds)::text AS refunds,
  sum(buyers)::bigint AS buyers, sum("engagedViewers")::bigint AS "engagedViewers",
  sum("ordersWithoutViewer")::bigint AS "ordersWithoutViewer"`;

/** Grouped by source. */
export const sourceTotals = Prisma.sql`
  sum(viewers)::bigint AS viewers, sum(orders)::bigint AS orders, sum(sales)::text AS sales`;

/** SELECT list for a show `s`. */
export function kpiColumns(storeId: string): Prisma.Sql {
  return Prisma.sql`
    (SELECT currency FROM "Store" WHERE id = ${storeId}) AS currency,
    (SELECT coalesce(json_agg(t), '[]') FROM (
      SELECT ${channelTotals}
      FROM "LiveStreamTotal" WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id GROUP BY channel) AS t) AS totals,
    (SELECT coalesce(json_agg(d), '[]') FROM (
      SELECT kind AS channel, name AS device, sum(viewers)::int AS viewers FROM "LiveStreamGroup"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id AND kind <> 'SOURCE' GROUP BY kind, name HAVING sum(viewers) > 0) AS d)
      AS devices,
    (SELECT coalesce(json_agg(f), '[]') FROM (
      SELECT name AS source, ${sourceTotals} FROM "LiveStreamGroup"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id AND kind = 'SOURCE' GROUP BY name) AS f) AS sources`;
}
