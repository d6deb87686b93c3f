import type { Database, RootDatabase } from "../../../database/client.js";
import { engineOf } from "../../../database/engine.js";
import { asLocked, whenUnlocked } from "../../../database/shares/lockWait.js";
import { inTransaction } from "../../../database/transaction.js";
import { AppError } from "../../../errors.js";
import { noteDue } from "../../totals/foldDue.js";
import type { Attribution } from "./codes.js";
import { partsOf } from "./attribution.js";
import { readEvidences } from "./evidence.js";
import { attribute, ordersLocked } from "../order.record.js";
import { attributedBy, lockOrders, orderColumns, orderOf, type OrderRow } from "../order.store.js";
import { partsBefore } from "./parts.js";
import { attributionOf } from "./settings.js";
import { fromUnits, toUnits } from "../units.js";

/** Until a piece is committed, others wait for its orders and totals; on the embedded engine, for the only session. */
const pieceOrders = { server: 2_000, embedded: 500 };
const previewedOrders = 1_000;
const timeoutMs = 60_000;
const waitMs = 60_000;

const windowHoursMax = 24 * 90;

interface RecountOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each piece with the number of orders in all so far. */
  readonly onProgress?: (orders: number) => void;
}

/**
 * Changes the rule by which a store's orders count, and counts all of them anew: in pieces, each as a whole, while figures can be
 * read. Orders that come meanwhile count by the new rule. If this process ends before, a server goes on.
 *
 * @returns how many orders there are, and the ids of the shows whose figures changed
 * @throws {AppError} UNAVAILABLE where orders or shows stay locked
 */
export async function setAttribution(
  db: RootDatabase,
  storeId: string,
  { rule, windowHours }: Attribution,
  options: RecountOptions = {},
): Promise<{ readonly orders: number; readonly changed: readonly string[] }> {
  const data = { attributionRule: rule, attributionHours: windowHours, recountedTo: "" };
  await db.store.updateMany({ where: { id: storeId }, data });
  return recount(db, storeId, options);
}

/** Counts a store's orders anew, from where an earlier call ended. */
async function recount(
  db: RootDatabase,
  storeId: string,
  { signal, onProgress = () => undefined }: RecountOptions = {},
): Promise<{ readonly orders: number; readonly changed: readonly string[] }> {
  const changed = new Set<string>();
  let orders = 0;
  for (;;) {
    if (signal?.aborted === true) break;
    const work = () => inTransaction(db, { timeoutMs }, (transaction) => asLocked(recountPiece(transaction, storeId)));
    const piece = await whenUnlocked(`recount ${storeId}`, work, { waitMs, signal, refusal: ordersLocked });
    if (piece === undefined) break;
    for (const lsId of piece.changed) {
      changed.add(lsId);
      noteDue(db, storeId, lsId);
    }
    orders += piece.orders;
    onProgress(orders);
  }
  return { orders, changed: [...changed] };
}

/** @returns undefined where nothing is left */
async function recountPiece(transaction: Database, storeId: string) {
  const [store] = await transaction.$queryRaw<{ recountedTo: string | null }[]>`
    SELECT "recountedTo" FROM "Store" WHERE id = ${storeId} FOR NO KEY UPDATE`;
  const after = store?.recountedTo;
  if (after === null || after === undefined) return undefined;
  const take = engineOf(transaction).kind === "embedded" ? pieceOrders.embedded : pieceOrders.server;
  const next = await transaction.shopOrder.findMany({
    where: { storeId, id: { gt: after } },
    select: { id: true },
    orderBy: { id: "asc" },
    take,
  });
  const ids = next.map(({ id }) => id);
  const recountedTo = ids.length < take ? null : (ids.at(-1) ?? null);
  await transaction.store.updateMany({ where: { id: storeId }, data: { recountedTo } });
  if (ids.length === 0) return undefined;
  const known = await lockOrders(transaction, storeId, ids, "existing");
  const attribution = await attributionOf(transaction, storeId);
  const changed = await attribute(transaction, storeId, {
    known,
    orders: [...known.values()],
    attribution,
    isAnew: true,
  });
  return { orders: ids.length, changed };
}

