import type { RootDatabase } from "../../../database/client.js";
import { expiredMax, removeExpired } from "../idempotency/expired.js";
import { removeLeft } from "./recover.js";

/** Stores per round, with statements of their own, as Citus requires. */
const storesMax = 500;
const keysMax = 10_000;

/**
 * Removes expired idempotency keys, and rows that imports of ended processes have staged. Each round continues where the last one
 * ended. Stores are found by their tokens: that table is on every node of Citus.
 */
export function createImportSweep(db: RootDatabase): (signal: AbortSignal) => Promise<void> {
  let after = "";
  return async (signal) => {
    const stores = await db.$queryRaw<{ storeId: string }[]>`
      SELECT DISTINCT "storeId" FROM "AccessToken" WHERE "storeId" > ${after} ORDER BY "storeId" LIMIT ${storesMax}`;
    let removed = 0;
    for (const { storeId } of stores) {
      for (let more = true; more;) {
        if (signal.aborted || removed >= keysMax) return;
        const count = await removeExpired(db, storeId);
        removed += count;
        more = count >= expiredMax;
      }
      await removeLeft(db, storeId);
      after = storeId;
    }
    if (stores.length < storesMax) after = "";
  };
}
