import { setImmediate } from "node:timers/promises";
import type { RootDatabase } from "../../database/client.js";
import type { Path } from "../../errors.js";
import type { UnparsedValue } from "../../lib/json/body.js";
import { parseJson } from "../../lib/json/parse.js";
import { type CsvPiece, textPieces } from "../csv/pieces.js";
import { chunkRowsMax } from "../product.columns.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "../reading/csv.js";
import { readOnThread, withThread } from "../reading/thread.js";
import { importFrom, type ImportOptions } from "./import.js";
import type { ProductSource } from "./job.js";
import type { ImportResult } from "./result.js";

export interface CsvImportOptions extends ImportOptions {
  /** Where the CSV stands in the request, for the paths of problems. */
  readonly pathPrefix?: Path;
  /** Told after each chunk how far the reading is. */
  readonly onProgress?: (progress: { readonly bytesRead: number; readonly rows: number }) => void;
}

/**
 * Stores the products of a CSV text or file of any size in constant memory: all of them, or as `errorPolicy` has it.
 * Rows are checked and encoded on another thread while the database takes in the chunk before.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or UNAVAILABLE where no thread is to be had
 */
export async function importCsv(
  db: RootDatabase,
  storeId: string,
  sent: CsvSource,
  { pathPrefix = ["csvContent"], onProgress, ...options }: CsvImportOptions = {},
): Promise<ImportResult> {
  const source = shortAsText(sent);
  const { productsMax: rowsMax, errorPolicy } = options;
  const readOptions = { pathPrefix, ...(rowsMax !== undefined && { rowsMax }), ...(errorPolicy && { errorPolicy }) };
  const run = () => importFrom(db, storeId, csvSource(source, readOptions, onProgress), options);
  return "text" in source ? run() : withThread(storeId, run, options.signal);
}

function csvSource(
  source: CsvSource,
  options: CsvOptions & { pathPrefix: Path },
  onProgress: CsvImportOptions["onProgress"],
): ProductSource {
  return {
    isLong: !isShort(source),
    async *read(more) {
      const reader = readProductCsv(source, { ...options, ...more });
      return yield* onProgress === undefined ? reader : watched(reader, onProgress);
    },
    placeOf: (line, field) => ({ path: options.pathPrefix.concat(field), line }),
    positionOf: (line) => ({ index: null, line }),
  };
}

/** Tells of each chunk once it has been taken in. */
async function* watched(
  reader: ReturnType<typeof readProductCsv>,
  onProgress: NonNullable<CsvImportOptions["onProgress"]>,
): AsyncGenerator<CsvChunk, CsvResult> {
  let rows = 0;
  try {
    for (;;) {
      const step = await reader.next();
      if (step.done === true) return step.value;
      yield step.value;
      rows += step.value.rows;
      onProgress({ bytesRead: step.value.bytesRead, rows });
    }
  } finally {
    await reader.return({ rows: 0, problems: { list: [], total: 0 } });
  }
}

/** A CSV text in memory, as it is or as a JSON string that nobody has parsed yet, or the path of a UTF-8 file. */
export type CsvSource = { readonly text: string } | { readonly json: UnparsedValue } | { readonly file: string };

/** Shorter texts are read in a moment. */
const inProcessBytesMax = 256 * 1024;
const inProcessPieceCharacters = 32 * 1024;

/** The same source, a short JSON string parsed. @throws {AppError} BAD_REQUEST for what is not JSON */
function shortAsText(source: CsvSource): CsvSource {
  if (!("json" in source)) return source;
  const { bytes, start, end } = source.json;
  return end - start < inProcessBytesMax ? { text: parseJson(bytes.subarray(start, end)) as string } : source; // a string
}

/**
 * Reads a product CSV of any size in constant memory: a text between what else there is to do, what is not in memory as a
 * text on a thread. The chunks hold rows with problems too (see `readCsv`), so store nothing for good before the result
 * says that there are none.
 *
 * @throws what `readOnThread` throws
 */
export async function* readProductCsv(
  source: CsvSource,
  options: CsvOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  if ("text" in source) return yield* readCsv(politePieces(source.text), options);
  return yield* readOnThread(
    "file" in source ? { kind: "csvFile", file: source.file } : { kind: "csvJson", json: source.json },
    options,
  );
}

/** Whether a source is one chunk: there are no more rows than line breaks. */
function isShort(source: CsvSource): boolean {
  if (!("text" in source)) return false;
  return source.text.split("\n", chunkRowsMax + 2).length < chunkRowsMax + 2;
}

/** Between pieces the event loop serves others. */
async function* politePieces(text: string): AsyncGenerator<CsvPiece, void> {
  for (const piece of textPieces(text, inProcessPieceCharacters)) {
    yield piece;
    await setImmediate();
  }
}
