import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked, retryWhileLocked } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { retryAfterMoves } from "../../database/sql/storeStatements.js";
import { inTransaction, setLocal } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { markFoldable } from "../../events/record/fold.js";
import { attribute } from "../attribution/attribution.js";
import { type Attribution, type AttributionSettings, attributionOf } from "../attribution/settings.js";
import { readEvidences } from "../attribution/touchpoints.js";
import { entriesOf, type Entry, recordEntries } from "./orderEntries.js";
import { joinFamilies, relativesOf } from "./order.family.js";
import { merge, type OrderNews, unknownOrder } from "./order.state.js";
import { attributedBy, type Claimed, keepClaims, lockOrders, saveOrders, withClaims } from "./order.rows.js";
import { partsBefore, saveParts } from "../attribution/parts.js";

export interface OrderReceipt {
  /** Orders that are new or changed. */
  readonly accepted: number;
  /** Orders that were already known as sent. */
  readonly duplicates: number;
}

export interface RecordedOrders extends OrderReceipt {
  /** The ids of the shows whose figures changed. */
  readonly changed: readonly string[];
}

const timeoutMs = 60_000;
const waitMs = 10_000;
const againAfterMs = 300_000;
/** Short, because an order is locked only while others write it. */
export const lockTimeoutMs = "2000";

/**
 * Stores news of orders, and attributes these to shows by the store's rule: all or nothing, in one transaction. The same news may come
 * any number of times, in any order.
 *
 * @throws {AppError} UNAVAILABLE if orders or shows stay locked
 */
export async function recordNews(
  db: RootDatabase,
  storeId: string,
  news: readonly OrderNews[],
): Promise<RecordedOrders> {
  const states = news.filter((item) => item.kind === "state");
  const relatives = () => relativesOf(db, storeId, states);
  return changeOrders(db, storeId, { ids: idsOf(news), which: "new", relatives }, (known) => {
    const merged = mergeAll(known, news);
    joinFamilies(merged, states, (id) => ({
      ...unknownOrder(id, 0),
      claimedBy: null,
      alsoClaimedBy: null,
      dueAt: null,
    }));
    return merged;
  });
}

/** Like recordNews, only for orders with a known state. Drops news of other orders. */
export async function recordNewsOfKnown(
  db: RootDatabase,
  storeId: string,
  news: readonly OrderNews[],
): Promise<RecordedOrders> {
  return changeOrders(db, storeId, { ids: idsOf(news), which: "any" }, (known) => {
    const isKnown = (id: string) => (known.get(id)?.money.newest ?? null) !== null;
    return mergeAll(
      known,
      news.filter(({ id }) => isKnown(id)),
    );
  });
}

function idsOf(news: readonly OrderNews[]): readonly string[] {
  return [...new Set(news.map(({ id }) => id))].toSorted();
}

function mergeAll(known: ReadonlyMap<string, Claimed>, news: readonly OrderNews[]): Map<string, Claimed> {
  const merged = new Map(known);
  for (const item of news) {
    const before = merged.get(item.id);
    const order = merge(before, item);
    const { claimedBy, alsoClaimedBy, dueAt } = before ?? { claimedBy: null, alsoClaimedBy: null, dueAt: null };
    merged.set(item.id, { ...order, claimedBy, alsoClaimedBy, dueAt });
  }
  return merged;
}

/** Attributes orders by what is now known about them and their viewers. */
export function attributeOrders(db: RootDatabase, storeId: string, ids: readonly string[]): Promise<RecordedOrders> {
  return changeOrders(db, storeId, { ids: ids.toSorted(), which: "any", areAll: true }, (known) => known);
}

/** Like attributeOrders, within a transaction. */
export function attributeWithin(
  transaction: Database,
  storeId: string,
  orders: readonly { readonly id: string }[],
): Promise<RecordedOrders> {
  const ids = orders.map(({ id }) => id).toSorted();
  return changeWithin(transaction, storeId, { ids, which: "any", areAll: true }, (known) => known);
}

/**
 * Notes the viewers for whom a page claims orders. The first claim of an order stays; a claim of an unknown order is kept for it.
 *
 * @param formers by order, earlier ids of viewers who had another one: the id with events counts
 */
export function claimOrders(
  db: RootDatabase,
  storeId: string,
  claims: ReadonlyMap<string, string>,
  formers: ReadonlyMap<string, string> = new Map(),
): Promise<RecordedOrders> {
  const keep = (transaction: Database) => keepClaims(transaction, storeId, claims, formers);
  return changeOrders(db, storeId, { ids: [...claims.keys()].toSorted(), which: "any", keep }, (known) => known);
}

type Change = (known: ReadonlyMap<string, Claimed>) => ReadonlyMap<string, Claimed>;

interface ChangedOrders {
  /** In order. */
  readonly ids: readonly string[];
  /** The ids of other orders that may change with them. */
  readonly relatives?: () => Promise<readonly string[]>;
  /** As lockOrders takes it. */
  readonly which: "any" | "new";
  /** Whether unchanged orders are attributed too. */
  readonly areAll?: boolean;
  /** Called once the orders are locked. */
  readonly keep?: (transaction: Database) => Promise<void>;
}

async function changeOrders(
  db: RootDatabase,
  storeId: string,
  which: ChangedOrders,
  change: Change,
): Promise<RecordedOrders> {
  const { ids } = which;
  if (ids.length === 0) return { accepted: 0, duplicates: 0, changed: [] };
  const work = async () => {
    const locked = [...new Set([...ids, ...((await which.relatives?.()) ?? [])])].toSorted();
    return inTransaction(db, { timeoutMs }, async (transaction) => {
      await setLocal(transaction, { lock_timeout: lockTimeoutMs });
      return asLocked(changeWithin(transaction, storeId, { ...which, locked }, change));
    });
  };
  const key = `orders ${storeId} ${ids[0] ?? ""}`;
  const attempt = () => retryAfterMoves(db, storeId, work);
  const result = await retryWhileLocked(key, attempt, { waitMs, refusal: ordersLocked });
  for (const lsId of result.changed) markFoldable(db, storeId, lsId);
  return result;
}

