import { Prisma } from "../../generated/prisma/client.js";
import type { ChannelTotals, DeviceTotal } from "./kpis.js";

export interface KpiColumns {
  readonly currency: string | null;
  readonly totals: readonly ChannelTotals[];
  readonly devices: readonly DeviceTotal[];
}

/** Grouped by channel. Sums of decimals are text, to stay exact. */
export const channelTotals = Prisma.sql`
  channel, sum(sales)::text AS sales, sum(orders)::bigint AS orders, sum(viewers)::bigint AS viewers,
  sum("cartViewers")::bigint AS "cartViewers", sum("viewSeconds")::text AS "viewSeconds", sum(refunds)::text AS refunds`;

/** SELECT list for a show `s`. */
export function kpiColumns(storeId: string): Prisma.Sql {
  return Prisma.sql`
    (SELECT currency FROM "Store" WHERE id = ${storeId}) AS currency,
    (SELECT coalesce(json_agg(t), '[]') FROM (
      SELECT ${channelTotals}
      FROM "LiveStreamTotal" WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id GROUP BY channel) AS t) AS totals,
    (SELECT coalesce(json_agg(d), '[]') FROM (
      SELECT channel, device, sum(viewers)::int AS viewers FROM "LiveStreamDevice"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id GROUP BY channel, device HAVING sum(viewers) > 0) AS d) AS devices`;
}
