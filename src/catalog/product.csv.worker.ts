import { parentPort } from "node:worker_threads";
import { parseJson } from "../json.js";
import { type CsvPiece, filePieces } from "./csv.pieces.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "./product.csv.js";

/** A piece of CSV text as a JSON string. */
type JsonPiece = Uint8Array<ArrayBuffer>;

class MalformedPiece extends Error {}

/** What the thread is told: to read a CSV, a piece of text it asked for (null after the last), that a chunk was taken. */
export type CsvWorkerRequest =
  /** Without a file, pieces of text are asked for. */
  | { readonly kind: "read"; readonly file: string | undefined; readonly options: CsvOptions }
  | { readonly kind: "piece"; readonly piece: CsvPiece | JsonPiece | null }
  | { readonly kind: "chunkTaken" };

export type CsvWorkerMessage =
  | { readonly kind: "pieceWanted" }
  | { readonly kind: "chunk"; readonly chunk: CsvChunk }
  /** A piece is no JSON string. */
  | { readonly kind: "malformed" }
  | { readonly kind: "result"; readonly result: CsvResult };

/** Reads a product CSV on a thread of its own, at most this many chunks ahead of whoever takes them. */
const chunksAheadMax = 2;
/** Pieces asked for before they are needed, so that the thread need not wait for the main thread. */
const piecesAhead = 2;

if (parentPort === null) throw new Error("product.csv.worker runs as a worker thread only.");
const port = parentPort;
let pieces: (CsvPiece | JsonPiece | null)[] = [];
let chunksAhead = 0;
let wake: () => void = () => undefined;

port.on("message", (request: CsvWorkerRequest) => {
  if (request.kind === "read") void read(request); // what it throws ends the thread, as an uncaught error
  else if (request.kind === "piece") pieces.push(request.piece);
  else chunksAhead -= 1;
  wake();
});

async function read({ file, options }: Extract<CsvWorkerRequest, { kind: "read" }>): Promise<void> {
  pieces = [];
  chunksAhead = 0;
  const reading = readCsv(file === undefined ? requestedPieces() : filePieces(file), options);
  try {
    let next = await reading.next();
    while (next.done !== true) {
      // oxlint-disable-next-line no-unmodified-loop-condition -- the message listener above counts down
      while (chunksAhead >= chunksAheadMax) await nextRequest();
      chunksAhead += 1;
      send({ kind: "chunk", chunk: next.value });
      next = await reading.next();
    }
    send({ kind: "result", result: next.value });
  } catch (error) {
    if (!(error instanceof MalformedPiece)) throw error;
    send({ kind: "malformed" });
  }
}

async function* requestedPieces(): AsyncGenerator<CsvPiece, void> {
  let charactersRead = 0;
  for (let ahead = 0; ahead < piecesAhead; ahead += 1) send({ kind: "pieceWanted" });
  for (;;) {
    while (pieces.length === 0) await nextRequest();
    const piece = pieces.shift();
    if (piece === undefined || piece === null) return;
    send({ kind: "pieceWanted" });
    const text = piece instanceof Uint8Array ? textOf(piece) : piece.text;
    charactersRead += text.length;
    yield { text, bytesRead: charactersRead };
  }
}

/** @throws {MalformedPiece} */
function textOf(piece: JsonPiece): string {
  try {
    return parseJson(piece) as string;
  } catch {
    throw new MalformedPiece();
  }
}

/** Resolves when the next request has arrived; only one part of this module waits at a time. */
function nextRequest(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
  });
}

function send(message: CsvWorkerMessage): void {
  port.postMessage(message);
}
