import { resolveSite, type SiteReference } from "../access/site.js";
import type { Database, RootDatabase } from "../database/client.js";
import { isRowRefused } from "../database/errors.js";
import { asLongWork } from "../database/longWork.js";
import { withParked } from "../database/parked.js";
import { inRehearsal, inTransaction } from "../database/transaction.js";
import { errorAt, type Path, Problems } from "../errors.js";
import { lockCatalog, whenCatalogIsFree } from "./product.catalogLock.js";
import type { ProductColumns } from "./product.columns.js";
import type { ErrorPolicy, FailedRows } from "./product.rowChecks.js";
import { listSource } from "./product.import.list.js";
import { importSound } from "./product.import.partial.js";
import { type ImportResult, importResult, type Written } from "./product.import.result.js";
import { importThoroughly } from "./product.import.thorough.js";
import { type IdempotentRequest, onceForKey } from "./product.import.once.js";
import { checkSkus, deferSkuCheck, sentRows, tieToSite, type UpsertCounts, upsertProducts } from "./product.store.js";

export interface ImportOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  /** Where the caller may send the request again and means it once. */
  readonly idempotency?: IdempotentRequest | undefined;
  /** REJECT_ALL unless given. */
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  /** To find out what the import would do, and store nothing, nor the answer under a key. */
  readonly dryRun?: boolean | null | undefined;
}

/** Some rows of an import, ready to be sent. Rows with problems stand among them. */
interface ProductChunk {
  readonly rows: number;
  readonly columns: ProductColumns;
  /** Whether no row that was read so far has problems. */
  readonly isSound: boolean;
}

/** How an import ended: its rows, and what is wrong with them as far as a row alone tells. */
export interface ReadResult {
  readonly rows: number;
  /** What rejects the whole import. */
  readonly problems: Pick<Problems, "list" | "total">;
  /** With REJECT_FAILED: rows that fail by themselves. */
  readonly failed?: FailedRows;
}

/** Where products come from; it can be read more than once. */
export interface ProductSource {
  /** Whether an import takes more than a moment. One that does not is a single chunk. */
  readonly isLong: boolean;
  read(): AsyncGenerator<ProductChunk, ReadResult>;
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

/** Something is wrong with the rows: the transaction must end, and another one find out what. */
class RowsInDoubt extends Error {}

/** The longest import; a client of today's networks has given up long before. */
const importTimeoutMs = 60 * 60_000;

/**
 * Stores the products, each replacing the one with its id: all of them or none, or as `errorPolicy` has it.
 *
 * @param products need not be sound: what is wrong with them is found here
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
    throw errorAt("VALIDATION_FAILED", `At most ${productsMax} products can be imported at once.`, ["products"]);
  }
  return importFrom(db, storeId, listSource(products, pathOf, options.errorPolicy ?? "REJECT_ALL"), options);
}

/**
 * Stores all products of a source, or none; with REJECT_FAILED, all but those that fail. Most imports are right, so each
 * chunk is written as it comes, and the database's constraints tell whether rows go together; only when something is wrong
 * are all rows looked at to name it.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or what onceForKey throws
 */
export async function importFrom(
  db: RootDatabase,
  storeId: string,
  source: ProductSource,
  { site = {}, idempotency, errorPolicy, dryRun: isDryRun }: ImportOptions,
): Promise<ImportResult> {
  const target: ImportTarget = { storeId, siteId: await resolveSite(db, storeId, site) };
  const dryRun = isDryRun === true;
  const transact = dryRun ? inRehearsal : inTransaction;
  return onceForKey(db, storeId, dryRun ? undefined : idempotency, (once) => {
    const run = (write: Write) =>
      whenCatalogIsFree(db, storeId, () =>
        transact(db, { timeoutMs: importTimeoutMs }, (transaction) =>
          once(transaction, async () => importResult(await write(transaction, target, source), { dryRun })),
        ),
      );
    const runs = async () => {
      try {
        return await run(writeAsRead);
      } catch (error) {
        if (!(error instanceof RowsInDoubt)) throw error;
      }
      return run(errorPolicy === "REJECT_FAILED" ? importSound : importThoroughly);
    };
    return source.isLong ? asLongWork(db, runs) : runs();
  });
}

type Write = (transaction: Database, target: ImportTarget, source: ProductSource) => Promise<Written>;

async function writeAsRead(transaction: Database, target: ImportTarget, source: ProductSource): Promise<UpsertCounts> {
  const reader = source.read();
  let stored = 0;
  let created = 0;
  try {
    let step = await soundStep(reader.next());
    let next = readAhead(reader, step);
    const isWhole = step.done === true || (await soundStep(next)).done === true;
    const now = await lockCatalog(transaction, target.storeId, isWhole ? "short" : "long");
    if (!isWhole) await deferSkuCheck(transaction);
    while (step.done !== true) {
      const counts = await writeChunk(transaction, target, step.value, { now, inOrder: isWhole });
      stored += counts.stored;
      created += counts.created;
      step = await soundStep(next);
      next = readAhead(reader, step);
    }
    if (!isWhole) await refusedAsDoubt(checkSkus(transaction));
    return { stored, created };
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

type Step = IteratorResult<ProductChunk, ReadResult>;

/** Rows that are known to have problems are not written only to find that out. */
async function soundStep(reading: Promise<Step>): Promise<Step> {
  const step = await reading;
  const isSound =
    step.done === true ? step.value.problems.total + (step.value.failed?.total ?? 0) === 0 : step.value.isSound;
  if (!isSound) throw new RowsInDoubt();
  return step;
}

/** Asks for what follows a step before the step is written, so that reading and writing overlap. */
function readAhead(reader: ReturnType<ProductSource["read"]>, step: Step): Promise<Step> {
  if (step.done === true) return Promise.resolve(step);
  const next = reader.next();
  next.catch(() => undefined); // awaited later, unless writing fails first
  return next;
}

async function writeChunk(
  transaction: Database,
  target: ImportTarget,
  chunk: ProductChunk,
  { now, inOrder }: { now: string; inOrder: boolean },
): Promise<UpsertCounts> {
  const { storeId, siteId } = target;
  return withParked(async (park) => {
    const rows = sentRows(chunk.columns, park);
    const kind = inOrder ? "sent, in the order of ids" : "sent";
    const counts = await refusedAsDoubt(upsertProducts(transaction, storeId, rows, now, kind));
    if (counts.stored !== chunk.rows) throw new RowsInDoubt();
    if (siteId !== undefined) await tieToSite(transaction, storeId, siteId, rows);
    return counts;
  });
}

async function refusedAsDoubt<Result>(statement: Promise<Result>): Promise<Result> {
  try {
    return await statement;
  } catch (error) {
    throw isRowRefused(error) ? new RowsInDoubt() : error;
  }
}
