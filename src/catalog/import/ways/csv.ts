import { setImmediate } from "node:timers/promises";
import type { RootDatabase } from "../../../database/client.js";
import type { Path } from "../../../errors.js";
import type { UnparsedValue } from "../../../lib/json/body.js";
import { parseJson } from "../../../lib/json/parse.js";
import { type CsvPiece, textPieces } from "../../csv/pieces.js";
import type { FormatOptions } from "../../formats/options.js";
import { type CsvChunk, type CsvOptions, type CsvResult, type FileReading, readCsv } from "../../reading/csv.js";
import { readOnThread } from "../../reading/thread.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource } from "../job.js";
import type { ImportResult } from "../result.js";

export interface CsvImportOptions extends ImportOptions {
  readonly pathPrefix?: Path;
  readonly onProgress?: ((progress: { readonly bytesRead: number; readonly rows: number }) => void) | undefined;
  /** CSV in Vitrine's own columns by default. */
  readonly fileFormat?: FormatOptions;
  /** The result shows the first products. */
  readonly preview?: boolean | undefined;
  /** Called at the end of the reading. */
  readonly onRead?: ((result: CsvResult) => void) | undefined;
}

/**
 * Imports a CSV of any size in constant memory: all products, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or UNAVAILABLE if no thread becomes free
 */
export async function importCsv(
  db: RootDatabase,
  storeId: string,
  sent: CsvSource,
  { pathPrefix = ["csvContent"], onProgress, onRead, fileFormat, preview, ...options }: CsvImportOptions = {},
): Promise<ImportResult> {
  const source = await shortAsText(sent);
  const { productsMax: rowsMax, errorPolicy } = options;
  const limits = { ...(rowsMax !== undefined && { rowsMax }), ...(errorPolicy && { errorPolicy }) };
  const readOptions = { pathPrefix, fileFormat, ...limits, ...(preview && { preview }) };
  const { signal } = options;
  return importFrom(db, storeId, csvSource(source, readOptions, { onProgress, onRead, signal }), options);
}

function csvSource(
  source: CsvSource,
  options: CsvReadOptions & { pathPrefix: Path },
  { signal, ...listeners }: ReadingListeners & Pick<ImportOptions, "signal">,
): ProductSource {
  const { told, reading } = lastReading(listeners);
  return {
    isOnThread: !isReadHere(source, options.fileFormat),
    async *read(more) {
      return yield* watched(readProductCsv(source, { ...options, ...more }, signal), told);
    },
    reading,
    placeOf: (line, field) => ({ path: options.pathPrefix.concat(field), line }),
    positionOf: (line) => ({ index: null, line }),
  };
}

export type ReadingListeners = Pick<CsvImportOptions, "onProgress" | "onRead">;

/** Adds a listener that remembers what it heard last. */
export function lastReading({ onProgress, onRead }: ReadingListeners) {
  let last: FileReading | undefined;
  const remember = (result: CsvResult) => {
    const { format, notes = [], preview } = result;
    const layout = format === undefined ? {} : { format, notes };
    const isAsked = format !== undefined || preview !== undefined;
    last = isAsked ? { ...layout, ...(preview && { preview }) } : undefined;
    onRead?.(result);
  };
  return { told: { onProgress, onRead: remember }, reading: () => last };
}

/** Tells listeners of what is read. */
export async function* watched(
  reader: ReturnType<typeof readProductCsv>,
  { onProgress, onRead }: ReadingListeners,
): AsyncGenerator<CsvChunk, CsvResult> {
  let rows = 0;
  try {
    for (;;) {
      const step = await reader.next();
      if (step.done === true) {
        onRead?.(step.value);
        return step.value;
      }
      yield step.value;
      rows += step.value.rows;
      onProgress?.({ bytesRead: step.value.bytesRead, rows });
    }
  } finally {
    await reader.return({ rows: 0, problems: { list: [], total: 0 } });
  }
}

/** The file is UTF-8, unless `fileFormat` names another encoding. */
export type CsvSource = { readonly text: string } | { readonly json: UnparsedValue } | { readonly file: string };

/** The longest text that is read here: a hostile one then takes less than 100 ms. Usual ones of twice its length take as long on a thread. */
export const readHereMax = 128 * 1024;
const inProcessPieceCharacters = 32 * 1024;

/** Parses a short JSON string. @throws {AppError} BAD_REQUEST for invalid JSON */
async function shortAsText(source: CsvSource): Promise<CsvSource> {
  if (!("json" in source)) return source;
  const { body, start, end } = source.json;
  if (end - start > readHereMax) return source;
  const bytes = await body.bytes();
  return { text: parseJson(bytes.subarray(start, end), bytes, start) as string }; // a string
}

/** `fileFormat` concerns files, and texts of them. */
type CsvReadOptions = CsvOptions & { readonly fileFormat?: FormatOptions | undefined };

/**
 * Reads in constant memory: short texts here, everything else on another thread, and so all files of other systems. See
 * `readCsv` and `readOnThread`.
 */
export async function* readProductCsv(
  source: CsvSource,
  options: CsvReadOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<CsvChunk, CsvResult> {
  if (isReadHere(source, options.fileFormat)) return yield* readCsv(politePieces(source.text), options);
  return yield* readOnThread(onThread(source), options, { signal });
}

function isReadHere(source: CsvSource, fileFormat: FormatOptions | undefined): source is { readonly text: string } {
  return "text" in source && fileFormat === undefined && source.text.length <= readHereMax;
}

function onThread(source: CsvSource): Parameters<typeof readOnThread>[0] {
  if ("text" in source) return { kind: "csvText", text: source.text };
  return "file" in source ? { kind: "csvFile", file: source.file } : { kind: "csvJson", json: source.json };
}

/** Others are served between pieces. */
export async function* politePieces(text: string): AsyncGenerator<CsvPiece, void> {
  for (const piece of textPieces(text, inProcessPieceCharacters)) {
    yield piece;
    await setImmediate();
  }
}
