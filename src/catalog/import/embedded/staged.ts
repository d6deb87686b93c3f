import { randomUUID } from "node:crypto";
import type { Database, RootDatabase } from "../../../database/client.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { inRolledBackTransaction, inTransaction } from "../../../database/transaction.js";
import { AppError, Problems } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { EncodedRows } from "../../product.columns.js";
import { type LockCatalog, withCatalog } from "../catalogLock.js";
import { whileHidden } from "../../hiddenCatalog.js";
import { applyStaged, removeStaged, rowsOf, type StagedKey } from "./apply.js";
import { readAhead } from "../asRead.js";
import { type ImportJob, importTimeoutMs, type ReadResult, stopIfGone } from "../job.js";
import { failRows } from "../partial.js";
import { reclaim, recoverImports } from "./recover.js";
import { type ImportResult, importResult, type Written } from "../result.js";
import { refuseProblems } from "../thorough.js";
import { collectRemovals, countDeletions, type Removed } from "../modes/replace.js";
import { createStaging, failedRows, stagedRows } from "../staging.js";
import { rowColumns, sentRows } from "../../product.sql.js";

/**
 * Stores a long import in the single session of the embedded engine by short transactions, since an open one blocks
 * everybody: rows are staged, then checked together and accepted with their answer, then stored while readers of this
 * store wait. A process that ends before acceptance has stored nothing; after it, recoverImports completes the rest.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem, or UNAVAILABLE
 */
export async function importByStaging(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  const answer = await earlierAnswer(db, job);
  if (answer !== undefined) return answer;
  const key: StagedKey = { storeId: job.target.storeId, importId: randomUUID() };
  await recoverImports(db, "old");
  try {
    const read = await stage(db, key, job);
    const unique = await haveDistinctKeys(db, key);
    stopIfGone(job.signal);
    return await whileHidden(key.storeId, async () => {
      const result = await decide(db, key, job, { read, unique });
      if (!job.dryRun) await applyStaged(db, key).catch(storedLater);
      return result;
    });
  } finally {
    // If this fails, recoverImports does it later; it leaves accepted imports.
    await removeStaged(db, key).catch(() => undefined);
    await reclaim(db).catch(() => undefined);
  }
}

function storedLater(cause: unknown): never {
  const message = "The import was accepted, but the database failed while it was stored. The rest is stored later.";
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5, cause });
}

class Unanswered extends Error {}

async function earlierAnswer(db: RootDatabase, { once }: ImportJob): Promise<ImportResult | undefined> {
  const unanswered = () => Promise.reject(new Unanswered());
  try {
    return await inTransaction(db, { timeoutMs: importTimeoutMs }, (transaction) => once(transaction, unanswered));
  } catch (error) {
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
}

async function stage(
  db: RootDatabase,
  { storeId, importId }: StagedKey,
  { source, target: { siteId }, mode, signal }: ImportJob,
): Promise<ReadResult> {
  const deadline = performance.now() + importTimeoutMs;
  await db.$executeRaw`
    INSERT INTO "StagedImport" ("storeId", id, "siteId", "startedAt")
    VALUES (${storeId}, ${importId}, ${siteId ?? null}, ${new Date()}::timestamptz)`;
  const reader = source.read({ isPatch: mode === "PATCH" });
  try {
    let step = await reader.next();
    while (step.done !== true) {
      stopIfGone(signal);
      if (performance.now() > deadline) throw new AppError("UNAVAILABLE", "The import took too long.");
      const next = readAhead(reader, step);
      await stageChunk(db, { storeId, importId }, step.value.columns);
      step = await next;
    }
    return step.value;
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

async function stageChunk(db: RootDatabase, { storeId, importId }: StagedKey, columns: EncodedRows): Promise<void> {
  await withRawParameters(
    (bind) => db.$executeRaw`
      INSERT INTO "StagedProduct" ("storeId", "importId", ${rowColumns})
      SELECT ${storeId}, ${importId}, ${rowColumns} FROM ${sentRows(columns, bind)}`,
  );
}

/** Whether all ids and skus are distinct. Staged rows do not change, so this needs no lock. */
async function haveDistinctKeys(db: RootDatabase, key: StagedKey): Promise<boolean> {
  for (const column of [Prisma.sql`s.id`, Prisma.sql`s.sku`]) {
    const doubles = await db.$queryRaw<unknown[]>`
      SELECT 1 AS double FROM ${rowsOf(key)} WHERE ${column} IS NOT NULL
      GROUP BY ${column} HAVING count(*) > 1 LIMIT 1`;
    if (doubles.length > 0) return false;
  }
  return true;
}

interface Staged {
  readonly read: ReadResult;
  readonly unique: boolean;
}

function decide(db: RootDatabase, key: StagedKey, job: ImportJob, staged: Staged): Promise<ImportResult> {
  const { source, dryRun, once, signal } = job;
  const transact = dryRun ? inRolledBackTransaction : inTransaction;
  return withCatalog(db, key.storeId, { isLong: source.isLong, signal }, (lock) =>
    transact(db, { timeoutMs: importTimeoutMs }, (transaction) =>
      once(transaction, async () => importResult(await accept(transaction, key, job, staged, lock), { dryRun })),
    ),
  );
}

async function accept(
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
  const removed = mode === "REPLACE" ? await stageRemovals(transaction, key, job, isExamined) : {};
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

/** Reports what is wrong, or removes the rows that fail. @throws {AppError} VALIDATION_FAILED */
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
    await refuseProblems(transaction, job, read);
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

/** Keeps what was found out of patches: their products, and which of them are new. */
async function stageResolved(transaction: Database, { storeId, importId }: StagedKey): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "StagedProduct" p SET id = s.id, present = s.present FROM "ProductStaging" s
    WHERE p."storeId" = ${storeId} AND p."importId" = ${importId} AND p.line = s.line
      AND (p.id IS DISTINCT FROM s.id OR p.present IS DISTINCT FROM s.present)`;
}

/** Adds rows with the ids of products that the import removes, after all others. */
async function stageRemovals(
  transaction: Database,
  key: StagedKey,
  job: ImportJob,
  isExamined: boolean,
): Promise<Removed> {
  const { storeId, importId } = key;
  const sources = isExamined ? { rows: stagedRows, failed: failedRows } : { rows: rowsOf(key) };
  const remark = await collectRemovals(transaction, job, sources);
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
