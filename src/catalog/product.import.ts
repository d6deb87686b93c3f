import { resolveSite, type SiteReference } from "../access/site.js";
import type { Database, RootDatabase } from "../database/client.js";
import { isRowRefused } from "../database/errors.js";
import { asLongWork } from "../database/longWork.js";
import { withParked } from "../database/parked.js";
import { inTransaction } from "../database/transaction.js";
import { errorAt, type Path, Problems } from "../errors.js";
import { type ProductColumns, productColumns, productKeys } from "./product.columns.js";
import { importThoroughly } from "./product.import.thorough.js";
import { type IdempotentRequest, onceForKey } from "./product.import.once.js";
import { checkProduct, type ProductInput } from "./product.input.js";
import {
  checkSkus,
  deferSkuCheck,
  lockCatalog,
  sentRows,
  tieToSite,
  type UpsertCounts,
  upsertProducts,
} from "./product.store.js";

/** What an import did. */
export interface ImportResult {
  readonly message: string;
  readonly imported: number;
  readonly created: number;
  readonly updated: number;
}

export interface ImportOptions {
  readonly site?: SiteReference | undefined;
  readonly productsMax?: number | undefined;
  /** Where the caller may send the request again and means it once. */
  readonly idempotency?: IdempotentRequest | undefined;
}

/** Some rows of an import, ready to be sent. Rows with problems stand among them. */
interface ProductChunk {
  readonly rows: number;
  readonly columns: ProductColumns;
}

/** How an import ended: its rows, and what is wrong with them as far as a row alone tells. */
interface ReadResult {
  readonly rows: number;
  readonly problems: Pick<Problems, "list" | "total">;
}

/** Where products come from; it can be read more than once. */
export interface ProductSource {
  /** Whether an import takes more than a moment. */
  readonly isLong: boolean;
  read(): AsyncGenerator<ProductChunk, ReadResult>;
  /** Where a row stands, by its line or index. */
  placeOf(line: number, field: string): { path: Path; line?: number };
}

/** Where an import goes. */
export interface ImportTarget {
  readonly storeId: string;
  readonly siteId: string | undefined;
}

/** The transaction found something wrong with the rows; it must end, and another one find out what. */
class RowsInDoubt extends Error {}

/** Rows of one statement: enough to make the round trip cheap, few enough to encode them in a few milliseconds. */
const chunkRows = 2_000;
/** The longest import; a client of today's networks has given up long before. */
const importTimeoutMs = 60 * 60_000;

/**
 * Stores the products, each replacing the one with its id: all of them, or none.
 *
 * @throws {AppError} SITE_NOT_FOUND, or VALIDATION_FAILED with every problem
 */
export async function importProducts(
  db: RootDatabase,
  storeId: string,
  products: readonly ProductInput[],
  { pathOf = (index) => ["products", index], ...options }: ImportOptions & { pathOf?: (index: number) => Path } = {},
): Promise<ImportResult> {
  const { productsMax = Infinity } = options;
  if (products.length > productsMax) {
    throw errorAt("VALIDATION_FAILED", `At most ${productsMax} products can be imported at once.`, ["products"]);
  }
  return importFrom(db, storeId, listSource(products, pathOf), options);
}

/**
 * Stores all products of a source, or none. Most imports are right, so each chunk is written as it comes, and the
 * database's constraints tell whether rows go together; only when something is wrong are all rows looked at to name it.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or what onceForKey throws
 */
export async function importFrom(
  db: RootDatabase,
  storeId: string,
  source: ProductSource,
  { site = {}, idempotency }: ImportOptions,
): Promise<ImportResult> {
  const target: ImportTarget = { storeId, siteId: await resolveSite(db, storeId, site) };
  return onceForKey(db, storeId, idempotency, (once) => {
    const run = (write: Write) =>
      inTransaction(db, { timeoutMs: importTimeoutMs }, (transaction) =>
        once(transaction, async () => importResult(await write(transaction, target, source))),
      );
    const runs = async () => {
      try {
        return await run(writeAsRead);
      } catch (error) {
        if (!(error instanceof RowsInDoubt)) throw error;
      }
      return run(importThoroughly);
    };
    return source.isLong ? asLongWork(db, runs) : runs();
  });
}

type Write = (transaction: Database, target: ImportTarget, source: ProductSource) => Promise<UpsertCounts>;

async function writeAsRead(transaction: Database, target: ImportTarget, source: ProductSource): Promise<UpsertCounts> {
  const reader = source.read();
  let stored = 0;
  let created = 0;
  try {
    let step = await reader.next();
    let next = readAhead(reader, step);
    const isWhole = step.done === true || (await next).done === true;
    const now = await lockCatalog(transaction, target.storeId, isWhole ? "beside other short ones" : "alone");
    if (!isWhole) await deferSkuCheck(transaction);
    while (step.done !== true) {
      const counts = await writeChunk(transaction, target, step.value, { now, inOrder: isWhole });
      stored += counts.stored;
      created += counts.created;
      step = await next;
      next = readAhead(reader, step);
    }
    if (step.value.problems.total > 0) throw new RowsInDoubt();
    if (!isWhole) await refusedAsDoubt(checkSkus(transaction));
    return { stored, created };
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

type Step = IteratorResult<ProductChunk, ReadResult>;

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
    const counts = await refusedAsDoubt(upsertProducts(transaction, storeId, rows, now, { inOrder }));
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

function importResult({ stored, created }: UpsertCounts): ImportResult {
  return {
    message: stored === 1 ? "1 product was imported." : `${stored} products were imported.`,
    imported: stored,
    created,
    updated: stored - created,
  };
}

/** Products that are in memory already. They are checked before anything is sent. */
function listSource(products: readonly ProductInput[], pathOf: (index: number) => Path): ProductSource {
  return {
    isLong: products.length > chunkRows,
    async *read() {
      const problems = new Problems();
      const sound = products.map((product, index) => checkProduct(product, { path: pathOf(index) }, problems));
      for (let start = 0; start < products.length; start += chunkRows) {
        const rows = products.slice(start, start + chunkRows).map((product, index) => ({
          product: sound[start + index] === true ? product : (productKeys(product) ?? {}),
          line: start + index,
        }));
        yield { rows: rows.length, columns: productColumns(rows) };
      }
      return { rows: products.length, problems };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
  };
}
