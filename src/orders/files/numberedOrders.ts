import type { Database } from "../../database/client.js";
import { textArrayLiteral } from "../../database/sql/arrayLiteral.js";
import { shownValue } from "../../lib/mustBe.js";
import type { FileOrder } from "./fileOrder.js";
import { faultAt } from "./orderLines.js";

/**
 * A file that has only numbers or names of orders fits a store of which all orders came from such files: orders that are known by
 * their ids would count twice.
 *
 * @throws {AppError} VALIDATION_FAILED
 */
export async function requireIds(db: Database, storeId: string): Promise<void> {
  const hooks = await db.hook.count({ where: { storeId } });
  // In JSON, quotes within a text are escaped: nothing but the member is the same.
  const [{ hasOthers } = { hasOthers: false }] = await db.$queryRaw<{ hasOthers: boolean }[]>`
    SELECT EXISTS (SELECT FROM "ShopOrder" WHERE "storeId" = ${storeId} AND state NOT LIKE '%"isByNumber":true%') AS "hasOthers"`;
  if (hooks === 0 && !hasOthers) return;
  const why = hooks > 0 ? "the store has a hook" : "the store knows orders that did not come from such a file";
  throw faultAt(
    1,
    `The file has numbers or names of orders, and not their ids, while ${why}. Add the column Id or Order ID, with the id of the ` +
      "shop's system, so that no order counts twice.",
  );
}

/** Whether a store has orders of which only a number or a name is known. */
export async function hasNumberedOrders(db: Database, storeId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ found: boolean }[]>`
    SELECT EXISTS (SELECT FROM "ShopOrder" WHERE "storeId" = ${storeId} AND state LIKE '%"isByNumber":true%') AS found`;
  return row?.found === true;
}

/**
 * Of a store that has numbered orders.
 *
 * @throws {AppError} VALIDATION_FAILED where an order of a file is known by its number or its name, and would count once more by its
 * id, or where nothing says whether it is
 */
export async function requireOneId(db: Database, storeId: string, batch: readonly FileOrder[]): Promise<void> {
  const names = batch.map(({ name, order }) => name || order.id);
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM "ShopOrder"
    WHERE "storeId" = ${storeId} AND id = ANY(${textArrayLiteral(names)}::text[]) AND state LIKE '%"isByNumber":true%'`;
  const known = new Set(rows.map(({ id }) => id));
  for (const { name, order, line } of batch) {
    if (name === "" && !known.has(order.id)) throw faultAt(line, noName);
    if (name === "" || name === order.id || !known.has(name)) continue;
    throw faultAt(
      line,
      `The order is known as ${shownValue(name)} from a file without ids, and would count twice: use such a file again, or record this ` +
        "one in a new store.",
    );
  }
}

const noName =
  "The store knows orders by their numbers or names, from a file without ids, and nothing says whether this one is among them: add " +
  "the column Order Number or Name, or record this one in a new store.";
