import type { RootDatabase } from "../../../database/client.js";
import { removeExpired } from "../idempotency/once.js";
import { removeLeft } from "./recover.js";

/** Stores per round, with statements of their own (storeStatements.ts). */
const storesMax = 500;
const keysMax = 10_000;

/**
 * Removes expired idempotency keys, and rows that imports of ended processes have staged. Each round continues where the last one
 * ended. Stores are found by their tokens: that table is on every node.
 */
export function createImportSweep(db: RootDatabase): (signal: AbortSignal) => Promise<void> {
  let after = "";
  return async (signal) => {
    const stores = await db.$queryRaw<{ storeId: string }[]>`
      SELECT DISTINCT "storeId" FROM "AccessToken" WHERE "storeId" > ${after} ORDER BY "storeId" LIMIT ${storesMax}`;
    for (const { storeId } of stores) {
      if (signal.aborted) return;
      await removeExpired(db, storeId, keysMax);
      await removeLeft(db, storeId);
      after = storeId;
    }
    if (stores.length < storesMax) after = "";
  };
}
