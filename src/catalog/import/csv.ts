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
  readonly pathPrefix?: Path;
  readonly onProgress?: (progress: { readonly bytesRead: number; readonly rows: number }) => void;
}

/**
 * Stores the products of a CSV of any size in constant memory: all, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or UNAVAILABLE if no thread becomes free
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

/** A CSV text, its unparsed JSON string, or the path of a UTF-8 file. */
export type CsvSource = { readonly text: string } | { readonly json: UnparsedValue } | { readonly file: string };

const inProcessBytesMax = 256 * 1024;
const inProcessPieceCharacters = 32 * 1024;

/** Parses a short JSON string. @throws {AppError} BAD_REQUEST for invalid JSON */
function shortAsText(source: CsvSource): CsvSource {
  if (!("json" in source)) return source;
  const { bytes, start, end } = source.json;
  return end - start < inProcessBytesMax ? { text: parseJson(bytes.subarray(start, end)) as string } : source; // a string
}

/** Reads a product CSV in constant memory, all but texts on another thread. See `readCsv` and `readOnThread`. */
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

/** Whether a source is a single chunk, judged by its line breaks. */
function isShort(source: CsvSource): boolean {
  if (!("text" in source)) return false;
  return source.text.split("\n", chunkRowsMax + 2).length < chunkRowsMax + 2;
}

async function* politePieces(text: string): AsyncGenerator<CsvPiece, void> {
  for (const piece of textPieces(text, inProcessPieceCharacters)) {
    yield piece;
    await setImmediate();
  }
}
