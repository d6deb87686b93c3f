import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import type { RootDatabase } from "../../../src/database/client.js";
import { ofTest } from "../citus/recording.js";
import { asInputs, type ShowKey } from "../figures.js";
import type { SentEvent } from "../oracle.js";

/** Records events in batches of this size, one after the other, and folds the totals. */
export async function recordAll(
  db: RootDatabase,
  { storeId, lsId }: ShowKey,
  events: readonly SentEvent[],
  batchEvents = 100,
): Promise<void> {
  for (let start = 0; start < events.length; start += batchEvents) {
    await recordEvents(db, storeId, lsId, asInputs(events.slice(start, start + batchEvents)));
  }
  await foldTotals(db, storeId, lsId);
}

/** Totals and distinct viewers of a show, in the order of their keys, with slots added up. */
export async function storedTotals(db: RootDatabase, { storeId, lsId }: ShowKey): Promise<Record<string, unknown>> {
  const queries = {
    viewers: `SELECT encode("viewerId", 'escape') AS viewer, hour, seen, minutes::text, "liveDevice", "replayDevice", source,
        "firstViewAt"::text FROM "ShowViewer" # ORDER BY 1`,
    presence: `SELECT encode("viewerId", 'escape') AS viewer, hour, minutes::text FROM "ShowPresence" # ORDER BY 1, 2`,
    totals: `SELECT channel, trim_scale(sum(sales))::text AS sales, sum(orders)::int AS orders, sum(viewers)::int AS viewers,
        sum("cartViewers")::int AS "cartViewers", trim_scale(sum("viewSeconds"))::text AS "viewSeconds", trim_scale(sum(refunds))::text AS refunds,
        sum(buyers)::int AS buyers, sum("engagedViewers")::int AS engaged, sum("ordersWithoutViewer")::int AS nobodys
      FROM "LiveStreamTotal" $ GROUP BY 1 ORDER BY 1`,
    groups: `SELECT kind, name, sum(viewers)::int AS viewers, sum(orders)::int AS orders, trim_scale(sum(sales))::text AS sales
      FROM "LiveStreamGroup" $ GROUP BY 1, 2 HAVING sum(viewers) + sum(orders) <> 0 ORDER BY 1, 2`,
    minutes: `SELECT minute, sum(viewers)::int AS viewers, sum(carts)::int AS carts, sum(orders)::int AS orders,
        trim_scale(sum(sales))::text AS sales FROM "LiveStreamMinute" $ GROUP BY 1 ORDER BY 1`,
    spans: `SELECT seconds, "startsAt", viewers::int AS viewers, carts::int AS carts, orders::int AS orders,
        trim_scale(sales)::text AS sales FROM "LiveStreamSpan" $ ORDER BY 1, 2`,
    products: `SELECT "productId", sum(carts)::int AS carts, sum(orders)::int AS orders, sum(quantity)::int AS quantity,
        trim_scale(sum(sales))::text AS sales
      FROM "LiveStreamProduct" $ GROUP BY 1 HAVING sum(carts) + sum(orders) <> 0 ORDER BY 1`,
    productSpans: `SELECT seconds, "startsAt", "productId", carts::int AS carts, orders::int AS orders, quantity::int AS quantity,
        trim_scale(sales)::text AS sales, trim_scale(refunds)::text AS refunds FROM "ShowProductSpan" # ORDER BY 1, 2, 3`,
  };
  const rows: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(queries)) {
    const statement = query.replace("$", ofShow).replace("#", ofShowNumber);
    rows[name] = await db.$queryRawUnsafe(statement, storeId, lsId);
  }
  return rows;
}

/** Runs a statement with the show's store and id as its first two parameters. */
export async function change(db: RootDatabase, { storeId, lsId }: ShowKey, statement: string): Promise<number> {
  return db.$executeRawUnsafe(ofTest(statement), storeId, lsId);
}

export const ofShowNumber = `WHERE "storeId" = $1
  AND show = (SELECT number FROM "LiveStream" WHERE "storeId" = $1 AND id = $2)`;
export const ofShow = `WHERE "storeId" = $1 AND "liveStreamId" = $2`;
