import type { Database, RootDatabase } from "../../database/client.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/forStore.js";
import { engineOf } from "../../database/engine.js";
import { inTransaction, inTransactionIf } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { blockingReads } from "../product/product.lookup.js";
import { applyAccepted, applyStaged, applySteps } from "./apply.js";
import { type LockCatalog, withCatalog } from "../../database/catalogLock.js";
import { check, type Checked } from "./check.js";
import { countProducts } from "./check.sql.js";
import { idempotentImport } from "./idempotentImport.js";
import { type ImportJob, importTimeoutMs, type ImportResult, importResult, type Written } from "./importTypes.js";
import { excessOf, tooManyDeletions } from "./modes/mode.js";
import { stageRemovals } from "./modes/replace.js";
import { type StagedRows, withoutNestedLoops } from "./staging/rows.js";

/**
 * Compares staged rows with each other and with the catalog, and stores the valid ones, in one transaction that locks the catalog. The
 * embedded engine stores rows in steps afterwards, because a transaction would hold its only session; readers of the store wait.
 *
 * @throws {AppError} VALIDATION_FAILED, TOO_MANY_DELETIONS or UNAVAILABLE
 */
export async function storeChecked(db: RootDatabase, job: ImportJob, rows: StagedRows): Promise<ImportResult> {
  const { target, dryRun } = job;
  const isInSteps = !dryRun && engineOf(db).kind === "embedded";
  const store = async () => {
    const result = await transact(db, job, true, async (transaction, lock) => {
      await withoutNestedLoops(transaction);
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
 * Runs the transaction of an import. If its key was used before, it returns the earlier answer, else it stores the answer too. Repeats
 * the transaction while others hold a lock.
 *
 * @param isLong whether it has several statements
 * @param write the transaction rolls back if it returns undefined
 */
export function transact<Answer extends ImportResult | undefined>(
  db: RootDatabase,
  { target: { storeId }, signal, idempotency }: ImportJob,
  isLong: boolean,
  write: (transaction: Database, lock: LockCatalog) => Promise<Answer>,
): Promise<Answer | ImportResult> {
  const isKept = (result: ImportResult | undefined) => result !== undefined;
  return idempotentImport<Answer>(db, storeId, idempotency, signal, (once) =>
    withCatalog(
      db,
      storeId,
      { isLong, signal, finishAccepted: () => applyAccepted(storeClientOf(db), storeId) },
      (lock) => {
        const work = () =>
          inTransactionIf(db, { timeoutMs: importTimeoutMs }, isKept, async (transaction) => {
            const stored = once(transaction, () => write(transaction, lock));
            return isLong ? stored : asLocked(stored); // repeats a short import that met a lock
          });
        return isLong ? asLongWork(db, storeId, work, signal) : work();
      },
    ),
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

/** From now on the import counts, and applySteps stores its rows in this process or a later one. */
async function accept(transaction: Database, { key }: StagedRows, now: string): Promise<void> {
  const decided = await transaction.$executeRaw`
    UPDATE "StagedImport" SET "decidedAt" = ${now}::timestamptz
    WHERE "storeId" = ${key.storeId} AND id = ${key.importId}`;
  if (decided === 0) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
}

/**
 * Refuses an import with invalid rows, and also reports problems of its keys. Does not wait for other imports.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export function rejectRows(db: RootDatabase, job: ImportJob, rows: StagedRows): Promise<never> {
  const work = () =>
    inTransaction(db, { timeoutMs: importTimeoutMs }, async (transaction): Promise<never> => {
      await withoutNestedLoops(transaction);
      await check(transaction, job, rows);
      throw new Error("An import with invalid rows was not refused.");
    });
  return asLongWork(db, job.target.storeId, work, job.signal);
}
