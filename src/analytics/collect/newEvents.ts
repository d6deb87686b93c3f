import type { Database } from "../../database/client.js";
import type { ShopperEventInput } from "../events/events.input.js";
import { idBytes } from "../events/storage/codes.js";

/**
 * Events of a batch, by index, that were new when it was recorded.
 *
 * @param since a time before the batch was recorded
 */
export async function newEvents(
  db: Database,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
  since: Date,
): Promise<ReadonlySet<number>> {
  // findFirst: see storeStatements.ts
  const show = await db.liveStream.findFirst({ where: { storeId, id: lsId }, select: { number: true } });
  if (show === null) return new Set(); // deleted meanwhile
  const keys = events.map(({ id }) => idBytes(id).slice(2)); // without the \x of PostgreSQL
  const rows = await db.showEvent.findMany({
    where: {
      storeId,
      show: show.number,
      id: { in: [...new Set(keys)].map((key) => Uint8Array.from(Buffer.from(key, "hex"))) },
      acceptedAt: { gte: since },
    },
    select: { id: true, position: true },
  });
  // An event keeps its position in the batch that stored it.
  const stored = new Set(rows.map(({ id, position }) => `${Buffer.from(id).toString("hex")} ${position}`));
  return new Set(keys.flatMap((key, index) => (stored.has(`${key} ${index + 1}`) ? [index] : [])));
}
