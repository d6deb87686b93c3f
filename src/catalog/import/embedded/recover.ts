import type { RootDatabase } from "../../../database/client.js";
import { inTransaction } from "../../../database/transaction.js";
import { applyStaged, removeStaged } from "./apply.js";

/** Longer than an import may take. */
const leftAfter = "2 hours";
/** An import that counts and is not stored for so long was left by a process that has ended. */
const staleAfter = "30 seconds";
const importsMax = 100;

/** Which imports are taken for left by others: `all`, where nobody else can be at work, or those that are old. */
export type Leftovers = "all" | "old";

/**
 * Completes imports that count, and removes those that do not, which processes have left that were killed meanwhile. For
 * the embedded engine alone: elsewhere nothing is staged.
 */
export async function recoverImports(db: RootDatabase, leftovers: Leftovers): Promise<void> {
  const [stale, left] = leftovers === "all" ? ["0", "0"] : [staleAfter, leftAfter];
  const found = await db.$queryRaw<
    { storeId: string; importId: string; isDecided: boolean }[]
  >`/* staged_imports_left */
    SELECT "storeId", id AS "importId", "decidedAt" IS NOT NULL AS "isDecided" FROM "StagedImport"
    WHERE coalesce("decidedAt" <= now() - ${stale}::interval, "startedAt" <= now() - ${left}::interval)
    ORDER BY "startedAt" LIMIT ${importsMax}`;
  for (const { isDecided, ...key } of found) {
    if (isDecided) await applyStaged(db, key);
    await removeStaged(db, key);
  }
  if (leftovers === "all" || found.length > 0) await reclaim(db);
}

/**
 * Gives the space of removed rows back: the embedded engine has no autovacuum. Only while nobody stages anything.
 */
export async function reclaim(db: RootDatabase): Promise<void> {
  await inTransaction(db, { timeoutMs: 10_000 }, async (transaction) => {
    const [{ imports }] = await transaction.$queryRaw<[{ imports: number }]>`/* staged_imports */
      SELECT count(*)::int AS imports FROM "StagedImport"`;
    if (imports === 0) await transaction.$executeRaw`/* staged_imports */ TRUNCATE "StagedImport", "StagedProduct"`;
  });
}
