import { resolveSite, type SiteReference } from "../../access/site.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/shares.js";
import { inRolledBackTransaction, inTransaction, isSingleSession } from "../../database/transaction.js";
import { type LockCatalog, withCatalog } from "./catalogLock.js";
import type { ErrorPolicy } from "../reading/rowChecks.js";
import { type ImportJob, type ImportTarget, importTimeoutMs, type ProductSource, stopIfGone } from "./job.js";
import { RowsInDoubt, writeAsRead } from "./asRead.js";
import { importValidRows } from "./partial.js";
import { type ImportResult, importResult, type Written } from "./result.js";
import { importByStaging } from "./embedded/staged.js";
import { importThoroughly, nameProblems } from "./thorough.js";
import { type IdempotentRequest, onceForKey } from "./idempotency/once.js";
import { mergeSearchIndexSoon } from "../product.searchIndex.js";

export interface ImportOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  /** Where the caller may send the request again and means it once. */
  readonly idempotency?: IdempotentRequest | undefined;
  /** REJECT_ALL unless given. */
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  /** To find out what the import would do, and store nothing, nor the answer under a key. */
  readonly dryRun?: boolean | null | undefined;
  /** Aborted when the caller has gone: what is not stored by then stays so, unless its last rows were sent already. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Stores all products of a source, or none; with REJECT_FAILED, all but those that fail.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, UNAVAILABLE after waiting in vain for other
 *   imports, or what onceForKey throws
 */
export async function importFrom(
  db: RootDatabase,
  storeId: string,
  source: ProductSource,
  { site = {}, idempotency, errorPolicy, dryRun: isDryRun, signal }: ImportOptions,
): Promise<ImportResult> {
  const target: ImportTarget = { storeId, siteId: await resolveSite(db, storeId, site) };
  const dryRun = isDryRun === true;
  const inSteps = source.isLong && (await isSingleSession(db));
  return onceForKey(db, storeId, dryRun ? undefined : idempotency, signal, (once) => {
    stopIfGone(signal);
    const job: ImportJob = { target, source, errorPolicy: errorPolicy ?? "REJECT_ALL", dryRun, once, signal };
    return inSteps ? importByStaging(db, job) : importAtOnce(db, job);
  });
}

/**
 * Stores an import by one transaction. Most imports are right, so each chunk is written as it comes, and the database's
 * constraints tell whether rows go together; only when something is wrong are all rows looked at to name it.
 */
async function importAtOnce(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  const result = await tryAtOnce(db, job);
  if (!job.dryRun) mergeSearchIndexSoon(db, result.imported);
  return result;
}

async function tryAtOnce(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  try {
    return await runOnce(db, job, writeAsRead);
  } catch (error) {
    if (!(error instanceof RowsInDoubt)) throw error;
    if (job.errorPolicy === "REJECT_FAILED") return runOnce(db, job, importValidRows);
    return error.isCertain ? refuse(db, job) : runOnce(db, job, importThoroughly);
  }
}

/** @throws {AppError} VALIDATION_FAILED with every problem */
function refuse(db: RootDatabase, { target: { storeId }, source, signal }: ImportJob): Promise<never> {
  const work = () =>
    inTransaction(db, { timeoutMs: importTimeoutMs }, (transaction) =>
      nameProblems(transaction, storeId, source, signal),
    );
  return source.isLong ? asLongWork(db, storeId, work, signal) : work();
}

type Write = (transaction: Database, job: ImportJob, lock: LockCatalog) => Promise<Written>;

function runOnce(db: RootDatabase, job: ImportJob, write: Write): Promise<ImportResult> {
  const { target, source, dryRun, once, signal } = job;
  const { isLong } = source;
  const transact = dryRun ? inRolledBackTransaction : inTransaction;
  return withCatalog(db, target.storeId, { isLong, signal }, (lock) => {
    const work = () =>
      transact(db, { timeoutMs: importTimeoutMs }, (transaction) => {
        const stored = once(transaction, async () => importResult(await write(transaction, job, lock), { dryRun }));
        return isLong ? stored : asLocked(stored); // a short one is soon done again
      });
    return isLong ? asLongWork(db, target.storeId, work, signal) : work();
  });
}
