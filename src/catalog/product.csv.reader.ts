import { on } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { invalidJson } from "../json.js";
import { contentPieces, type JsonString } from "../jsonString.js";
import { type CsvPiece, textPieces } from "./csv.pieces.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "./product.csv.js";
import { chunkRowsMax } from "./product.columns.js";
import { keepWorker, takeWorker } from "./product.csv.threads.js";
import type { CsvWorkerMessage, CsvWorkerRequest } from "./product.csv.worker.js";

export type { CsvChunk, CsvResult };

/** A CSV text in memory, as it is or as the content of a JSON string, or the path of a UTF-8 file. */
export type CsvSource = { readonly text: string } | { readonly json: JsonString } | { readonly file: string };

/** Shorter texts are read before a thread would have started. */
const inProcessMax = 256 * 1024;
const inProcessPieceCharacters = 32 * 1024;
const workerPieceLength = 256 * 1024;

/**
 * Reads a product CSV of any size in constant memory, off the main thread unless it is small, never more than two
 * chunks ahead of the caller. The chunks hold rows with problems too (see `readCsv`), so store nothing for good before
 * the result says that there are none. Leaving the generator ends the thread.
 * @throws the error of node:fs for a file that cannot be read, or that of a crashed thread
 * @throws {AppError} BAD_REQUEST for the content of a JSON string that is none, if it was read so far: whatever ends the
 *   reading earlier, such as a wrong header, refuses the import as well
 */
export async function* readProductCsv(
  source: CsvSource,
  options: CsvOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  if ("text" in source && source.text.length < inProcessMax) {
    return yield* readCsv(politePieces(source.text), options);
  }
  return yield* readInWorker(source, options);
}

/** Whether a source is read in a moment, and as one chunk: there are no more rows than line breaks. */
export function isShort(source: CsvSource): boolean {
  if (!("text" in source) || source.text.length >= inProcessMax) return false;
  return source.text.split("\n", chunkRowsMax + 2).length < chunkRowsMax + 2;
}

/** Between pieces the event loop serves others. */
async function* politePieces(text: string): AsyncGenerator<CsvPiece, void> {
  for (const piece of textPieces(text, inProcessPieceCharacters)) {
    yield piece;
    await setImmediate();
  }
}

async function* readInWorker(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvChunk, CsvResult> {
  const worker = takeWorker();
  const messages = on(worker, "message", { close: ["exit"] }) as AsyncIterable<[CsvWorkerMessage]>;
  const sendPieces = "file" in source ? () => undefined : piecesOnDemand(source, worker);
  worker.on("message", sendPieces);
  send(worker, { kind: "read", file: "file" in source ? source.file : undefined, options });
  let isDone = false;
  try {
    for await (const [message] of messages) {
      if (message.kind === "result") {
        isDone = true;
        return message.result;
      }
      if (message.kind === "malformed") {
        isDone = true;
        throw invalidJson();
      }
      if (message.kind !== "chunk") continue;
      send(worker, { kind: "chunkTaken" });
      yield message.chunk;
    }
    throw new Error("The thread that reads the CSV stopped before it was done.");
  } finally {
    worker.off("message", sendPieces);
    if (isDone) await keepWorker(worker);
    else await worker.terminate();
  }
}

/** Sends the text piece by piece as the thread asks for them, since sending it whole would copy it whole. */
function piecesOnDemand(
  source: Exclude<CsvSource, { readonly file: string }>,
  worker: Worker,
): (message: CsvWorkerMessage) => void {
  const pieces =
    "text" in source ? textPieces(source.text, workerPieceLength) : contentPieces(source.json, workerPieceLength);
  return (message) => {
    if (message.kind !== "pieceWanted") return;
    const piece = pieces.next().value ?? null;
    send(worker, { kind: "piece", piece }, piece instanceof Uint8Array ? [piece.buffer] : []);
  };
}

/** @param handedOver memory that is the thread's from then on */
function send(worker: Worker, request: CsvWorkerRequest, handedOver: ArrayBuffer[] = []): void {
  worker.postMessage(request, handedOver);
}
