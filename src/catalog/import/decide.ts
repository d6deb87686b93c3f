import type { Database, RootDatabase } from "../../database/client.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/shares.js";
import { engineOf } from "../../database/engine.js";
import { inTransaction, inTransactionIf } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { blockingReads } from "../product/readGate.js";
import { applyStaged, applySteps, applyUnchecked } from "./apply.js";
import { type LockCatalog, withCatalog } from "./catalogLock.js";
import { check, type Checked, requireAll } from "./check.js";
import { countProducts } from "./check.sql.js";
import { onceForKey } from "./idempotency/once.js";
import { type ImportJob, importTimeoutMs } from "./job.js";
import { excessOf, tooManyDeletions } from "./modes/mode.js";
import { stageRemovals } from "./modes/replace.js";
import { type ImportResult, importResult, type Written } from "./result.js";
import { type SentRows, type StagedRows, withoutNestedLoops } from "./staging/rows.js";

/**
 * Stores rows, which are all there, in one transaction that locks the catalog: answers as before where the import's key was used, else
 * stores the answer too.
 *
 * @returns undefined where the constraints of the catalog refuse a row, or REPLACE would delete too much: nothing was stored
 */
export function storeUnchecked(
  db: RootDatabase,
  job: ImportJob,
  rows: SentRows | StagedRows,
): Promise<ImportResult | undefined> {
  const { target, mode, maxDeletions } = job;
  const use = rows.kind === "staged" ? "long" : mode === "UPSERT" ? "short" : "short, exclusive";
  return transact(db, job, rows, async (transaction, lock) => {
    const application = { target, mode, now: await lock(transaction, use) };
    if (mode !== "REPLACE" || rows.kind === "sent") {
      const counts = await applyUnchecked(transaction, rows, application);
      return counts && importResult(counts, job);
    }
    await requireAll(transaction, rows);
    const removals = await stageRemovals(transaction, rows.key, target);
    if (excessOf({ ...removals, stored: rows.rows }, maxDeletions) !== undefined) return undefined;
    const counts = await applyUnchecked(transaction, rows, application);
    return counts && importResult({ ...counts, deleted: removals.deleted }, job);
  });
}

/**
 * As storeUnchecked, but compares the rows with each other and with the catalog before. The embedded engine, of which a transaction
 * would hold the only session, applies rows in steps after it, while readers of the store wait.
 *
 * @throws {AppError} VALIDATION_FAILED, TOO_MANY_DELETIONS or UNAVAILABLE
 */
export async function storeChecked(db: RootDatabase, job: ImportJob, rows: StagedRows): Promise<ImportResult> {
  const { target, dryRun } = job;
  const isInSteps = !dryRun && engineOf(db).kind === "embedded";
  const store = async () => {
    const result = await transact(db, job, rows, async (transaction, lock) => {
      const now = await lock(transaction, "long");
      const { mode, ...checked } = await check(transaction, job, rows);
      const counts = await countProducts(transaction, rows.key);
      const removed = await removalsOf(transaction, job, { rows, mode, stored: counts.stored });
      const written = { ...counts, ...checked, ...removed };
      if (dryRun) return importResult(written, job);
      if (!isInSteps) {
        const stored = await applyStaged(transaction, rows.key, { target, mode, now });
        return importResult({ ...written, ...stored }, job);
      }
      await accept(transaction, rows, now);
      return importResult(written, job);
    });
    if (isInSteps) await applySteps(storeClientOf(db), rows.key).catch(storedLater);
    return result;
  };
  return isInSteps ? blockingReads(target.storeId, store) : store();
}

function storedLater(cause: unknown): never {
  const message = "The import was accepted, but the database failed while it was stored. The rest is stored later.";
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5, cause });
}

/**
 * All that may have to be repeated, where others hold a lock, is this transaction.
 *
 * @param write rolls back where it gives undefined
 */
function transact<Answer extends ImportResult | undefined>(
  db: RootDatabase,
  { target: { storeId }, signal, idempotency }: ImportJob,
  { kind }: SentRows | StagedRows,
  write: (transaction: Database, lock: LockCatalog) => Promise<Answer>,
): Promise<Answer | ImportResult> {
  const isLong = kind === "staged";
  const isKept = (result: ImportResult | undefined) => result !== undefined;
  return onceForKey<Answer>(db, storeId, idempotency, signal, (once) =>
    withCatalog(db, storeId, { isLong, signal }, (lock) => {
      const work = () =>
        inTransactionIf(db, { timeoutMs: importTimeoutMs }, isKept, async (transaction) => {
          if (isLong) await withoutNestedLoops(transaction);
          const stored = once(transaction, () => write(transaction, lock));
          return isLong ? stored : asLocked(stored); // a short import that met a lock is repeated
        });
      return isLong ? asLongWork(db, storeId, work, signal) : work();
    }),
  );
}

interface Replacing extends Pick<Checked, "mode"> {
  readonly rows: StagedRows;
  /** Products that the import stores. */
  readonly stored: number;
}

/** @throws {AppError} TOO_MANY_DELETIONS */
async function removalsOf(
  transaction: Database,
  { target, mode: given, maxDeletions, dryRun }: ImportJob,
  { rows, mode, stored }: Replacing,
): Promise<Pick<Written, "deleted" | "remark">> {
  if (mode !== "REPLACE") return given === "REPLACE" ? { deleted: 0 } : {};
  const removals = await stageRemovals(transaction, rows.key, target);
  const excess = excessOf({ ...removals, stored }, maxDeletions);
  if (excess === undefined) return { deleted: removals.deleted };
  if (!dryRun) throw tooManyDeletions(excess);
  return { deleted: removals.deleted, remark: `The import would be refused: it would ${excess}.` };
}

/** From now on the import counts: applySteps stores its rows, in this process or in a later one. */
async function accept(transaction: Database, { key }: StagedRows, now: string): Promise<void> {
  const decided = await transaction.$executeRaw`
    UPDATE "StagedImport" SET "decidedAt" = ${now}::timestamptz
    WHERE "storeId" = ${key.storeId} AND id = ${key.importId}`;
  if (decided === 0) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
}

/**
 * Refuses an import with invalid rows, and reports what is wrong with its keys too. It waits for no other import.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export function refuse(db: RootDatabase, job: ImportJob, rows: StagedRows): Promise<never> {
  const work = () =>
    inTransaction(db, { timeoutMs: importTimeoutMs }, async (transaction): Promise<never> => {
      await withoutNestedLoops(transaction);
      await check(transaction, job, rows);
      throw new Error("An import with invalid rows cannot be right.");
    });
  return asLongWork(db, job.target.storeId, work, job.signal);
}
