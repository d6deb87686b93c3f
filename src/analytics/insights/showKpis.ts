import type { Database } from "../../database/client.js";
import { batchLookups } from "../../database/batchLookups.js";
import { type Kpis, kpisOf } from "../kpis/kpis.js";
import { type KpiColumns, kpiColumns } from "../kpis/kpis.sql.js";

interface ShowTotals extends KpiColumns {
  readonly id: string;
}

/** The shows must exist. Lookups together, such as those of a page, share a statement. */
export const lookUpKpis = batchLookups<Kpis>(async (db, storeId, ids) => {
  const rows = await selectTotals(db, storeId, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => {
    const { totals = [], devices = [], currency, sources } = byId.get(id) ?? {}; // none, if the show was deleted in between
    return kpisOf(totals, devices, currency, sources);
  };
});

function selectTotals(db: Database, storeId: string, ids: readonly string[]): Promise<ShowTotals[]> {
  return db.$queryRaw<ShowTotals[]>`
    SELECT s.id, ${kpiColumns(storeId)} FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${[...ids]})`;
}
