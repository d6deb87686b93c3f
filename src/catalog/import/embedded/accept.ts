import type { Database } from "../../../database/client.js";
import { AppError } from "../../../errors.js";
import type { LockCatalog } from "../catalogLock.js";
import type { ImportJob, ReadResult } from "../job.js";
import { collectRemovals, countDeletions, type Removed } from "../modes/replace.js";
import { failRows } from "../partial.js";
import type { Written } from "../result.js";
import { createStaging, failedRows, stagedRows } from "../staging.js";
import { throwIfProblems } from "../fullCheck.js";
import { rowsOf, type StagedKey } from "./apply.js";

export interface Staged {
  readonly read: ReadResult;
  readonly unique: boolean;
}

/**
 * Decides in one transaction to store the staged rows, less those that fail.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem, or UNAVAILABLE where the staged rows were removed meanwhile
 */
export async function accept(
  transaction: Database,
  key: StagedKey,
  job: ImportJob,
  { read, unique }: Staged,
  lock: LockCatalog,
): Promise<Written> {
  const now = await lock(transaction, "long");
  // The planner has no statistics of staged rows: nested loops would look cheap.
  await transaction.$executeRaw`SET LOCAL enable_nestloop = off`;
  const isRight = unique && read.problems.total + (read.failed?.total ?? 0) === 0;
  const isExamined = !isRight || job.mode === "PATCH" || (await hasConflict(transaction, key, job));
  const { mode, ...failed } = isExamined ? await examine(transaction, key, job, read) : job;
  const counts = await countStaged(transaction, key);
  const removed = mode === "REPLACE" ? await stageRemovals(transaction, key, job, { ...counts, isExamined }) : {};
  const decided = await transaction.$executeRaw`
    UPDATE "StagedImport" SET "decidedAt" = ${now}::timestamptz WHERE "storeId" = ${key.storeId} AND id = ${key.importId}`;
  if (decided === 0) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
  return { ...counts, ...removed, ...(isExamined && failed) };
}

/** REPLACE of a whole store has none: it deletes the products that are in the way. */
async function hasConflict(transaction: Database, key: StagedKey, { mode, target }: ImportJob): Promise<boolean> {
  if (mode === "REPLACE" && target.siteId === undefined) return false;
  const [{ isThere }] = await transaction.$queryRaw<[{ isThere: boolean }]>`
    SELECT EXISTS (
      SELECT FROM ${rowsOf(key)} JOIN "Product" p ON p."storeId" = ${key.storeId} AND p.sku = s.sku AND p.id <> s.id
      WHERE NOT EXISTS (SELECT FROM "StagedProduct" t
        WHERE t."storeId" = ${key.storeId} AND t."importId" = ${key.importId} AND t.id = p.id)) AS "isThere"`;
  return isThere;
}

/** @throws {AppError} VALIDATION_FAILED */
async function examine(
  transaction: Database,
  { storeId, importId }: StagedKey,
  job: ImportJob,
  read: ReadResult,
): Promise<Pick<Written, "deleted" | "failures" | "remark"> & Pick<ImportJob, "mode">> {
  await createStaging(transaction);
  await transaction.$executeRaw`
    INSERT INTO "ProductStaging" (line, id, sku, title, present, "priceMin", "priceMax")
    SELECT line, id, sku, title, present, "priceMin", "priceMax" FROM "StagedProduct"
    WHERE "storeId" = ${storeId} AND "importId" = ${importId}`;
  if (job.errorPolicy === "REJECT_ALL") {
    await throwIfProblems(transaction, job, read);
    if (job.mode === "PATCH") await stageResolved(transaction, { storeId, importId });
    return { mode: job.mode };
  }
  const failed = await failRows(transaction, job, read);
  if (job.mode === "PATCH") await stageResolved(transaction, { storeId, importId });
  await transaction.$executeRaw`
    DELETE FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId}
      AND line IN (SELECT line FROM "ProductStaging" WHERE failed)`;
  return failed;
}

/** Products of patches, and which of them are new. */
async function stageResolved(transaction: Database, { storeId, importId }: StagedKey): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "StagedProduct" p SET id = s.id, present = s.present FROM "ProductStaging" s
    WHERE p."storeId" = ${storeId} AND p."importId" = ${importId} AND p.line = s.line
      AND (p.id IS DISTINCT FROM s.id OR p.present IS DISTINCT FROM s.present)`;
}

/** Adds rows with the ids of removed products, after all others. */
async function stageRemovals(
  transaction: Database,
  key: StagedKey,
  job: ImportJob,
  { stored, isExamined }: Pick<Written, "stored"> & { readonly isExamined: boolean },
): Promise<Removed> {
  const { storeId, importId } = key;
  const sources = isExamined ? { rows: stagedRows, failed: failedRows } : { rows: rowsOf(key) };
  const remark = await collectRemovals(transaction, job, { ...sources, stored });
  const deleted = await countDeletions(transaction, job.target);
  await transaction.$executeRaw`
    INSERT INTO "StagedProduct" ("storeId", "importId", line, id, images)
    SELECT ${storeId}, ${importId}, row_number() OVER (ORDER BY r.id) + (
      SELECT coalesce(max(t.line), 0) FROM "StagedProduct" t WHERE t."storeId" = ${storeId} AND t."importId" = ${importId}),
      r.id, '{}' FROM "ProductRemoval" r`;
  return { deleted, ...remark };
}

async function countStaged(transaction: Database, key: StagedKey): Promise<Written> {
  const [{ stored, replaced }] = await transaction.$queryRaw<[{ stored: number; replaced: number }]>`
    SELECT count(*)::int AS stored, count(p.id)::int AS replaced FROM ${rowsOf(key)}
    LEFT JOIN "Product" p ON p."storeId" = ${key.storeId} AND p.id = s.id`;
  return { stored, created: stored - replaced };
}
