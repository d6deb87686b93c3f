import type { Database } from "../../database/client.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { shownValue } from "../../lib/mustBe.js";
import type { FileOrder } from "./readOrder.js";
import { faultAt } from "./orderLines.js";

/**
 * Refuses a file that has only numbers or names of orders, unless all orders of the store came from such files: orders that are known
 * by their ids would count twice.
 *
 * @throws {AppError} VALIDATION_FAILED
 */
export async function requireIds(db: Database, storeId: string): Promise<void> {
  const hooks = await db.hook.count({ where: { storeId } });
  // JSON escapes quotes within texts, so only the member matches.
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

/** Whether a store has orders that are known only by number or name. */
export async function hasNumberedOrders(db: Database, storeId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ found: boolean }[]>`
    SELECT EXISTS (SELECT FROM "ShopOrder" WHERE "storeId" = ${storeId} AND state LIKE '%"isByNumber":true%') AS found`;
  return row?.found === true;
}

/**
 * For a store with such orders, refuses an order that may be one of them.
 *
 * @throws {AppError} VALIDATION_FAILED if an order of the file is known by its number or name and would count again by its id, or if it
 * names neither
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
  "The store knows orders by their numbers or names, from a file without ids, and this one may be among them: add " +
  "the column Order Number or Name, or record this one in a new store.";
