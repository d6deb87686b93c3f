import type { Database } from "../../../database/client.js";

export const keptFor = "24 hours";
const expiredMax = 100;
/** Stores per round, with a statement each, as Citus requires. */
const storesMax = 500;
const keysMax = 10_000;

/** Removes some expired answers. The age is checked twice, to keep a row that was just replaced. @returns how many */
export async function removeExpired(db: Database, storeId: string): Promise<number> {
  return db.$executeRaw`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval AND (key, field) IN (
      SELECT key, field FROM "IdempotencyKey"
      WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval
      ORDER BY "createdAt" LIMIT ${expiredMax})`;
}

/**
 * Each round of the sweep continues where the last one ended. Stores are found by their tokens: that table is on every
 * node of Citus.
 */
export function createKeySweep(db: Database): (signal: AbortSignal) => Promise<void> {
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
      after = storeId;
    }
    if (stores.length < storesMax) after = "";
  };
}
