import type { RootDatabase } from "../../database/client.js";
import { isLocked } from "../../database/shares/lockWait.js";
import { recountedStores, recountPage } from "./recount.js";
import { attributeDue, markLate } from "./pendingAttribution.js";

const claimsEveryMs = 3_600_000;
const claimDays = 30;
/** How long one store's recount may take before due orders and other stores get their turn. */
const turnMs = 1_000;

/**
 * A round of the work that follows orders. It attributes due orders of all stores, and applies changed rules page by page, with due
 * orders in between. Once an hour, it removes old claims of orders that never came.
 *
 * @param onChanged called with the id of each show whose figures changed
 */
export function createOrderSweep(
  db: RootDatabase,
  onChanged: (storeId: string, lsId: string) => void,
): (signal: AbortSignal) => Promise<void> {
  let nextClaims = 0;
  const notify = (storeId: string, changed: readonly string[]) => {
    for (const lsId of changed) onChanged(storeId, lsId);
  };
  return async (signal) => {
    const failures = new Map<string, unknown>();
    /** If work for one store fails, the other stores continue. Locked orders wait for the next round. */
    const tried = async (id: string, work: () => Promise<void>) => {
      if (signal.aborted || failures.has(id)) return;
      await work().catch((error: unknown) => (isLocked(error) ? undefined : failures.set(id, error)));
    };
    const round = async (): Promise<boolean> => {
      let isRest = false;
      for (const id of await lateStores(db))
        await tried(id, async () => void (isRest = (await markLate(db, id)) || isRest));
      for (const id of await dueStores(db)) await tried(id, async () => notify(id, await attributeDue(db, id)));
      for (const id of await recountedStores(db))
        await tried(id, async () => void (isRest = (await recountTurn(db, id, notify, signal)) || isRest));
      return isRest;
    };
    while (!signal.aborted && (await round()));
    if (!signal.aborted && performance.now() >= nextClaims) {
      const before = new Date(Date.now() - claimDays * 86_400_000);
      await db.$executeRaw`/* all_stores_old_claims */ DELETE FROM "OrderClaim" WHERE "claimedAt" < ${before}::timestamptz`;
      nextClaims = performance.now() + claimsEveryMs;
    }
    for (const error of failures.values()) throw error;
  };
}

type Notify = (storeId: string, changed: readonly string[]) => void;

/** @returns whether orders are left */
async function recountTurn(db: RootDatabase, storeId: string, notify: Notify, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + turnMs;
  for (;;) {
    const { isRest, changed } = await recountPage(db, storeId);
    notify(storeId, changed);
    if (!isRest || signal.aborted || performance.now() > end) return isRest;
  }
}

async function lateStores(db: RootDatabase): Promise<readonly string[]> {
  const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_late_events */
    SELECT id FROM "Store" AS o WHERE EXISTS (SELECT FROM "LateEvent" AS l WHERE l."storeId" = o.id) LIMIT 100`;
  return stores.map(({ id }) => id);
}

async function dueStores(db: RootDatabase): Promise<readonly string[]> {
  const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_due_orders */
    SELECT id FROM "Store" AS o
    WHERE EXISTS (SELECT FROM "ShopOrder" AS s WHERE s."storeId" = o.id AND s."dueAt" <= ${new Date()}::timestamptz) LIMIT 100`;
  return stores.map(({ id }) => id);
}
