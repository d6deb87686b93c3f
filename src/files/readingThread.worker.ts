// Reads products from a file, or from the JSON of a body.
import { getHeapStatistics } from "node:v8";
import type { MessagePort } from "node:worker_threads";
import { AppError } from "../errors.js";
import { lowerPriority } from "../lib/threads/thread.js";
import { collectGarbage } from "../lib/threads/garbage.js";
import { receiveBody } from "../lib/json/jsonBody.js";
import { parseJson } from "../lib/json/parseJson.js";
import { stringSlices } from "../lib/json/elements.js";
import { type CsvPiece, fileBytes, utf8Pieces } from "./csv/csvPieces.js";
import { refuseOtherFiles, withHead } from "./encoding/fileKinds.js";
import type { FormatOptions } from "./formats/options.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "./csv/csv.js";
import { type JsonOptions, type ProductsRange, readProductsJson } from "./json/jsonList.js";
import { readNdjson } from "./json/ndjsonLines.js";

export interface ThreadFile {
  readonly kind: "csvFile" | "ndjsonFile";
  readonly file: string;
}

export interface ThreadText {
  readonly kind: "csvText" | "ndjsonText";
  readonly text: string;
}

interface ThreadJson {
  readonly kind: "csvJson" | "productsJson";
  readonly json: ProductsRange;
  /** Receives the bytes of the body, in shared memory. */
  readonly bytes: MessagePort;
}

export interface ReadingTask {
  readonly source: ThreadFile | ThreadText | ThreadJson;
  readonly options: CsvOptions & JsonOptions & { readonly fileFormat?: FormatOptions | undefined };
  readonly port: MessagePort;
  readonly heapBytesMax: number;
}

/** A result or an error is the last message. */
export type ReadingMessage =
  | { readonly kind: "chunk"; readonly chunk: CsvChunk }
  /** The thread begins the next piece. */
  | { readonly kind: "piece" }
  | { readonly kind: "tooMuchMemory" }
  | { readonly kind: "result"; readonly result: CsvResult }
  | { readonly kind: "refused"; readonly code: AppError["code"]; readonly message: string }
  /** An error of node:fs, whose properties would otherwise be lost in a message. */
  | { readonly kind: "unreadable"; readonly message: string; readonly code: string; readonly path: string | undefined };

const chunksAheadMax = 2;
const pieceBytes = 256 * 1024;
/** Ordinary files stay below it, so that only V8 collects their garbage. */
const garbageMax = 32 * 1024 * 1024;
/**
 * V8 does not count shared memory, so it would keep many large bodies. Not more often, because a collection also discards compiled code.
 */
const collectAfterBytes = 16 * 1024 * 1024;
let uncollectedBytes = 0;

// The event loop comes first, because it serves everybody.
lowerPriority(12);

/** Stops early once the consumer closes the port. */
export default async function read({ source, options, port, heapBytesMax }: ReadingTask): Promise<void> {
  const consumer = watchConsumer(port);
  const checkHeap = heapCheck(heapBytesMax);
  const beginPiece = (): void => {
    port.postMessage({ kind: "piece" } satisfies ReadingMessage);
    checkHeap();
  };
  let reading: Reading | undefined;
  try {
    reading = await ("json" in source ? readJson(source, options, beginPiece) : readRows(source, options, beginPiece));
    for (let step = await reading.next(); !consumer.hasClosed(); step = await reading.next()) {
      if (step.done === true) return port.postMessage({ kind: "result", result: step.value } satisfies ReadingMessage);
      port.postMessage({ kind: "chunk", chunk: step.value } satisfies ReadingMessage);
      await consumer.sent();
    }
  } catch (error) {
    port.postMessage(messageOf(error));
  } finally {
    port.close();
    await reading?.return({ rows: 0, problems: { list: [], total: 0 } }); // closes the file if reading stopped early
    if (uncollectedBytes >= collectAfterBytes) {
      uncollectedBytes = 0;
      setImmediate(collectGarbage);
    }
  }
}

