import type { RootDatabase } from "../../database/client.js";
import { attributeOrders } from "./order.record.js";

const batchOrders = 500;

/**
 * Attributes the orders that are due: those that came as events. If this process ends before, another call does it.
 *
 * @returns the ids of the shows whose figures changed
 */
export async function attributeDue(db: RootDatabase, storeId: string): Promise<readonly string[]> {
  const shows = new Set<string>();
  for (let isRest = true; isRest;) {
    const due = await db.shopOrder.findMany({
      where: { storeId, isDue: true },
      select: { id: true },
      orderBy: { id: "asc" },
      take: batchOrders,
    });
    const ids = due.map(({ id }) => id);
    const { changed } = await attributeOrders(db, storeId, ids);
    for (const lsId of changed) shows.add(lsId);
    isRest = ids.length === batchOrders;
  }
  return [...shows];
}