async function changeWithin(
  transaction: Database,
  storeId: string,
  { ids, locked = ids, which, areAll = false, keep }: ChangedOrders & { readonly locked?: readonly string[] },
  change: Change,
): Promise<RecordedOrders> {
  const known = await lockOrders(transaction, storeId, locked, which);
  await keep?.(transaction);
  const orders = await withClaims(transaction, storeId, [...change(known).values()]);
  const now = new Date();
  const changed = orders.filter((order) => areAll || isChanged(known.get(order.id), order, now));
  const own = new Set(ids);
  const accepted = changed.filter(({ id }) => own.has(id)).length;
  const receipt = { accepted, duplicates: ids.length - accepted };
  if (changed.length === 0) return { ...receipt, changed: [] };
  const attribution = await attributionOf(transaction, storeId);
  const claimed = await byEvidence(transaction, storeId, changed, attribution);
  const shows = await replaceParts(transaction, storeId, { known, orders: claimed, attribution });
  const saved = claimed.map((order) => ({ ...order, dueAt: againAt(order, attribution, now) }));
  const others = saved.filter((order) => order.dueAt !== null || isChanged(known.get(order.id), order, now));
  if (others.length > 0) await saveOrders(transaction, storeId, others);
  return { ...receipt, changed: shows };
}

/** When an order is attributed again, because a page reports the viewer's last seconds after the order. */
function againAt({ isPaid, placedAt }: Claimed, { rule }: Attribution, now: Date): Date | null {
  const at = new Date(placedAt.getTime() + againAfterMs);
  return isPaid && rule !== "AS_SENT" && at > now ? at : null;
}

function isChanged(known: Claimed | undefined, order: Claimed, now: Date): boolean {
  return known === undefined || (known.dueAt !== null && known.dueAt <= now) || contentOf(known) !== contentOf(order);
}

function contentOf({ placedAt, isPaid, viewerId, claimedBy, lsId, channel, money }: Claimed): string {
  return JSON.stringify([placedAt, isPaid, viewerId, claimedBy, lsId, channel, money]);
}

/** For orders that a page claims for two ids of a viewer, puts the id with the later event first. */
export async function byEvidence(
  db: Database,
  storeId: string,
  orders: readonly Claimed[],
  attribution: AttributionSettings,
): Promise<readonly Claimed[]> {
  const both = orders.filter(({ viewerId, alsoClaimedBy }) => viewerId === null && alsoClaimedBy !== null);
  if (both.length === 0) return orders;
  const turned = both.map((order) => ({
    ...order,
    claimedBy: order.alsoClaimedBy,
    alsoClaimedBy: order.claimedBy,
  }));
  const all = [...both, ...turned].map(attributedBy);
  const evidences = await readEvidences(db, storeId, all, attribution, () => []);
  const latest = all.map((order, index) => {
    const parts = attribute(order, attribution, evidences[index] ?? { carts: new Map() });
    return Math.max(0, ...parts.flatMap(({ show, at }) => (show === 0 ? [] : [at.getTime()])));
  });
  const better = turned.filter((_, index) => (latest[both.length + index] ?? 0) > (latest[index] ?? 0));
  const byId = new Map(better.map((order) => [order.id, order]));
  return orders.map((order) => byId.get(order.id) ?? order);
}

interface Changing {
  /** The orders as they were, by id. */
  readonly known: ReadonlyMap<string, Claimed>;
  readonly orders: readonly Claimed[];
  readonly attribution: AttributionSettings;
}

/** Replaces the parts of orders, and adds the differences to the ledgers of shows. @returns the ids of the shows that changed */
async function replaceParts(
  transaction: Database,
  storeId: string,
  { known, orders, attribution }: Changing,
): Promise<readonly string[]> {
  const attributed = orders.map(attributedBy);
  const partsOfOrders = await partsBefore(transaction, storeId, orders);
  const evidences = await readEvidences(transaction, storeId, attributed, attribution, (order) => {
    const old = known.get(order.id);
    const isSameViewer = old !== undefined && attributedBy(old).viewer === order.viewer;
    return isSameViewer ? (partsOfOrders.get(order.id) ?? []) : [];
  });
  const entries: Entry[] = [];
  const parts = attributed.map((order, index) => {
    const old = known.get(order.id);
    const own = partsOfOrders.get(order.id) ?? [];
    const before = old === undefined ? order : attributedBy(old);
    const now = attribute(order, attribution, evidences[index] ?? { carts: new Map() });
    entries.push(...entriesOf(order, before, own, now));
    return { order, parts: now, isOther: JSON.stringify(own) !== JSON.stringify(now) };
  });
  await saveParts(
    transaction,
    storeId,
    parts.filter(({ isOther }) => isOther),
  );
  const numbers = [...new Set(entries.map(({ show }) => show))].toSorted((a, b) => a - b);
  if (numbers.length === 0) return [];
  const shows = await transaction.$queryRaw<{ id: string; number: number }[]>`
    SELECT id, number FROM "LiveStream" WHERE "storeId" = ${storeId} AND number = ANY(${textArrayLiteral(numbers.map(String))}::int[])
    ORDER BY number`;
  await recordEntries(transaction, storeId, entries, shows);
  return shows.map(({ id }) => id);
}

function ordersLocked(): AppError {
  const message =
    "Other requests write the same orders, or the totals of a show are being rebuilt. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 });
}
