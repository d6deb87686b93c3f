import type { Database } from "../../../database/client.js";

export const keptFor = "24 hours";
/** Keys that a statement removes. */
export const expiredMax = 100;

/** Removes some expired answers. The age is checked twice, to keep a row that was just replaced. @returns how many */
export async function removeExpired(db: Database, storeId: string): Promise<number> {
  return db.$executeRaw`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval AND (key, field) IN (
      SELECT key, field FROM "IdempotencyKey"
      WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval
      ORDER BY "createdAt" LIMIT ${expiredMax})`;
}
