import type { Database } from "../../../database/client.js";

/** docs/catalog.md and the OpenAPI document promise a day. */
export const keptFor = "24 hours";
/** Old keys that one statement takes away: more than the one that an import adds, and few enough not to be felt. */
const expiredMax = 100;
/** Stores that one round looks at, each with a statement of its own, as Citus wants it. */
const storesMax = 500;
/** Keys that one round takes away, give or take a statement's. */
const keysMax = 10_000;

/**
 * Removes some answers of the store that are too old. The age is asked for twice: a row that an import has just written
 * anew is looked at again by itself.
 *
 * @returns how many
 */
export async function removeExpired(db: Database, storeId: string): Promise<number> {
  return db.$executeRaw`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval AND (key, field) IN (
      SELECT key, field FROM "IdempotencyKey"
      WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval
      ORDER BY "createdAt" LIMIT ${expiredMax})`;
}

/**
 * A sweep over all stores: each round removes what is too old of the stores that come next, and remembers where it ended.
 * Stores are found by their tokens, without which none has imported: that table is on every node of Citus.
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
