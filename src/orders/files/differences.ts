import type { Database } from "../../database/client.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { counted, type CountedOrder, netOf, merge, type OrderNews } from "../state/order.state.js";
import { orderColumns, orderOf, type OrderRow } from "../state/order.rows.js";
import { fromUnits } from "../../lib/money.js";
import { type FileOrder, isPaid, statusOf } from "./readOrder.js";

export interface Difference {
  readonly kind: "missing" | "unknown" | "different";
  readonly id: string;
  /** The line in the file; null for an order that it does not have. */
  readonly line: number | null;
  readonly message: string;
}

/**
 * Compares orders of a file with the known ones.
 *
 * @param news what the orders report
 * @returns a difference, or undefined, for each
 */
export async function compareOrders(
  db: Database,
  storeId: string,
  batch: readonly FileOrder[],
  news: ReadonlyMap<FileOrder, OrderNews>,
): Promise<readonly (Difference | undefined)[]> {
  if (batch.length === 0) return [];
  const ids = batch.map(({ order }) => order.id);
  const rows = await db.$queryRaw<OrderRow[]>`
    SELECT ${orderColumns} FROM "ShopOrder"
    WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(ids)}::text[])`;
  const known = new Map(rows.map((row) => [row.id, row]));
  return batch.map((item) => {
    const { order, line } = item;
    const found = differenceOf(item, news.get(item), known.get(order.id));
    return found && { ...found, id: order.id, line };
  });
}

type Found = Pick<Difference, "kind" | "message"> | undefined;

function differenceOf(item: FileOrder, news: OrderNews | undefined, row: OrderRow | undefined): Found {
  const order = row && orderOf(row);
  if (order?.money.isPart === true) return undefined; // it counts with its parent
  const money = order && counted(order);
  const inFile = isPaid(item) && news !== undefined ? counted(merge(undefined, news)) : undefined;
  if (inFile === undefined) return money && differenceOfUnpaid(item, money);
  if (money === undefined) {
    const message = order === undefined ? "It is not known here" : "It is not paid here";
    return { kind: "missing", message: `${message}: ${fromUnits(inFile.gross)}.` };
  }
  if (amounts(inFile) === amounts(money)) return undefined;
  return { kind: "different", message: `${amounts(inFile)} in the file, ${amounts(money)} here.` };
}

/** An unpaid order must not count here, and nothing may be left of a cancelled one. */
function differenceOfUnpaid(item: FileOrder, money: CountedOrder): Found {
  const isGone = item.csv?.isGone ?? item.shop?.state.isCancelled;
  if (isGone === true && netOf(money) === 0) return undefined;
  return { kind: "different", message: `${statusOf(item)} in the file, ${amounts(money)} here.` };
}

function amounts(money: CountedOrder): string {
  const [gross, left] = [fromUnits(money.gross), netOf(money)];
  return left === gross ? String(gross) : `${gross}, ${left} after refunds`;
}
