import type { Database, RootDatabase } from "../../database/client.js";
import { inTransaction } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { fieldBits } from "../../files/product/product.fields.js";
import { anyFields, patchProducts } from "../product/product.patch.js";
import { mergeSearchIndex } from "../product/search/product.searchIndex.js";
import { assignToSite, isCatalogEmpty, type UpsertCounts, upsertProducts } from "./upsert.js";
import { chunkRowsMax } from "../../files/chunkRows.js";
import type { ImportTarget } from "./importTypes.js";
import type { ImportMode } from "./modes/mode.js";
import { removeProducts } from "./modes/replace.js";
import {
  isPatch,
  isRemoval,
  isWhole,
  lastLine,
  ofImport,
  type StagedKey,
  stagedRows,
  withNestedLoops,
} from "./staging/rows.js";

interface Application {
  readonly target: ImportTarget;
  readonly mode: ImportMode;
  /** The time of the import, from `lock`. */
  readonly now: string;
}

/** The rows of one transaction of the embedded engine, which take about a tenth of a second. */
const stepRows = chunkRowsMax / 2;
const stepTimeoutMs = 60_000;

/** Stores the staged rows that do not fail, in one transaction. */
export async function applyStaged(
  transaction: Database,
  key: StagedKey,
  { target, mode, now }: Application,
): Promise<UpsertCounts> {
  if (mode === "PATCH") {
    await withNestedLoops(transaction);
    return applyInParts(transaction, key, { target, now });
  }
  const { storeId, siteId } = target;
  if (mode === "REPLACE") await removeProducts(transaction, target, removedIds(key));
  const rows = stagedRows(key, isWhole);
  const kind = (await isCatalogEmpty(transaction, storeId)) ? "staged, insert" : "staged";
  const counts = await upsertProducts(transaction, storeId, rows, now, kind);
  if (siteId !== undefined) await assignToSite(transaction, { storeId, siteId }, rows);
  return counts;
}

/** In parts, because the words of patched products are made here, and those of all would take too much memory. */
async function applyInParts(transaction: Database, key: StagedKey, part: Omit<Part, "lines">): Promise<UpsertCounts> {
  let [stored, created] = [0, 0];
  for (let after = -1; ;) {
    const last = await lastLine(transaction, key, { after, rowsMax: chunkRowsMax });
    if (last === null) return { stored, created };
    const lines = Prisma.sql`s.line > ${after} AND s.line <= ${last}`;
    const counts = await applyPart(transaction, key, { ...part, lines });
    stored += counts.stored;
    created += counts.created;
    after = last;
  }
}

interface Part {
  readonly target: ImportTarget;
  readonly now: string;
  /** The condition for its rows. */
  readonly lines: Prisma.Sql;
}

/** Stores some of the staged rows, of whatever kind. The others must follow. */
async function applyPart(transaction: Database, key: StagedKey, { target, now, lines }: Part): Promise<UpsertCounts> {
  const { storeId, siteId } = target;
  const rowsThat = (condition: Prisma.Sql) => stagedRows(key, Prisma.sql`${lines} AND ${condition}`);
  const written = rowsThat(Prisma.sql`(s.title IS NOT NULL OR s.present IS NOT NULL) AND NOT s.failed`);
  await releaseSkus(transaction, key, lines);
  const { stored, created } = await upsertProducts(transaction, storeId, rowsThat(isWhole), now, "staged");
  const patch = { ...anyFields, all: fieldBits.id, now };
  const patched = await patchProducts(transaction, storeId, rowsThat(isPatch), patch);
  if (siteId !== undefined) await assignToSite(transaction, { storeId, siteId }, written);
  await removeProducts(transaction, target, removedIds(key, lines));
  return { stored: stored + patched.stored, created };
}

/**
 * If a row takes the sku of another product, gives that product a placeholder, so that skus stay unique between statements. The
 * check of the whole import guarantees that another part replaces or removes that product.
 */
async function releaseSkus(transaction: Database, key: StagedKey, lines: Prisma.Sql): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "Product" p SET sku = ${key.importId} || ' ' || p.id FROM "StagedProduct" s
    WHERE p."storeId" = ${key.storeId} AND ${ofImport("s", key)} AND ${lines} AND NOT s.failed
      AND p.sku = s.sku AND p.id <> s.id`;
}

/**
 * An array, not a join: a join would be planned as a nested loop, because the staging table has no statistics yet.
 */
function removedIds(key: StagedKey, lines = Prisma.sql`true`): Prisma.Sql {
  return Prisma.sql`SELECT unnest(ARRAY(
    SELECT s.id FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND ${lines} AND ${isRemoval}))`;
}

/**
 * On the embedded engine, stores the rows of an accepted import in short transactions. Each records its progress, so this can be
 * repeated and run concurrently.
 */
export async function applySteps(db: RootDatabase, key: StagedKey): Promise<void> {
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
  const last = await lastLine(transaction, key, { after: appliedLine, rowsMax: stepRows });
  if (last === null) {
    await transaction.$executeRaw`
      UPDATE "StagedImport" SET "decidedAt" = NULL WHERE "storeId" = ${storeId} AND id = ${importId}`;
    return false;
  }
  const lines = Prisma.sql`s.line > ${appliedLine} AND s.line <= ${last}`;
  await applyPart(transaction, key, { target: { storeId, siteId: siteId ?? undefined }, now, lines });
  await mergeSearchIndex(transaction); // otherwise a later step would take seconds to merge all entries at once
  await transaction.$executeRaw`
    UPDATE "StagedImport" SET "appliedLine" = ${last} WHERE "storeId" = ${storeId} AND id = ${importId}`;
  return true;
}

/** On the embedded engine, completes accepted imports of the store whose processes ended or are waiting. */
export async function applyAccepted(db: RootDatabase, storeId: string): Promise<void> {
  const accepted = await db.$queryRaw<StagedKey[]>`
    SELECT "storeId", id AS "importId" FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND "decidedAt" IS NOT NULL`;
  for (const key of accepted) await applySteps(db, key);
}
