import { builder } from "../../schema/builder.js";
import { rateLimitedByRoot } from "../../schema/limits/rateLimit.js";
import { kpiColumns, type KpiColumns } from "../show/kpis.read.js";
import { cachedWith } from "../../lib/cached.js";
import { Kpis } from "../show/kpis.schema.js";
import type { Database } from "../../database/client.js";
import { batchLookups } from "../../database/batchLookups.js";
import { showTotals, type ShowTotals } from "../show/kpis.js";

/** The shows must exist. Concurrent lookups, such as those of a page, share a statement. */
const lookUpKpis = batchLookups<ShowTotals>(async (db, storeId, ids) => {
  const rows = await selectTotals(db, storeId, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => {
    const { totals = [], devices = [], currency, sources } = byId.get(id) ?? {}; // not found if the show was deleted in between
    return showTotals(totals, devices, currency, sources);
  };
});

builder.prismaObjectField("LiveStream", "kpis", (t) =>
  t.field({
    extensions: { scope: "analytics:read" },
    type: Kpis,
    nullable: true,
    description: "Its key figures. Those of a page of shows count as one analytics read; null over the limit.",
    resolve: rateLimitedByRoot(
      "analytics",
      (show, _, { db, identity }) => cachedWith(show, "kpis", () => lookUpKpis(db, identity.storeId, show.id)), // equal reads of lists by figures share their shows
    ),
  }),
);

interface ShowRow extends KpiColumns {
  readonly id: string;
}

function selectTotals(db: Database, storeId: string, ids: readonly string[]): Promise<ShowRow[]> {
  return db.$queryRaw<ShowRow[]>`
    SELECT s.id, ${kpiColumns(storeId)} FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${[...ids]})`;
}
