import { stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { decimalsOfStore } from "../../../stores/store.currency.js";
import { timeZoneOf } from "../../../stores/store.js";
import type { RootDatabase } from "../../../database/client.js";
import type { Path } from "../../../errors.js";
import type { UnparsedValue } from "../../../lib/json/jsonBody.js";
import { parseJson } from "../../../lib/json/parseJson.js";
import { type CsvPiece, textPieces } from "../../../files/csv/csvPieces.js";
import type { FormatOptions } from "../../../files/formats/options.js";
import { type CsvChunk, type CsvOptions, type CsvResult, type FileReading, readCsv } from "../../../files/csv/csv.js";
import { readNdjson } from "../../../files/json/ndjsonLines.js";
import { readOnThread } from "../../../files/readingThread.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource, ImportResult } from "../importTypes.js";

/** A file is UTF-8, unless `fileFormat` names another encoding. */
export type TextSource = { readonly text: string } | { readonly file: string };

/** A file, a text, or an unparsed JSON string. */
export type CsvSource = TextSource | { readonly json: UnparsedValue };

interface TextImportOptions extends ImportOptions {
  readonly onProgress?: ((progress: { readonly bytesRead: number; readonly rows: number }) => void) | undefined;
  /** The result shows the first products. */
  readonly preview?: boolean | undefined;
  /** Called when reading ends. */
  readonly onRead?: ((result: CsvResult) => void) | undefined;
}

export interface CsvImportOptions extends TextImportOptions {
  readonly pathPrefix?: Path;
  /** Whether it was sent as a file: then the error for other kinds of files names the kind. */
  readonly isFile?: boolean | undefined;
  /** CSV in Vitrine's own columns by default. */
  readonly fileFormat?: FormatOptions;
}

/**
 * Imports CSV of any size in constant memory: all products, or as `errorPolicy` says.
 *
 * @throws {AppError} SITE_NOT_FOUND, VALIDATION_FAILED with every problem, or UNAVAILABLE if no thread becomes free
 */
export async function importCsv(
  db: RootDatabase,
  storeId: string,
  sent: CsvSource,
  { pathPrefix = ["csvContent"], fileFormat: given, isFile, ...options }: CsvImportOptions = {},
): Promise<ImportResult> {
  const source = await shortAsText(sent);
  const fileFormat = given && { ...given, ...(await languageOf(db, storeId)) };
  const { productsMax, signal } = options;
  const own = { pathPrefix, fileFormat, isFile, ...(productsMax !== undefined && { rowsMax: productsMax }) };
  const isOnThread = !isReadHere(source, { fileFormat, isFile });
  const read = (more: CsvOptions) => readProductCsv(source, { ...own, ...more }, signal);
  return importText(db, storeId, { bytes: await bytesOf(source), isOnThread, pathPrefix, read }, options);
}

/** How to read times without a zone, and to round computed prices, for a store. */
export async function languageOf(
  db: RootDatabase,
  storeId: string,
): Promise<Pick<FormatOptions, "timeZone" | "decimals">> {
  return { timeZone: await timeZoneOf(db, storeId), decimals: await decimalsOfStore(db, storeId) };
}

/**
 * Imports NDJSON of any size in constant memory: all products, or as `errorPolicy` says.
 *
 * @throws {AppError} as importCsv
 */
export async function importNdjson(
  db: RootDatabase,
  storeId: string,
  source: TextSource,
  options: TextImportOptions & Pick<CsvOptions, "isCommand"> = {},
): Promise<ImportResult> {
  const { signal, isCommand } = options;
  const isHere = isReadHere(source) && !isNoText(source.text);
  const read = (given: CsvOptions): Reading => {
    const more = { ...given, isCommand };
    if ("file" in source) return readOnThread({ kind: "ndjsonFile", file: source.file }, more, { signal });
    const { text } = source;
    return isHere ? readNdjson(politePieces(text), more) : readOnThread({ kind: "ndjsonText", text }, more, { signal });
  };
  const isOnThread = !isHere;
  return importText(db, storeId, { bytes: await bytesOf(source), isOnThread, pathPrefix: [], read }, options);
}

async function bytesOf(source: CsvSource): Promise<number> {
  if ("text" in source) return source.text.length;
  return "json" in source ? source.json.end - source.json.start : (await stat(source.file)).size;
}

type Reading = AsyncGenerator<CsvChunk, CsvResult>;

interface Text extends Pick<ProductSource, "bytes" | "isOnThread"> {
  readonly pathPrefix: Path;
  readonly read: (options: CsvOptions) => Reading;
}

function importText(
  db: RootDatabase,
  storeId: string,
  { bytes, isOnThread, pathPrefix, read }: Text,
  { onProgress, onRead, preview, ...options }: TextImportOptions,
): Promise<ImportResult> {
  const { errorPolicy } = options;
  let last: FileReading | undefined;
  const source = {
    bytes,
    isOnThread,
    async *read(more: CsvOptions = {}): Reading {
      const reader = read({ ...more, ...(errorPolicy && { errorPolicy }), ...(preview && { preview }) });
      let rows = 0;
      try {
        for (;;) {
          const step = await reader.next();
          if (step.done === true) {
            last = shownOf(step.value);
            onRead?.(step.value);
            return step.value;
          }
          yield step.value;
          rows += step.value.rows + step.value.invalid.length;
          onProgress?.({ bytesRead: step.value.bytesRead, rows });
        }
      } finally {
        await reader.return({ rows: 0, problems: { list: [], total: 0 } });
      }
    },
    reading: () => last,
    placeOf: (line: number, field: string) => ({ path: pathPrefix.concat(field), line }),
    positionOf: (line: number) => ({ index: null, line }),
  };
  return importFrom(db, storeId, source, options);
}

/** What the answer shows about the reading, if requested. */
function shownOf({ format, notes = [], skipped = 0, columns, preview }: CsvResult): FileReading | undefined {
  if (format === undefined && preview === undefined && notes.length === 0) return undefined;
  const layout =
    format === undefined
      ? { ...(notes.length > 0 && { notes }) }
      : { format, notes, ...(skipped > 0 && { skipped }), ...(columns && { columns }) };
  return { ...layout, ...(preview && { preview }) };
}

/** The longest text that is read here, so that a hostile one takes less than 100 ms. Usual texts twice as long take as long on a thread. */
const readHereMax = 128 * 1024;
const inProcessPieceCharacters = 32 * 1024;

/** Parses a short JSON string. @throws {AppError} BAD_REQUEST for invalid JSON */
async function shortAsText(source: CsvSource): Promise<CsvSource> {
  if (!("json" in source)) return source;
  const { body, start, end } = source.json;
  if (end - start > readHereMax) return source;
  const bytes = await body.bytes();
  return { text: parseJson(bytes.subarray(start, end), bytes, start) as string }; // a string
}

/** `fileFormat` applies to files and their texts. */
type CsvReadOptions = CsvOptions & HowRead;

interface HowRead {
  readonly fileFormat?: FormatOptions | undefined;
  readonly isFile?: boolean | undefined;
}

/**
 * Reads in constant memory: short texts here, and everything else, including all files of other systems, on another thread. See
 * `readCsv` and `readOnThread`.
 */
export async function* readProductCsv(source: CsvSource, options: CsvReadOptions = {}, signal?: AbortSignal): Reading {
  if (isReadHere(source, options)) return yield* readCsv(politePieces(source.text), options);
  return yield* readOnThread(onThread(source), options, { signal });
}

function isReadHere(source: CsvSource, { fileFormat, isFile }: HowRead = {}): source is { readonly text: string } {
  if (!("text" in source) || fileFormat !== undefined || source.text.length > readHereMax) return false;
  return isFile !== true || !isUnlikeCsv(source.text);
}

function isUnlikeCsv(text: string): boolean {
  return /^\uFEFF?\s*[[{]/u.test(text) || isNoText(text);
}

/** Whether it is PDF, or begins with control characters, as archives and UTF-16 without a mark do. */
function isNoText(text: string): boolean {
  return text.startsWith("%PDF-") || Array.from(text.slice(0, 8)).some((character) => character < "\t");
}

function onThread(source: CsvSource): Parameters<typeof readOnThread>[0] {
  if ("text" in source) return { kind: "csvText", text: source.text };
  return "file" in source ? { kind: "csvFile", file: source.file } : { kind: "csvJson", json: source.json };
}

/** Yields between pieces, so that other requests are served. */
async function* politePieces(text: string): AsyncGenerator<CsvPiece, void> {
  for (const piece of textPieces(text, inProcessPieceCharacters)) {
    yield piece;
    await setImmediate();
  }
}
