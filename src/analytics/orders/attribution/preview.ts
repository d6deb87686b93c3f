import type { Database } from "../../../database/client.js";
import { attributedBy, orderColumns, orderOf, type OrderRow } from "../order.store.js";
import { fromUnits, toUnits } from "../units.js";
import { partsOf } from "./attribution.js";
import type { Attribution } from "./codes.js";
import { readEvidences } from "./evidence.js";
import { partsBefore } from "./parts.js";
import { attributionOf } from "./settings.js";

const previewedOrders = 1_000;

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
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
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
