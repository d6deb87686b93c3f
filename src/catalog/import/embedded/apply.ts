import type { Database, RootDatabase } from "../../../database/client.js";
import { inTransaction } from "../../../database/transaction.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { chunkRowsMax } from "../../reading/chunkRows.js";
import { rowColumns, type RowSource } from "../../product.sql.js";
import { removeProducts } from "../modes/replace.js";
import { fieldBits } from "../../product.input.js";
import { anyFields, patchProducts } from "../../product.patch.js";
import { assignToSite, upsertProducts } from "../../product.store.js";

/** Rows per transaction: about a tenth of a second of the embedded engine. */
const stepRows = chunkRowsMax / 2;
const stepTimeoutMs = 60_000;
const removalRows = 20_000;

export interface StagedKey {
  readonly storeId: string;
  readonly importId: string;
}

export function rowsOf({ storeId, importId }: StagedKey, lines: Prisma.Sql = Prisma.empty): RowSource {
  return Prisma.sql`(SELECT ${rowColumns} FROM "StagedProduct"
    WHERE "storeId" = ${storeId} AND "importId" = ${importId} ${lines}) s`;
}

/**
 * Stores the rows of an accepted import in short transactions. Each records its progress, so this may be repeated and
 * run concurrently.
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
  const lines = Prisma.sql`AND line > ${appliedLine} AND line <= ${last}`;
  const rows = rowsOf(key, Prisma.sql`${lines} AND (title IS NOT NULL OR present IS NOT NULL)`);
  await releaseSkus(transaction, key, rows);
  const whole = rowsOf(key, Prisma.sql`${lines} AND title IS NOT NULL AND present IS NULL`);
  await upsertProducts(transaction, storeId, whole, now, "staged");
  const patches = rowsOf(key, Prisma.sql`${lines} AND present IS NOT NULL`);
  await patchProducts(transaction, storeId, patches, { ...anyFields, all: fieldBits.id, now });
  if (siteId !== null) await assignToSite(transaction, { storeId, siteId }, rows, "staged");
  const removals = rowsOf(key, Prisma.sql`${lines} AND title IS NULL AND present IS NULL`);
  // An array is read first. Joined, as few rows as the statistics tell of would be looked at for each product of the store.
  const ids = Prisma.sql`SELECT unnest(ARRAY(SELECT s.id FROM ${removals}))`;
  await removeProducts(transaction, { storeId, siteId: siteId ?? undefined }, ids);
  await mergeSearchIndex(transaction);
  await transaction.$executeRaw`
    UPDATE "StagedImport" SET "appliedLine" = ${last} WHERE "storeId" = ${storeId} AND id = ${importId}`;
  return true;
}

async function lastLine(db: Database, { storeId, importId }: StagedKey, after: number, rowsMax: number) {
  const [{ last }] = await db.$queryRaw<[{ last: number | null }]>`
    SELECT max(line) AS last FROM (
      SELECT line FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId} AND line > ${after}
      ORDER BY line LIMIT ${rowsMax}) AS next`;
  return last;
}

/**
 * Gives products whose sku a row takes a placeholder until a later step replaces them, as the check of the whole import
 * guarantees.
 */
async function releaseSkus(transaction: Database, { storeId, importId }: StagedKey, rows: RowSource): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "Product" p SET sku = ${importId} || ' ' || p.id FROM ${rows}
    WHERE p."storeId" = ${storeId} AND p.sku = s.sku AND p.id <> s.id`;
}

/** Otherwise a later step would merge all entries at once, for seconds. */
async function mergeSearchIndex(transaction: Database): Promise<void> {
  await transaction.$queryRaw`
    SELECT gin_clean_pending_list(i.indexrelid)::text AS pages FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = '"Product"'::regclass AND a.amname = 'gin'`;
}

export async function applyAllStaged(db: RootDatabase, storeId: string): Promise<void> {
  const staged = await db.$queryRaw<StagedKey[]>`
    SELECT "storeId", id AS "importId" FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND "decidedAt" IS NOT NULL`;
  for (const key of staged) await applyStaged(db, key);
}

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
