import type { RootDatabase } from "../../../database/client.js";
import { inTransaction } from "../../../database/transaction.js";
import { applyStaged, removeStaged } from "./apply.js";

const leftAfter = "2 hours";
/** The process of an accepted import that is incomplete for so long has ended. */
const staleAfter = "30 seconds";
const importsMax = 100;

/** `all` if no other process can be importing, otherwise `old` ones. */
export type InterruptedImports = "all" | "old";

/** Completes accepted imports of ended processes and removes the others; only the embedded engine has any. */
export async function recoverImports(db: RootDatabase, leftovers: InterruptedImports): Promise<void> {
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

/** Reclaims space: the embedded engine has no autovacuum. */
export async function reclaim(db: RootDatabase): Promise<void> {
  await inTransaction(db, { timeoutMs: 10_000 }, async (transaction) => {
    const [{ imports }] = await transaction.$queryRaw<[{ imports: number }]>`/* staged_imports */
      SELECT count(*)::int AS imports FROM "StagedImport"`;
    if (imports === 0) await transaction.$executeRaw`/* staged_imports */ TRUNCATE "StagedImport", "StagedProduct"`;
  });
}
