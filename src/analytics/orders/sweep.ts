import type { RootDatabase } from "../../database/client.js";
import { recountAll } from "./attribution/recount.js";
import { attributeDue } from "./due.js";
import { attributeOrders } from "./order.record.js";

/** When an order is attributed again: a page reports the last seconds that its viewer watched after the order. */
const againAfterMs = 300_000;
/** Of a process that has just started: others may have ended without it. */
const lookBackMs = 3_600_000;
const claimsEveryMs = 3_600_000;
const claimDays = 30;
const batchOrders = 500;

/**
 * A round of what follows orders: those that came as events, or whose rule was changed, by processes that have ended; those of five
 * minutes ago, once more; and old claims of orders that never came, once an hour.
 *
 * @param onChanged called with the id of each show whose figures changed
 */
export function createOrderSweep(
  db: RootDatabase,
  onChanged: (storeId: string, lsId: string) => void,
): (signal: AbortSignal) => Promise<void> {
  let doneUntil = Date.now() - lookBackMs;
  let nextClaims = 0;
  const notify = (storeId: string, changed: readonly string[]) => {
    for (const lsId of changed) onChanged(storeId, lsId);
  };
  return async (signal) => {
    await recountAll(db, notify, signal);
    const due = await db.$queryRaw<{ id: string }[]>`/* all_stores_due_orders */
      SELECT id FROM "Store" AS o WHERE EXISTS (SELECT FROM "ShopOrder" AS s WHERE s."storeId" = o.id AND s."isDue") LIMIT 100`;
    for (const { id } of due) if (!signal.aborted) notify(id, await attributeDue(db, id));
    const until = Date.now() - againAfterMs;
    const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_attributed_stores */
      SELECT id FROM "Store" WHERE "attributionRule" <> 'AS_SENT' ORDER BY id`;
    for (const { id } of stores) {
      if (!signal.aborted) notify(id, await attributeAgain(db, id, new Date(doneUntil), new Date(until)));
    }
    if (signal.aborted) return;
    doneUntil = until;
    if (performance.now() < nextClaims) return;
    const before = new Date(Date.now() - claimDays * 86_400_000);
    await db.$executeRaw`/* all_stores_old_claims */ DELETE FROM "OrderClaim" WHERE "claimedAt" < ${before}::timestamptz`;
    nextClaims = performance.now() + claimsEveryMs;
  };
}

/** The orders that were placed within a time, by what is known now. @returns the ids of the shows whose figures changed */
async function attributeAgain(db: RootDatabase, storeId: string, from: Date, until: Date): Promise<readonly string[]> {
  const shows = new Set<string>();
  for (let after = ""; ;) {
    const rows = await db.shopOrder.findMany({
      where: { storeId, placedAt: { gte: from, lt: until }, id: { gt: after } },
      select: { id: true },
      orderBy: { id: "asc" },
      take: batchOrders,
    });
    const ids = rows.map(({ id }) => id);
    const { changed } = await attributeOrders(db, storeId, ids);
    for (const lsId of changed) shows.add(lsId);
    if (ids.length < batchOrders) return [...shows];
    after = ids.at(-1) ?? after;
  }
}
