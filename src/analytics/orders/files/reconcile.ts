import type { Database } from "../../../database/client.js";
import { counted, netOf } from "../order.counted.js";
import { orderColumns, orderOf, type OrderRow } from "../order.store.js";
import { fromUnits, toUnits } from "../units.js";
import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import { type FileOrder, readOrderFile } from "./orderFile.js";

interface Difference {
  readonly kind: "missing" | "unknown" | "different";
  readonly id: string;
  /** Of the file; null for an order that it does not have. */
  readonly line: number | null;
  readonly message: string;
}

export interface Reconciliation {
  /** Orders of the file that were paid. */
  readonly orders: number;
  readonly matching: number;
  /** The first 1,000. */
  readonly differences: readonly Difference[];
  readonly differencesTotal: number;
}

const batchOrders = 500;
const differencesMax = 1_000;
/** Ids are kept to find the orders that the file lacks. */
const idsMax = 2_000_000;

/**
 * Compares the orders of a shop's export with those that are known: orders of the file that are missing here, orders within its time
 * that it does not have, and other amounts.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export async function reconcile(db: Database, storeId: string, path: string): Promise<Reconciliation> {
  const differences: Difference[] = [];
  let [total, orders, matching] = [0, 0, 0];
  const differ = (difference: Difference) => {
    total += 1;
    if (differences.length < differencesMax) differences.push(difference);
  };
  const ids = new Set<string>();
  let [from, until] = [Infinity, -Infinity];
  let batch: FileOrder[] = [];
  const compare = async () => {
    const known = await knownOrders(
      db,
      storeId,
      batch.map(({ order }) => order.id),
    );
    for (const item of batch) {
      const message = differenceOf(item, known.get(item.order.id));
      if (message === undefined) matching += 1;
      else differ({ ...message, id: item.order.id, line: item.line });
    }
    batch = [];
  };
  for await (const item of readOrderFile(path)) {
    if (ids.size < idsMax) ids.add(item.order.id);
    if (!item.counts) continue;
    orders += 1;
    from = Math.min(from, item.order.placedAt.getTime());
    until = Math.max(until, item.order.placedAt.getTime());
    batch.push(item);
    if (batch.length === batchOrders) await compare();
  }
  await compare();
  for await (const id of idsBetween(db, storeId, from, until)) {
    if (!ids.has(id)) differ({ kind: "unknown", id, line: null, message: "It is known here, and not in the file." });
  }
  return { orders, matching, differences, differencesTotal: total };
}

function differenceOf(
  { order }: FileOrder,
  row: OrderRow | undefined,
): Pick<Difference, "kind" | "message"> | undefined {
  const money = row && counted(orderOf(row));
  if (money === undefined) return { kind: "missing", message: `It is not known here: ${order.amount}.` };
  const refunded = (order.refunds ?? []).reduce((units, refund) => units + toUnits(refund.amount), 0);
  const net = fromUnits(toUnits(order.amount) - refunded);
  const [gross, left] = [fromUnits(money.gross), netOf(money)];
  if (gross === order.amount && left === net) return undefined;
  const file = `${order.amount}${refunded > 0 ? `, ${net} after refunds` : ""}`;
  const here = `${gross}${left === gross ? "" : `, ${left} after refunds`}`;
  return { kind: "different", message: `${file} in the file, ${here} here.` };
}

async function knownOrders(
  db: Database,
  storeId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, OrderRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.$queryRaw<OrderRow[]>`
    SELECT ${orderColumns} FROM "ShopOrder"
    WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(ids)}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

async function* idsBetween(db: Database, storeId: string, from: number, until: number): AsyncGenerator<string, void> {
  if (from > until) return;
  let after = { placedAt: new Date(from), id: "" };
  for (;;) {
    const rows = await db.$queryRaw<{ id: string; placedAt: Date }[]>`
      SELECT id, "placedAt" FROM "ShopOrder" WHERE "storeId" = ${storeId} AND "isPaid" AND "placedAt" <= ${new Date(until)}::timestamptz
        AND ("placedAt", id) > (${after.placedAt}::timestamptz, ${after.id}) ORDER BY "placedAt", id LIMIT ${batchOrders}::int`;
    for (const { id } of rows) yield id;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchOrders) return;
    after = last;
  }
}
