import type { Database, RootDatabase } from "../../database/client.js";
import { storeClientOf } from "../../database/shares/caller.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/shares.js";
import { engineOf } from "../../database/engine.js";
import { inTransaction, inTransactionIf } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { blockingReads } from "../readGate.js";
import { type Application, applyStaged, applySteps, applyUnchecked } from "./apply.js";
import { type LockCatalog, withCatalog } from "./catalogLock.js";
import { check, type Checked, requireAll } from "./check.js";
import { countProducts } from "./check.sql.js";
import { type IdempotentRequest, onceForKey } from "./idempotency/once.js";
import { type ImportJob, importTimeoutMs } from "./job.js";
import { excessOf, tooManyDeletions } from "./modes/mode.js";
import { stageRemovals } from "./modes/replace.js";
import { type ImportResult, importResult, type Written } from "./result.js";
import type { SentRows, StagedRows } from "./staging/rows.js";

export interface Request {
  readonly db: RootDatabase;
  readonly job: ImportJob;
  readonly request: IdempotentRequest | undefined;
}

/**
 * Decides on an import, whose rows are all there, in one transaction that locks the catalog: answers as before where its key was
 * used, else checks and applies the rows and stores the answer. The embedded engine, of which a transaction would hold the only
 * session, applies staged rows in steps after it, while readers of the store wait.
 *
 * @returns undefined where rows that were not checked may not be stored as they are: nothing was stored
 * @throws {AppError} VALIDATION_FAILED, TOO_MANY_DELETIONS or UNAVAILABLE
 */
export async function decide(
  given: Request,
  rows: SentRows | StagedRows,
  { isChecked }: { readonly isChecked: boolean },
): Promise<ImportResult | undefined> {
  const { db, job } = given;
  const isInSteps = rows.kind === "staged" && !job.dryRun && engineOf(db).kind === "embedded";
  const write = (transaction: Database, lock: LockCatalog) => {
    if (rows.kind === "sent" || !isChecked) return writeUnchecked(transaction, job, { rows, lock });
    return writeChecked(transaction, job, { rows, lock, isInSteps });
  };
  if (!isInSteps) return transact(given, rows, write);
  return blockingReads(job.target.storeId, async () => {
    const result = await transact(given, rows, write);
    await applySteps(storeClientOf(db), rows.key).catch(storedLater);
    return result;
  });
}

function storedLater(cause: unknown): never {
  const message = "The import was accepted, but the database failed while it was stored. The rest is stored later.";
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5, cause });
}

type Write = (transaction: Database, lock: LockCatalog) => Promise<Written | undefined>;

/** All that may have to be repeated, where others hold a lock, is this transaction. */
function transact(
  { db, job, request }: Request,
  { kind }: SentRows | StagedRows,
  write: Write,
): Promise<ImportResult | undefined> {
  const { target, source, mode, dryRun, signal } = job;
  const { storeId } = target;
  const isLong = kind === "staged";
  const isKept = (result: ImportResult | undefined) => result !== undefined;
  return onceForKey(db, storeId, request, signal, (once) =>
    withCatalog(db, storeId, { isLong, signal }, (lock) => {
      const work = () =>
        inTransactionIf(db, { timeoutMs: importTimeoutMs }, isKept, (transaction) => {
          const stored = once(transaction, async () => {
            const written = await write(transaction, lock);
            return written && importResult(written, { mode, dryRun, reading: source.reading?.() });
          });
          return isLong ? stored : asLocked(stored); // a short import that met a lock is repeated
        });
      return isLong ? asLongWork(db, storeId, work, signal) : work();
    }),
  );
}

interface Writing<Rows> {
  readonly rows: Rows;
  readonly lock: LockCatalog;
}

async function writeUnchecked(
  transaction: Database,
  job: ImportJob,
  { rows, lock }: Writing<SentRows | StagedRows>,
): Promise<Written | undefined> {
  const { target, mode, maxDeletions } = job;
  const isAlone = mode !== "UPSERT";
  const now = await lock(transaction, rows.kind === "staged" ? "long" : isAlone ? "short, exclusive" : "short");
  const application = { target, mode, now };
  if (mode !== "REPLACE" || rows.kind === "sent") return applyUnchecked(transaction, rows, application);
  await requireAll(transaction, rows);
  const removals = await stageRemovals(transaction, rows.key, target);
  if (excessOf({ ...removals, stored: rows.rows }, maxDeletions) !== undefined) return undefined;
  const counts = await applyUnchecked(transaction, rows, application);
  return counts && { ...counts, deleted: removals.deleted };
}

async function writeChecked(
  transaction: Database,
  job: ImportJob,
  { rows, lock, isInSteps }: Writing<StagedRows> & { readonly isInSteps: boolean },
): Promise<Written> {
  const now = await lock(transaction, "long");
  const { mode, ...checked } = await check(transaction, job, rows);
  const counts = await countProducts(transaction, rows.key);
  const removed = await removalsOf(transaction, job, { rows, mode, stored: counts.stored });
  const written = { ...counts, ...checked, ...removed };
  if (job.dryRun) return written;
  if (isInSteps) {
    await accept(transaction, rows, now);
    return written;
  }
  const application: Application = { target: job.target, mode, now };
  return { ...written, ...(await applyStaged(transaction, rows.key, application)) };
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

/** From now on the import counts: applySteps, or whoever comes after this process, stores its rows. */
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
export function refuse({ db, job }: Request, rows: StagedRows): Promise<never> {
  const { storeId } = job.target;
  const work = () =>
    inTransaction(db, { timeoutMs: importTimeoutMs }, async (transaction): Promise<never> => {
      await check(transaction, job, rows);
      throw new Error("An import with invalid rows cannot be right.");
    });
  return asLongWork(db, storeId, work, job.signal);
}
