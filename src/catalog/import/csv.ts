import type { RootDatabase } from "../../database/client.js";
import type { Path } from "../../errors.js";
import type { CsvOptions } from "../reading/csv.js";
import {
  type CsvChunk,
  type CsvResult,
  type CsvSource,
  isShort,
  readProductCsv,
  shortAsText,
} from "../reading/csv.source.js";
import { importFrom, type ImportOptions, type ProductSource } from "./import.js";
import type { ImportResult } from "./result.js";
import { withThread } from "../reading/thread.js";

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
