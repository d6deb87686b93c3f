import { resolveSite, type SiteReference } from "../../access/site.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked } from "../../database/shares/lockWait.js";
import { asLongWork } from "../../database/shares/shares.js";
import { inRolledBackTransaction, inTransaction, isSingleSession } from "../../database/transaction.js";
import { type AppError, errorAt, type Path, type Problems } from "../../errors.js";
import { type LockCatalog, withCatalog } from "./catalogLock.js";
import type { EncodedRows } from "../product.columns.js";
import type { ErrorPolicy, FailedRows } from "../reading/rowChecks.js";
import { listSource } from "./list.js";
import { importTimeoutMs, stopIfGone } from "./limits.js";
import { RowsInDoubt, writeAsRead } from "./asRead.js";
import { importValidRows } from "./partial.js";
import { type ImportResult, importResult, type Written } from "./result.js";
import { importByStaging } from "./embedded/staged.js";
import { importThoroughly, nameProblems } from "./thorough.js";
import { type IdempotentRequest, type Once, onceForKey } from "./idempotency/once.js";
import { mergeSearchIndexSoon } from "../product.searchMerge.js";

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

/** Some rows of an import, ready to be sent. Rows with problems stand among them. */
export interface ProductChunk {
  readonly rows: number;
  readonly columns: EncodedRows;
  /** Whether no row that was read so far has problems. */
  readonly isValid: boolean;
}

/** How an import ended: its rows, and what is wrong with them as far as a row alone tells. */
export interface ReadResult {
  readonly rows: number;
  /** What rejects the whole import. */
  readonly problems: Pick<Problems, "list" | "total">;
  /** With REJECT_FAILED: rows that fail by themselves. */
  readonly failed?: FailedRows;
}

export interface ReadOptions {
  /** Whether chunks need no more than the keys of rows. */
  readonly keysOnly?: boolean;
}

/** Where products come from; it can be read more than once. */
export interface ProductSource {
  /** Whether an import takes more than a moment. One that does not is a single chunk. */
  readonly isLong: boolean;
  read(options?: ReadOptions): AsyncGenerator<ProductChunk, ReadResult>;
  /** Where a row stands, by its line or index. */
  placeOf(line: number, field: string): { path: Path; line?: number };
  /** The same, for an answer that lists rows. */
  positionOf(line: number): { index: number | null; line: number | null };
}

/** Where an import goes. */
export interface ImportTarget {
  readonly storeId: string;
  readonly siteId: string | undefined;
}

/** An import that is to be carried out. */
export interface ImportJob {
  readonly target: ImportTarget;
  readonly source: ProductSource;
  readonly errorPolicy: ErrorPolicy;
  readonly dryRun: boolean;
  /** Goes around the work of the transaction that stores it. */
  readonly once: Once;
  readonly signal: AbortSignal | undefined;
}

/**
 * Stores the products, each replacing the one with its id: all of them or none, or as `errorPolicy` has it.
 *
 * @param products need not be valid: what is wrong with them is found here
 * @throws {AppError} SITE_NOT_FOUND, or VALIDATION_FAILED with every problem
 */
export async function importProducts(
  db: RootDatabase,
  storeId: string,
  products: readonly unknown[],
  { pathOf = (index) => ["products", index], ...options }: ImportOptions & { pathOf?: (index: number) => Path } = {},
): Promise<ImportResult> {
  const { productsMax = Infinity } = options;
  if (products.length > productsMax) {
    throw tooManyProducts(productsMax);
  }
  return importFrom(db, storeId, listSource(products, pathOf, options.errorPolicy ?? "REJECT_ALL"), options);
}

/** The refusal of a list that is too long. */
export function tooManyProducts(productsMax: number): AppError {
  const message = `At most ${productsMax} products can be imported at once (MAX_BULK_PRODUCTS).`;
  return errorAt("VALIDATION_FAILED", message, ["products"]);
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
