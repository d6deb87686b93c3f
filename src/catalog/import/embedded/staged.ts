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
import { type ImportFailures, type ImportResult, importResult, type Written } from "../result.js";
import { refuseProblems } from "../thorough.js";
import { createStaging } from "../staging.js";
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
  { source, target: { siteId }, signal }: ImportJob,
): Promise<ReadResult> {
  const deadline = performance.now() + importTimeoutMs;
  await db.$executeRaw`
    INSERT INTO "StagedImport" ("storeId", id, "siteId", "startedAt")
    VALUES (${storeId}, ${importId}, ${siteId ?? null}, ${new Date()}::timestamptz)`;
  const reader = source.read();
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
  const failures =
    isRight && !(await hasConflict(transaction, key)) ? undefined : await examine(transaction, key, job, read);
  const counts = await countStaged(transaction, key);
  const decided = await transaction.$executeRaw`
    UPDATE "StagedImport" SET "decidedAt" = ${now}::timestamptz WHERE "storeId" = ${key.storeId} AND id = ${key.importId}`;
  if (decided === 0) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
  return { ...counts, ...(failures && { failures }) };
}

async function hasConflict(transaction: Database, key: StagedKey): Promise<boolean> {
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
  { source, errorPolicy }: ImportJob,
  read: ReadResult,
): Promise<ImportFailures | undefined> {
  await createStaging(transaction);
  await transaction.$executeRaw`
    INSERT INTO "ProductStaging" (line, id, sku, title) SELECT line, id, sku, title FROM "StagedProduct"
    WHERE "storeId" = ${storeId} AND "importId" = ${importId}`;
  if (errorPolicy === "REJECT_ALL") {
    await refuseProblems(transaction, storeId, source, read);
    return undefined;
  }
  const failures = await failRows(transaction, storeId, source, read);
  await transaction.$executeRaw`
    DELETE FROM "StagedProduct" WHERE "storeId" = ${storeId} AND "importId" = ${importId}
      AND line IN (SELECT line FROM "ProductStaging" WHERE failed)`;
  return failures;
}

async function countStaged(transaction: Database, key: StagedKey): Promise<Written> {
  const [{ stored, replaced }] = await transaction.$queryRaw<[{ stored: number; replaced: number }]>`
    SELECT count(*)::int AS stored, count(p.id)::int AS replaced FROM ${rowsOf(key)}
    LEFT JOIN "Product" p ON p."storeId" = ${key.storeId} AND p.id = s.id`;
  return { stored, created: stored - replaced };
}