function watchConsumer(port: MessagePort) {
  const state = { ahead: 0, hasClosed: false, wake: (): void => undefined };
  port.on("message", () => {
    state.ahead -= 1;
    state.wake();
  });
  port.once("close", () => {
    state.hasClosed = true;
    state.wake();
  });
  return {
    hasClosed: () => state.hasClosed,
    /** Resolves when the next chunk may be sent. */
    async sent(): Promise<void> {
      state.ahead += 1;
      while (state.ahead >= chunksAheadMax && !state.hasClosed) {
        await new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      }
    },
  };
}

class HeapFullError extends Error {}

/**
 * Checks the heap between pieces, because a single piece adds little. V8 collects old garbage only after it has grown by half of what
 * a thread may have, and exceeding V8's own limit by a large object would end the whole process.
 */
function heapCheck(bytesMax: number): () => void {
  let collectAbove = Math.min(bytesMax, garbageMax);
  return () => {
    if (getHeapStatistics().used_heap_size <= collectAbove) return;
    collectGarbage();
    const used = getHeapStatistics().used_heap_size;
    if (used > bytesMax) throw new HeapFullError();
    collectAbove = Math.min(bytesMax, used + garbageMax);
  };
}

/** @throws any error that the input did not cause */
function messageOf(error: unknown): ReadingMessage {
  if (error instanceof HeapFullError) return { kind: "tooMuchMemory" };
  if (error instanceof AppError) return { kind: "refused", code: error.code, message: error.message };
  const { message, code, path } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { kind: "unreadable", message, code, path };
}

type Reading = AsyncGenerator<CsvChunk, CsvResult> | Generator<CsvChunk, CsvResult>;

async function readRows(
  source: ThreadFile | ThreadText,
  options: ReadingTask["options"],
  beginPiece: () => void,
): Promise<Reading> {
  const { kind } = source;
  const open = () => bytesOf(source, beginPiece);
  if (kind === "ndjsonFile" || kind === "ndjsonText") return readNdjson(await ndjsonPieces(open, options), options);
  const { fileFormat, ...others } = options;
  if (fileFormat === undefined) {
    const { decodeText } = await import("./encoding/decode.js"); // most imports need no libraries for encodings
    return readCsv((await decodeText(open, {})).pieces, others);
  }
  const { readCatalog } = await import("./formats/readFile.js"); // most imports need no libraries for XML, HTML and encodings
  return readCatalog(open, { ...fileFormat, ...others });
}

async function ndjsonPieces(open: () => AsyncGenerator<Buffer>, { isCommand = false }: ReadingTask["options"]) {
  const { all } = await withHead(open(), (head) => refuseOtherFiles(head, isCommand, true));
  return utf8Pieces(all, open);
}

async function* bytesOf(source: ThreadFile | ThreadText, beginPiece: () => void): AsyncGenerator<Buffer, void> {
  for await (const bytes of "file" in source ? fileBytes(source.file) : [Buffer.from(source.text)]) {
    beginPiece();
    yield bytes;
  }
}

async function readJson(
  { kind, json, bytes: port }: ThreadJson,
  options: ReadingTask["options"],
  beginPiece: () => void,
): Promise<Reading> {
  const bytes = await receiveBody(port);
  uncollectedBytes += bytes.length;
  return kind === "csvJson"
    ? readCsv(stringPieces(bytes, json, beginPiece), options)
    : readProductsJson(bytes, json, { ...options, beginSlice: beginPiece });
}

function* stringPieces(
  bytes: Buffer,
  { start, end }: ProductsRange,
  beginPiece: () => void,
): Generator<CsvPiece, void> {
  let charactersRead = 0;
  for (const slice of stringSlices(bytes, start + 1, end - 1, pieceBytes)) {
    beginPiece();
    const quoted = Buffer.concat([quote, bytes.subarray(slice.start, slice.end), quote]);
    const text = parseJson(quoted, bytes, slice.start - 1) as string; // in quotes
    charactersRead += text.length;
    yield { text, bytesRead: charactersRead };
  }
}

const quote = Buffer.from('"');
