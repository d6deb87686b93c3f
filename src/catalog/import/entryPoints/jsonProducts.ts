import { setImmediate } from "node:timers/promises";
import type { RootDatabase } from "../../../database/client.js";
import { type AppError, errorAt, type Path } from "../../../errors.js";
import { SentDigits } from "../../../lib/json/digits.js";
import { isUnparsedList, type UnparsedValue } from "../../../lib/json/jsonBody.js";
import { ChunkBuilder } from "../../../files/chunk.js";
import { chunkRowsMax } from "../../../files/chunkRows.js";
import type { CsvChunk, CsvResult } from "../../../files/csv/csv.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource, ImportResult } from "../importTypes.js";
import { type JsonOptions, readProductsJson, withLists } from "../../../files/json/jsonList.js";
import { readOnThread } from "../../../files/readingThread.js";
import { checkProduct, type Place } from "../../../files/product/product.input.js";
import { type ErrorPolicy, RowChecks } from "../../../files/rowChecks.js";

/** Products, or a value with the JSON that contained it. */
type SentProducts = (
  | { readonly value: unknown; readonly frame?: Buffer | undefined }
  | { readonly unparsed: UnparsedValue }
) & {
  /** As in GraphQL, a single image is coerced to a list. */
  readonly takesSingles: boolean;
};

interface SentOptions extends ImportOptions {
  readonly path: Path;
  /** Whether an array is the list, and not a single product of the wrong type. */
  readonly isListExpected: boolean;
}

/** Shorter lists are read here, in at most 30 ms, because a thread would take a fifth more CPU time for most. */
const readHereBytesMax = 512 * 1024;

/**
 * Imports products as they were sent.
 *
 * @throws {AppError} as `importProducts`; BAD_REQUEST for invalid JSON, or UNAVAILABLE
 */
export async function importSentProducts(
  db: RootDatabase,
  storeId: string,
  sent: SentProducts,
  { path, isListExpected, ...options }: SentOptions,
): Promise<ImportResult> {
  const { takesSingles } = sent;
  if ("unparsed" in sent) return importFrom(db, storeId, unparsedSource(sent, path, options), options);
  const { value, frame } = sent;
  const digits = frame && new SentDigits(() => frame.toString("latin1"));
  const isArray = isListExpected && Array.isArray(value);
  const list = isArray ? (value as readonly unknown[]) : [value];
  const pathOf = isArray ? (index: number) => path.concat(index) : () => path;
  return importProducts(db, storeId, takesSingles ? list.map(withLists) : list, { ...options, pathOf, digits });
}

/** Reads short lists here, and longer ones on a thread. @throws {AppError} BAD_REQUEST for too many products */
function unparsedSource(
  { unparsed, takesSingles }: Extract<SentProducts, { readonly unparsed: unknown }>,
  path: Path,
  { productsMax = Infinity, errorPolicy, signal }: Omit<SentOptions, "path" | "isListExpected">,
): ProductSource {
  const isList = isUnparsedList(unparsed);
  if (isList && unparsed.items > productsMax) throw tooManyProducts(productsMax);
  const isChunk = !isList || unparsed.items <= chunkRowsMax;
  const bytes = unparsed.end - unparsed.start;
  const isReadHere = isChunk && bytes <= readHereBytesMax;
  const readOptions = { pathPrefix: path, takesSingles, ...(errorPolicy && { errorPolicy }) };
  return {
    bytes,
    isOnThread: !isReadHere,
    read: (more) =>
      isReadHere
        ? readHere(unparsed, { ...readOptions, ...more })
        : readOnThread({ kind: "productsJson", json: unparsed }, { ...readOptions, ...more }, { signal }),
    placeOf: (index, field) => ({ path: isList ? path.concat(index, field) : path.concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}

async function* readHere(unparsed: UnparsedValue, options: JsonOptions): AsyncGenerator<CsvChunk, CsvResult> {
  return yield* readProductsJson(await unparsed.body.bytes(), unparsed, options);
}

interface ListOptions extends ImportOptions {
  readonly pathOf?: (index: number) => Path;
  /** The digits of the JSON that contained the products. */
  readonly digits?: SentDigits | undefined;
}

/**
 * Imports products, which need not be valid: all of them, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, or VALIDATION_FAILED with every problem
 */
export async function importProducts(
  db: RootDatabase,
  storeId: string,
  products: readonly unknown[],
  { pathOf = (index) => ["products", index], digits, ...options }: ListOptions = {},
): Promise<ImportResult> {
  const { productsMax = Infinity } = options;
  if (products.length > productsMax) {
    throw tooManyProducts(productsMax);
  }
  const source = listSource(products, pathOf, options.errorPolicy ?? "REJECT_ALL", digits);
  return importFrom(db, storeId, source, options);
}

function tooManyProducts(productsMax: number): AppError {
  const message = `At most ${productsMax} products can be imported at once (MAX_BULK_PRODUCTS).`;
  return errorAt("VALIDATION_FAILED", message, ["products"]);
}

/** Yields to the event loop between chunks. */
export function listSource(
  products: readonly unknown[],
  pathOf: (index: number) => Path,
  errorPolicy: ErrorPolicy,
  digits?: SentDigits,
): ProductSource {
  const digitsOf: Place["digitsOf"] = (name, value) => digits?.of(name, value);
  return {
    bytes: 0, // they are in memory
    isOnThread: false,
    async *read({ isPatch = false } = {}) {
      const checks = new RowChecks(errorPolicy);
      const chunk = new ChunkBuilder(checks, { isPatch });
      for (const [line, product] of products.entries()) {
        const isValid = checkProduct(product, { path: pathOf(line), digitsOf }, checks.row, isPatch);
        chunk.addSent(product, { line, isValid }, 0);
        checks.endRow(line);
        if (!chunk.full) continue;
        yield chunk.take();
        await setImmediate();
      }
      if (chunk.rows > 0) yield chunk.take();
      return { rows: products.length, ...checks.found };
    },
    placeOf: (index, field) => ({ path: pathOf(index).concat(field) }),
    positionOf: (index) => ({ index, line: null }),
  };
}
