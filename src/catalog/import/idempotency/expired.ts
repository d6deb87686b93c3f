import type { Database } from "../../../database/client.js";

export const keptFor = "24 hours";
/** Removes the oldest expired answers, at most so many. The age is checked twice, to keep a row that was just replaced. */
export async function removeExpired(db: Database, storeId: string, max: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval AND (key, field) IN (
      SELECT key, field FROM "IdempotencyKey"
      WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval
      ORDER BY "createdAt" LIMIT ${max})`;
}