/** Goes on with what an ended process has left. @param notify called with the ids of the shows whose figures changed */
export async function recountAll(
  db: RootDatabase,
  notify: (storeId: string, changed: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_recounted */
    SELECT id FROM "Store" WHERE "recountedTo" IS NOT NULL ORDER BY id LIMIT 100`;
  for (const { id } of stores) if (!signal.aborted) notify(id, (await recount(db, id, { signal })).changed);
}

interface Sums {
  orders: number;
  sales: number;
  refunds: number;
}

export interface AttributionChange {
  /** Null for what counts for no show. */
  readonly show: { readonly id: string; readonly name: string } | null;
  readonly before: Readonly<Sums>;
  readonly after: Readonly<Sums>;
}

export interface AttributionPreview {
  /** All of the store. */
  readonly orders: number;
  /** Shows whose figures would change, those first whose sales would most. */
  readonly changes: readonly AttributionChange[];
}

/** What another rule would change, show by show. Nothing is changed. */
export async function previewAttribution(
  db: Database,
  storeId: string,
  other: Attribution,
  { signal, onProgress = () => undefined }: RecountOptions = {},
): Promise<AttributionPreview> {
  const attribution = { ...(await attributionOf(db, storeId)), ...other };
  const byShow = new Map<number, { before: Sums; after: Sums }>();
  const add = (when: "before" | "after", parts: readonly { show: number; amount: number; refunded: number }[]) => {
    for (const show of new Set(parts.map((part) => part.show))) {
      const own = parts.filter((part) => part.show === show);
      const sums = byShow.get(show) ?? { before: none(), after: none() };
      byShow.set(show, sums);
      // An order that counts in part for a show is attributed.
      sums[when].orders += Number(show !== 0 || own.length === parts.length);
      sums[when].sales += own.reduce((units, part) => units + toUnits(part.amount), 0);
      sums[when].refunds += own.reduce((units, part) => units + toUnits(part.refunded), 0);
    }
  };
  let [orders, after] = [0, ""];
  for (let isRest = true; isRest;) {
    signal?.throwIfAborted();
    const rows = await db.$queryRaw<OrderRow[]>`
      SELECT ${orderColumns} FROM "ShopOrder"
      WHERE "storeId" = ${storeId} AND id > ${after} ORDER BY id LIMIT ${previewedOrders}::int`;
    const piece = rows.map((row) => attributedBy(orderOf(row)));
    const before = await partsBefore(db, storeId, piece);
    const evidences = await readEvidences(db, storeId, piece, attribution);
    piece.forEach((order, index) => {
      add("before", before.get(order.id) ?? []);
      add("after", partsOf(order, attribution, evidences[index] ?? { carts: new Map() }));
    });
    orders += piece.filter(({ isPaid }) => isPaid).length;
    after = rows.at(-1)?.id ?? after;
    isRest = rows.length === previewedOrders;
    onProgress(orders);
  }
  return { orders, changes: await changesOf(db, storeId, byShow) };
}

function none(): Sums {
  return { orders: 0, sales: 0, refunds: 0 };
}

async function changesOf(
  db: Database,
  storeId: string,
  byShow: ReadonlyMap<number, { before: Sums; after: Sums }>,
): Promise<AttributionChange[]> {
  const shows = await db.liveStream.findMany({ where: { storeId }, select: { id: true, name: true, number: true } });
  const named = new Map(shows.map(({ id, name, number }) => [number, { id, name }]));
  const inCurrency = ({ orders, sales, refunds }: Sums) => ({
    orders,
    sales: fromUnits(sales),
    refunds: fromUnits(refunds),
  });
  return [...byShow]
    .filter(([, { before, after }]) => JSON.stringify(before) !== JSON.stringify(after))
    .toSorted(([, a], [, b]) => Math.abs(b.after.sales - b.before.sales) - Math.abs(a.after.sales - a.before.sales))
    .map(([number, { before, after }]) => ({
      show: named.get(number) ?? null,
      before: inCurrency(before),
      after: inCurrency(after),
    }));
}

/** `7d`, `36h`: a window in hours; undefined for anything else. */
export function parseWindow(text: string): number | undefined {
  const [, digits = "", unit] = /^(\d{1,4})([dh])$/u.exec(text) ?? [];
  const hours = Number(digits) * (unit === "d" ? 24 : 1);
  return unit !== undefined && isWindow(hours) ? hours : undefined;
}

function isWindow(hours: number): boolean {
  return Number.isInteger(hours) && hours >= 1 && hours <= windowHoursMax;
}

/** @throws {AppError} VALIDATION_FAILED */
export function requireWindow(hours: number): void {
  if (isWindow(hours)) return;
  const message = `windowHours must be a whole number from 1 to ${windowHoursMax}, not ${hours}.`;
  throw new AppError("VALIDATION_FAILED", message, {
    problems: [{ code: "INVALID_VALUE", message, path: ["windowHours"] }],
  });
}
