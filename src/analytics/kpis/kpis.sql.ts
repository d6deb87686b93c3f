import { Prisma } from "../../generated/prisma/client.js";
import type { ChannelTotals, DeviceTotal, SourceTotal } from "./kpis.js";

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
