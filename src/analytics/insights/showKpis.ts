import type { Database } from "../../database/client.js";
import { joinLookups } from "../../database/joinLookups.js";
import { type ChannelTotals, type DeviceTotal, type Kpis, kpisOf } from "../kpis/kpis.js";

interface ShowTotals {
  readonly id: string;
  readonly totals: readonly ChannelTotals[];
  readonly devices: readonly DeviceTotal[];
}

/** The KPIs of a show that is known to exist. Shows that are asked for together, such as those of a page, share a statement. */
export const lookUpKpis = joinLookups<Kpis>(async (db, storeId, ids) => {
  const rows = await selectTotals(db, storeId, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => {
    const { totals = [], devices = [] } = byId.get(id) ?? {}; // none, if the show was deleted in between
    return kpisOf(totals, devices);
  };
});

/** Sums of decimals are text, to stay exact. */
function selectTotals(db: Database, storeId: string, ids: readonly string[]): Promise<ShowTotals[]> {
  return db.$queryRaw<ShowTotals[]>`
    SELECT s.id,
      (SELECT coalesce(json_agg(t), '[]') FROM (
        SELECT channel, sum(sales)::text AS sales, sum(orders)::int AS orders, sum(viewers)::int AS viewers,
          sum("cartViewers")::int AS "cartViewers", sum("viewSeconds")::text AS "viewSeconds"
        FROM "LiveStreamTotal" WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id GROUP BY channel) AS t) AS totals,
      (SELECT coalesce(json_agg(d), '[]') FROM (
        SELECT channel, device, sum(viewers)::int AS viewers FROM "LiveStreamDevice"
        WHERE "storeId" = ${storeId} AND "liveStreamId" = s.id GROUP BY channel, device HAVING sum(viewers) > 0
      ) AS d) AS devices
    FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${[...ids]})`;
}
