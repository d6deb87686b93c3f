import type { Database } from "../../../database/client.js";
import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import { counted, netOf } from "../order.counted.js";
import { orderColumns, orderOf, type OrderRow } from "../order.store.js";
import { fromUnits, toUnits } from "../units.js";
import { type FileOrder, isPaid } from "./fileOrder.js";

export interface Difference {
  readonly kind: "missing" | "unknown" | "different";
  readonly id: string;
  /** Of the file; null for an order that it does not have. */
  readonly line: number | null;
  readonly message: string;
}

/** Compares orders of a file with what is known of them. @returns a difference, or undefined, for each */
export async function compareOrders(
  db: Database,
  storeId: string,
  batch: readonly FileOrder[],
): Promise<readonly (Difference | undefined)[]> {
  if (batch.length === 0) return [];
  const ids = batch.map(({ order }) => order.id);
  const rows = await db.$queryRaw<OrderRow[]>`
    SELECT ${orderColumns} FROM "ShopOrder"
    WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(ids)}::text[])`;
  const known = new Map(rows.map((row) => [row.id, row]));
  return batch.map((item) => {
    const { order, line } = item;
    const found = differenceOf(item, known.get(order.id));
    return found && { ...found, id: order.id, line };
  });
}

type Found = Pick<Difference, "kind" | "message"> | undefined;

function differenceOf(item: FileOrder, row: OrderRow | undefined): Found {
  const money = row && counted(orderOf(row));
  const { order } = item;
  if (!isPaid(item)) return money && differenceOfUnpaid(item, fromUnits(money.gross), netOf(money));
  if (money === undefined) {
    const message = row === undefined ? "It is not known here" : "It is not paid here";
    return { kind: "missing", message: `${message}: ${order.amount}.` };
  }
  const net = netInFile(item);
  const [gross, left] = [fromUnits(money.gross), netOf(money)];
  if (gross === order.amount && left === net) return undefined;
  const message = `${amounts(order.amount, net)} in the file, ${amounts(gross, left)} here.`;
  return { kind: "different", message };
}

/** An order that was not paid counts for nothing; of one that is cancelled, nothing may be left. */
function differenceOfUnpaid({ csv }: FileOrder, gross: number, left: number): Found {
  if (csv?.isGone === true && left === 0) return undefined;
  return { kind: "different", message: `${csv?.status.name} in the file, ${amounts(gross, left)} here.` };
}

function netInFile({ order, csv }: FileOrder): number {
  if (csv?.isGone === true) return 0;
  return fromUnits((order.refunds ?? []).reduce((units, { amount }) => units - toUnits(amount), toUnits(order.amount)));
}

function amounts(gross: number, left: number): string {
  return left === gross ? String(gross) : `${gross}, ${left} after refunds`;
}
