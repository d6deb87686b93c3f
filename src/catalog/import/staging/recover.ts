import type { RootDatabase } from "../../../database/client.js";
import { engineOf } from "../../../database/engine.js";
import { inTransaction } from "../../../database/transaction.js";
import { applySteps } from "../apply.js";
import { lastLine, type StagedKey } from "./rows.js";
import { removeExpired } from "../idempotentImport.js";

/** Longer than any import takes. */
const leftAfter = "2 hours";
/** If an accepted import stays incomplete for this long, its process has ended. */
const staleAfter = "30 seconds";
const importsMax = 100;
/** The rows that one statement removes. Bounded, because on the embedded engine others wait for it. */
const removalRows = 20_000;

/** `all` if no other process can be importing, otherwise `old` ones. */
export type InterruptedImports = "all" | "old";

/** On the embedded engine: completes accepted imports of ended processes, and removes the others. */
export async function recoverImports(db: RootDatabase, leftovers: InterruptedImports): Promise<void> {
  const [stale, left] = leftovers === "all" ? ["0", "0"] : [staleAfter, leftAfter];
  const found = await db.$queryRaw<
    { storeId: string; importId: string; isDecided: boolean }[]
  >`/* staged_imports_left */
    SELECT "storeId", id AS "importId", "decidedAt" IS NOT NULL AS "isDecided" FROM "StagedImport"
    WHERE coalesce("decidedAt" <= now() - ${stale}::interval, "startedAt" <= now() - ${left}::interval)
    ORDER BY "startedAt" LIMIT ${importsMax}`;
  for (const { isDecided, ...key } of found) {
    if (isDecided) await applySteps(db, key);
    await removeStaged(db, key);
  }
  if (leftovers === "all" || found.length > 0) await reclaim(db);
}

/** Removes what imports of ended processes left in the store. */
async function removeLeft(db: RootDatabase, storeId: string): Promise<void> {
  const left = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND "decidedAt" IS NULL AND "startedAt" <= now() - ${leftAfter}::interval
    ORDER BY "startedAt" LIMIT ${importsMax}`;
  for (const { id } of left) await removeStaged(db, { storeId, importId: id });
}

/** Removes the rows of an import, unless it was accepted and is incomplete. */
export async function removeStaged(db: RootDatabase, key: StagedKey): Promise<void> {
  const { storeId, importId } = key;
  for (let from = -1; ;) {
    const last = await lastLine(db, key, { after: from, rowsMax: removalRows });
    if (last === null) break;
    await db.$executeRaw`
      DELETE FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId} AND line > ${from} AND line <= ${last}
        AND NOT EXISTS (SELECT FROM "StagedImport"
          WHERE "storeId" = ${storeId} AND id = ${importId} AND "decidedAt" IS NOT NULL)`;
    from = last;
  }
  await db.$executeRaw`
    DELETE FROM "StagedImport" WHERE "storeId" = ${storeId} AND id = ${importId} AND "decidedAt" IS NULL`;
  if (engineOf(db).kind === "embedded") await reclaim(db);
}

/** Reclaims space, because the embedded engine has no autovacuum. */
async function reclaim(db: RootDatabase): Promise<void> {
  await inTransaction(db, { timeoutMs: 10_000 }, async (transaction) => {
    const [{ imports }] = await transaction.$queryRaw<[{ imports: number }]>`/* staged_imports */
      SELECT count(*)::int AS imports FROM "StagedImport"`;
    if (imports === 0) await transaction.$executeRaw`/* staged_imports */ TRUNCATE "StagedImport", "StagedProduct"`;
  });
}

/** Stores per round; each has its own statements (storeStatements.ts). */
const storesMax = 500;

const keysMax = 10_000;

/**
 * Removes expired idempotency keys, and staged rows of ended processes. Each round continues where the last one ended. It finds stores
 * by their tokens, because that table is on every node.
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
