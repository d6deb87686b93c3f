import type { RootDatabase } from "../../../database/client.js";
import { readNdjson } from "../../reading/ndjson.js";
import { readOnThread } from "../../reading/thread.js";
import { type CsvImportOptions, lastReading, politePieces, readHereMax, watched } from "./csv.js";
import { importFrom, type ImportOptions } from "../import.js";
import type { ProductSource } from "../job.js";
import type { ImportResult } from "../result.js";

/** The file is UTF-8. */
export type NdjsonSource = { readonly text: string } | { readonly file: string };

type NdjsonImportOptions = ImportOptions & Pick<CsvImportOptions, "onProgress" | "onRead" | "preview">;

/**
 * Imports NDJSON of any size in constant memory: all products, or as `errorPolicy` says.
 *
 * @throws {AppError} as importCsv
 */
export async function importNdjson(
  db: RootDatabase,
  storeId: string,
  sent: NdjsonSource,
  { onProgress, onRead, preview, ...options }: NdjsonImportOptions = {},
): Promise<ImportResult> {
  const { errorPolicy } = options;
  const readOptions = { ...(errorPolicy && { errorPolicy }), ...(preview && { preview }) };
  const { told, reading } = lastReading({ onProgress, onRead });
  const source: ProductSource = {
    isOnThread: !isReadHere(sent),
    read: (more) => watched(readSource(sent, { ...readOptions, ...more }, options.signal), told),
    reading,
    placeOf: (line, field) => ({ path: [field], line }),
    positionOf: (line) => ({ index: null, line }),
  };
  return importFrom(db, storeId, source, options);
}

function readSource(
  source: NdjsonSource,
  options: Parameters<typeof readNdjson>[1],
  signal: AbortSignal | undefined,
): ReturnType<typeof readNdjson> {
  if ("file" in source) return readOnThread({ kind: "ndjsonFile", file: source.file }, options, { signal });
  const { text } = source;
  if (isReadHere(source)) return readNdjson(politePieces(text), options);
  return readOnThread({ kind: "ndjsonText", text }, options, { signal });
}

function isReadHere(source: NdjsonSource): boolean {
  return "text" in source && source.text.length <= readHereMax;
}
