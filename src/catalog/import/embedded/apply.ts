import type { Database, RootDatabase } from "../../../database/client.js";
import { inTransaction } from "../../../database/transaction.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { rowColumns, type RowSource } from "../../product.sql.js";
import { tieToSite, upsertProducts } from "../../product.store.js";

/** Rows that are stored by one transaction: about a tenth of a second for the embedded engine, whom all wait for. */
const stepRows = 1_000;
const stepTimeoutMs = 60_000;
/** Rows that are removed by one statement. */
const removalRows = 20_000;

/** Rows of a staged import, as statements name them. */
export interface StagedKey {
  readonly storeId: string;
  readonly importId: string;
}

/** Staged rows of an import, or those of some of its lines. */
export function rowsOf({ storeId, importId }: StagedKey, lines: Prisma.Sql = Prisma.empty): RowSource {
  return Prisma.sql`(SELECT ${rowColumns} FROM "StagedProduct"
    WHERE "storeId" = ${storeId} AND "importId" = ${importId} ${lines}) s`;
}

/**
 * Stores the rows of an import that counts, bit by bit, from where it stands: others get their turn in between. It can be
 * done again, and by several at once: what a step has done is written down with it.
 */
export async function applyStaged(db: RootDatabase, key: StagedKey): Promise<void> {
  const step = () => inTransaction(db, { timeoutMs: stepTimeoutMs }, (transaction) => applyStep(transaction, key));
  while (await step());
}

/** @returns whether rows are left */
async function applyStep(transaction: Database, key: StagedKey): Promise<boolean> {
  const { storeId, importId } = key;
  const [staged] = await transaction.$queryRaw<{ now: string; siteId: string | null; appliedLine: number }[]>`
    SELECT "decidedAt"::text AS now, "siteId", "appliedLine" FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND id = ${importId} AND "decidedAt" IS NOT NULL`;
  if (staged === undefined) return false;
  const { now, siteId, appliedLine } = staged;
  const last = await lastLine(transaction, key, appliedLine, stepRows);
  if (last === null) {
    await transaction.$executeRaw`
      UPDATE "StagedImport" SET "decidedAt" = NULL WHERE "storeId" = ${storeId} AND id = ${importId}`;
    return false;
  }
  const rows = rowsOf(key, Prisma.sql`AND line > ${appliedLine} AND line <= ${last}`);
  await freeSkus(transaction, key, rows);
  await upsertProducts(transaction, storeId, rows, now, "staged");
  if (siteId !== null) await tieToSite(transaction, storeId, siteId, rows);
  await mergeSearchIndex(transaction);
  await transaction.$executeRaw`
    UPDATE "StagedImport" SET "appliedLine" = ${last} WHERE "storeId" = ${storeId} AND id = ${importId}`;
  return true;
}

/** The last of the next lines after one. Null where there are none. */
async function lastLine(db: Database, { storeId, importId }: StagedKey, after: number, rowsMax: number) {
  const [{ last }] = await db.$queryRaw<[{ last: number | null }]>`
    SELECT max(line) AS last FROM (
      SELECT line FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId} AND line > ${after}
      ORDER BY line LIMIT ${rowsMax}) AS next`;
  return last;
}

/**
 * Takes skus of these rows from products that get another one by a later step; until then they have one that nobody can
 * send. The import was found to be right as a whole: so every product that holds such a sku is replaced by it.
 */
async function freeSkus(transaction: Database, { storeId, importId }: StagedKey, rows: RowSource): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "Product" p SET sku = ${importId} || ' ' || p.id FROM ${rows}
    WHERE p."storeId" = ${storeId} AND p.sku = s.sku AND p.id <> s.id`;
}

/**
 * Merges what the step has added to the search index. Otherwise one of the next ones would have to merge all of it at once,
 * for seconds.
 */
async function mergeSearchIndex(transaction: Database): Promise<void> {
  await transaction.$queryRaw`
    SELECT gin_clean_pending_list(i.indexrelid)::text AS pages FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = '"Product"'::regclass AND a.amname = 'gin'`;
}

/** Completes imports of a store that count, whoever began to store them: then its catalog can be taken. */
export async function applyAllStaged(db: RootDatabase, storeId: string): Promise<void> {
  const staged = await db.$queryRaw<StagedKey[]>`
    SELECT "storeId", id AS "importId" FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND "decidedAt" IS NOT NULL`;
  for (const key of staged) await applyStaged(db, key);
}

/** Removes an import that does not count, or counts no more: its rows, and then what stands for it. */
export async function removeStaged(db: RootDatabase, { storeId, importId }: StagedKey): Promise<void> {
  for (let from = -1; ;) {
    const last = await lastLine(db, { storeId, importId }, from, removalRows);
    if (last === null) break;
    await db.$executeRaw`
      DELETE FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId} AND line <= ${last}
        AND NOT EXISTS (SELECT FROM "StagedImport"
          WHERE "storeId" = ${storeId} AND id = ${importId} AND "decidedAt" IS NOT NULL)`;
    from = last;
  }
  await db.$executeRaw`
    DELETE FROM "StagedImport" WHERE "storeId" = ${storeId} AND id = ${importId} AND "decidedAt" IS NULL`;
}
