import type { RootDatabase } from "../../../database/client.js";
import type { Path } from "../../../errors.js";
import { SentDigits } from "../../../lib/json/digits.js";
import { isUnparsedList, type UnparsedValue } from "../../../lib/json/body.js";
import { chunkRowsMax } from "../../sources/chunkRows.js";
import type { CsvChunk, CsvResult } from "../../sources/csv/csv.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource } from "../job.js";
import { importProducts, tooManyProducts } from "./list.js";
import type { ImportResult } from "../result.js";
import { type JsonOptions, readProductsJson, withLists } from "../../sources/json.js";
import { readOnThread } from "../../sources/thread.js";

/** With the JSON that had the value. */
type SentProducts = (
  | { readonly value: unknown; readonly frame?: Buffer | undefined }
  | { readonly unparsed: UnparsedValue }
) & {
  /** As in GraphQL, a single image is coerced to a list. */
  readonly takesSingles: boolean;
};

interface SentOptions extends ImportOptions {
  readonly path: Path;
  /** An array is the list, not a single product of the wrong type. */
  readonly isListExpected: boolean;
}

/** A list with less is read here, which takes 30 ms for the worst. A thread takes a fifth more CPU time for most. */
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

/** Reads a chunk of few bytes here, more of them on a thread. @throws {AppError} BAD_REQUEST for too many products */
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
