import { setImmediate } from "node:timers/promises";
import { parseJson } from "../../lib/json/parse.js";
import type { UnparsedValue } from "../../lib/json/body.js";
import { type CsvPiece, textPieces } from "../csv/pieces.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "./csv.js";
import { chunkRowsMax } from "../product.columns.js";
import { readOnThread } from "./thread.js";

export type { CsvChunk, CsvResult };

/** A CSV text in memory, as it is or as a JSON string that nobody has parsed yet, or the path of a UTF-8 file. */
export type CsvSource = { readonly text: string } | { readonly json: UnparsedValue } | { readonly file: string };

/** Shorter texts are read in a moment. */
const inProcessBytesMax = 256 * 1024;
const inProcessPieceCharacters = 32 * 1024;

/** The same source, a short JSON string parsed. @throws {AppError} BAD_REQUEST for what is not JSON */
export function shortAsText(source: CsvSource): CsvSource {
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
export function isShort(source: CsvSource): boolean {
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
