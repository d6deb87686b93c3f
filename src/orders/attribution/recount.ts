import type { Database, RootDatabase } from "../../database/client.js";
import { engineOf } from "../../database/engine.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { retryAfterMoves } from "../../database/sql/storeStatements.js";
import { inTransaction, setLocal } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { markFoldable } from "../../events/record/fold.js";
import { attributeWithin, lockTimeoutMs } from "../state/order.record.js";
import { waitForOrders } from "../state/order.rows.js";
import type { Attribution } from "./settings.js";
import type { AttributionRule } from "../../database/codes.js";

/** Small, because others wait for its orders until it is committed; on the embedded engine, for the only session. */
const pageOrders = { server: 500, embedded: 50 };
const timeoutMs = 60_000;

/** The rule by which a store's orders count, and how far it has been applied. */
export interface AttributionState extends Attribution {
  /** Null unless a changed rule is being applied to orders, the latest first. */
  readonly recount: { readonly orders: number; readonly done: number } | null;
}

/**
 * Changes the rule by which a store's orders count. New orders count by the new rule at once. All earlier ones become due, and a
 * server's sweep recounts them, even after this process has ended.
 *
 * @returns how many are due
 */
export async function setAttribution(
  db: RootDatabase,
  storeId: string,
  { rule, windowHours }: Attribution,
): Promise<number> {
  const orders = await db.shopOrder.count({ where: { storeId, isPaid: true } });
  const recount = { recountOrders: orders, recountDone: 0, recountBefore: null, recountId: "" };
  const data = { attributionRule: rule, attributionHours: windowHours, ...recount };
  await db.store.updateMany({ where: { id: storeId }, data });
  return orders;
}

export async function attributionState(db: Database, storeId: string): Promise<AttributionState> {
  const store = await db.store.findFirst({
    where: { id: storeId },
    select: { attributionRule: true, attributionHours: true, recountOrders: true, recountDone: true },
  });
  const { attributionRule, attributionHours = 0, recountOrders = null, recountDone = 0 } = store ?? {};
  return {
    rule: (attributionRule ?? "AS_SENT") as AttributionRule, // the table's CHECK lists the same rules
    windowHours: attributionHours,
    recount: recountOrders === null ? null : { orders: recountOrders, done: Math.min(recountDone, recountOrders) },
  };
}

/** Stores in which a changed rule is being applied to orders. */
export async function recountedStores(db: RootDatabase): Promise<readonly string[]> {
  const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_recounted */
    SELECT id FROM "Store" WHERE "recountOrders" IS NOT NULL ORDER BY id`;
  return stores.map(({ id }) => id);
}

/**
 * Recounts the next page of a store's orders, each as a whole, in one transaction.
 *
 * @returns whether orders are left for this process, and the ids of the shows whose figures changed
 */
export async function recountPage(
  db: RootDatabase,
  storeId: string,
  take = engineOf(db).kind === "embedded" ? pageOrders.embedded : pageOrders.server,
): Promise<{ readonly isRest: boolean; readonly changed: readonly string[] }> {
  const work = () =>
    inTransaction(db, { timeoutMs }, (transaction) => asLocked(pageWithin(transaction, storeId, take)));
  const page = await retryAfterMoves(db, storeId, work);
  for (const lsId of page.changed) markFoldable(db, storeId, lsId);
  return page;
}

async function pageWithin(transaction: Database, storeId: string, take: number) {
  await setLocal(transaction, { lock_timeout: lockTimeoutMs });
  const [lock] = await transaction.$queryRaw<{ isFree: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended('recount ' || id, 0)) AS "isFree" FROM "Store" WHERE id = ${storeId}`;
  const store = lock?.isFree === true ? await transaction.store.findFirst({ where: { id: storeId } }) : null;
  if (store === null || store.recountOrders === null) return { isRest: false, changed: [] };
  const { attributionRule, attributionHours, recountBefore, recountId } = store;
  // Transactions that began before the rule was changed still write orders by the earlier one.
  if (recountBefore === null) await waitForOrders(transaction, storeId);
  const isLeft = recountBefore && Prisma.sql`AND ("placedAt", id) < (${recountBefore}::timestamptz, ${recountId})`;
  const next = await transaction.$queryRaw<{ id: string; placedAt: Date }[]>`
    SELECT id, "placedAt" FROM "ShopOrder" WHERE "storeId" = ${storeId} AND "isPaid" ${isLeft ?? Prisma.empty}
    ORDER BY "placedAt" DESC, id DESC LIMIT ${take}::int`;
  const { changed } = await attributeWithin(transaction, storeId, next);
  const last = next.length === take ? next.at(-1) : undefined;
  await transaction.store.updateMany({
    // Unless the rule was changed again, which makes all orders due again.
    where: { id: storeId, attributionRule, attributionHours, recountBefore, recountId },
    data:
      last === undefined
        ? { recountOrders: null, recountDone: 0, recountBefore: null, recountId: "" }
        : { recountDone: { increment: next.length }, recountBefore: last.placedAt, recountId: last.id },
  });
  return { isRest: true, changed };
}
