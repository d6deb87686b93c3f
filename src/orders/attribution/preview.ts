import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import { byEvidence } from "../state/order.record.js";
import { attributedBy, orderColumns, orderOf, type OrderRow } from "../state/order.rows.js";
import { fromUnits, toUnits } from "../../lib/money.js";
import { attribute } from "./attribution.js";
import { type Attribution, attributionOf } from "./settings.js";
import { readEvidences } from "./touchpoints.js";
import { partsBefore } from "./parts.js";

const pageOrders = 1_000;
/** More would take too long: these take some seconds. */
const previewedOrdersMax = 100_000;

interface Sums {
  orders: number;
  sales: number;
  refunds: number;
}

export interface AttributionChange {
  /** Null for orders that count for no show. */
  readonly show: { readonly id: string; readonly name: string } | null;
  readonly before: Readonly<Sums>;
  readonly after: Readonly<Sums>;
}

export interface AttributionPreview {
  /** All orders of the store. */
  readonly orders: number;
  /** How many of them were compared: the latest. */
  readonly previewed: number;
  /** Shows whose figures would change, the largest change of sales first. */
  readonly changes: readonly AttributionChange[];
}

interface PreviewOptions {
  readonly signal?: AbortSignal | undefined;
  readonly ordersMax?: number;
}

/** What another rule would change for the latest 100,000 orders, show by show. Changes nothing. */
export async function previewAttribution(
  db: Database,
  storeId: string,
  other: Attribution,
  { signal, ordersMax = previewedOrdersMax }: PreviewOptions = {},
): Promise<AttributionPreview> {
  const attribution = { ...(await attributionOf(db, storeId)), ...other };
  const byShow = new Map<number, { before: Sums; after: Sums }>();
  const add = (when: "before" | "after", parts: readonly { show: number; amount: number; refunded: number }[]) => {
    for (const show of new Set(parts.map((part) => part.show))) {
      const own = parts.filter((part) => part.show === show);
      const sums = byShow.get(show) ?? { before: none(), after: none() };
      byShow.set(show, sums);
      // An order of which a part counts for a show is attributed.
      sums[when].orders += Number(show !== 0 || own.length === parts.length);
      sums[when].sales += own.reduce((units, part) => units + toUnits(part.amount), 0);
      sums[when].refunds += own.reduce((units, part) => units + toUnits(part.refunded), 0);
    }
  };
  let [previewed, last] = [0, undefined as OrderRow | undefined];
  for (let isRest = true; isRest && previewed < ordersMax;) {
    signal?.throwIfAborted();
    const isLeft = last && Prisma.sql`AND ("placedAt", id) < (${last.placedAt}::timestamptz, ${last.id})`;
    const rows = await db.$queryRaw<OrderRow[]>`
      SELECT ${orderColumns} FROM "ShopOrder" WHERE "storeId" = ${storeId} AND "isPaid" ${isLeft ?? Prisma.empty}
      ORDER BY "placedAt" DESC, id DESC LIMIT ${Math.min(pageOrders, ordersMax - previewed)}::int`;
    const page = (await byEvidence(db, storeId, rows.map(orderOf), attribution)).map(attributedBy);
    const before = await partsBefore(db, storeId, page);
    const evidences = await readEvidences(db, storeId, page, attribution, ({ id }) => before.get(id) ?? []);
    page.forEach((order, index) => {
      add("before", before.get(order.id) ?? []);
      add("after", attribute(order, attribution, evidences[index] ?? { carts: new Map() }));
    });
    previewed += page.length;
    last = rows.at(-1);
    isRest = rows.length === pageOrders;
  }
  const orders = previewed < ordersMax ? previewed : await db.shopOrder.count({ where: { storeId, isPaid: true } });
  return { orders, previewed, changes: await changesOf(db, storeId, byShow) };
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
