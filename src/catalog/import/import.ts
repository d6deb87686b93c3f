import { resolveSite, type SiteReference } from "../../access/stores/site.js";
import { engineOf } from "../../database/engine.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/shares.js";
import { inRolledBackTransaction, inTransaction } from "../../database/transaction.js";
import { type LockCatalog, withCatalog } from "./catalogLock.js";
import type { ErrorPolicy } from "../reading/rowChecks.js";
import { withThread } from "../reading/thread.js";
import { type ImportJob, importTimeoutMs, type ProductSource, throwIfDisconnected } from "./job.js";
import { endReading, FullCheckNeeded, type StartedReading, startReading, writeDirectly } from "./direct.js";
import { importValidRows } from "./partial.js";
import type { LineSet } from "./rejects.js";
import { type ImportResult, importResult, type Written } from "./result.js";
import { checkMode, type ModeOptions } from "./modes/mode.js";
import { importByStaging } from "./embedded/staged.js";
import { importWithFullCheck, rejectWithAllProblems } from "./fullCheck.js";
import { type IdempotentRequest, onceForKey } from "./idempotency/once.js";
import { mergeSearchIndexSoon } from "../product.searchIndex.js";

export interface ImportOptions extends ModeOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  readonly idempotency?: IdempotentRequest | undefined;
  /** REJECT_ALL by default. */
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  /** Stores nothing, nor the answer under a key. */
  readonly dryRun?: boolean | null | undefined;
  /** When the client disconnects or its token ends: unless all rows were sent, nothing is stored. */
  readonly signal?: AbortSignal | undefined;
  /** With REJECT_FAILED: lines of accepted rows where others fail. */
  readonly acceptedLines?: LineSet | undefined;
}

/**
 * All products, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, TOO_MANY_DELETIONS, UNAVAILABLE, or what
 * onceForKey throws
 */
export async function importFrom(
  db: RootDatabase,
  storeId: string,
  source: ProductSource,
  { site = {}, mode, maxDeletions, idempotency, errorPolicy, dryRun, signal, acceptedLines }: ImportOptions,
): Promise<ImportResult> {
  checkMode({ mode, maxDeletions });
  const siteId = await resolveSite(db, storeId, site);
  const job = {
    target: { storeId, siteId },
    source,
    mode: mode ?? "UPSERT",
    maxDeletions,
    errorPolicy: errorPolicy ?? "REJECT_ALL",
    dryRun: dryRun === true,
    signal,
    acceptedLines,
  } as const;
  const store = source.isLong && engineOf(db).kind === "embedded" ? importByStaging : importAtOnce;
  const key = job.dryRun ? undefined : idempotency;
  return onceForKey(db, storeId, key, signal, (once) => {
    throwIfDisconnected(signal);
    const run = () => store(db, { ...job, once });
    return source.isOnThread ? withThread(storeId, run, signal) : run(); // not while it waits for another with its key
  });
}

async function importAtOnce(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  const result = await tryAtOnce(db, job);
  if (!job.dryRun) mergeSearchIndexSoon(db, result.imported);
  return result;
}

/**
 * Most imports are valid, so chunks are written as they come. Rows are collected, to report every problem, only where
 * constraints find a conflict.
 */
async function tryAtOnce(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  try {
    return await (job.source.isLong ? storeLong(db, job) : storeLocked(db, job, writeDirectly));
  } catch (error) {
    if (!(error instanceof FullCheckNeeded)) throw error;
    if (job.errorPolicy === "REJECT_FAILED") return storeLocked(db, job, importValidRows);
    return error.hasInvalidRows ? refuse(db, job) : storeLocked(db, job, importWithFullCheck);
  }
}

/** Reads the first chunks before it waits for anything: what is invalid there is refused at once. */
async function storeLong(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  let started: StartedReading | undefined = await startReading(job);
  try {
    return await storeLocked(db, job, (transaction, _, lock) => {
      const reading = started;
      started = undefined; // a further attempt reads anew
      return writeDirectly(transaction, job, lock, reading);
    });
  } finally {
    if (started !== undefined) await endReading(started.reader);
  }
}

/** @throws {AppError} VALIDATION_FAILED with every problem */
function refuse(db: RootDatabase, job: ImportJob): Promise<never> {
  return inShare(db, job, () =>
    inTransaction(db, { timeoutMs: importTimeoutMs }, (transaction) => rejectWithAllProblems(transaction, job)),
  );
}

type Write = (transaction: Database, job: ImportJob, lock: LockCatalog) => Promise<Written>;

function storeLocked(db: RootDatabase, job: ImportJob, write: Write): Promise<ImportResult> {
  const { target, source, signal } = job;
  return withCatalog(db, target.storeId, { isLong: source.isLong, signal }, (lock) =>
    inShare(db, job, () => storeInTransaction(db, job, write, lock)),
  );
}

function inShare<Result>(
  db: RootDatabase,
  { target, source, signal }: ImportJob,
  work: () => Promise<Result>,
): Promise<Result> {
  return source.isLong ? asLongWork(db, target.storeId, work, signal) : work();
}

function storeInTransaction(db: RootDatabase, job: ImportJob, write: Write, lock: LockCatalog): Promise<ImportResult> {
  const { source, mode, dryRun, once } = job;
  const transact = dryRun ? inRolledBackTransaction : inTransaction;
  return transact(db, { timeoutMs: importTimeoutMs }, (transaction) => {
    const stored = once(transaction, async () => {
      const written = await write(transaction, job, lock);
      return importResult(written, { mode, dryRun, reading: source.reading?.() });
    });
    return source.isLong ? stored : asLocked(stored); // a short import that met a lock is repeated
  });
}
