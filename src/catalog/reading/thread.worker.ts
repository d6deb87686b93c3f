// Reads products on a thread of its own: from a CSV file, or from the JSON of a body.
import { setPriority } from "node:os";
import type { MessagePort } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { parseJson } from "../../lib/json/parse.js";
import type { UnparsedValue } from "../../lib/json/body.js";
import { stringSlices } from "../../lib/json/slices.js";
import { type CsvPiece, filePieces } from "../csv/pieces.js";
import { type CsvChunk, type CsvOptions, type CsvResult, readCsv } from "./csv.js";
import { type JsonOptions, readProductsJson } from "./json.js";

/** What is read: bytes are in memory that threads share. */
export type ThreadSource =
  | { readonly kind: "csvFile"; readonly file: string }
  | { readonly kind: "csvJson" | "productsJson"; readonly json: Omit<UnparsedValue, "bytes"> & { bytes: Uint8Array } };

export interface ReadingTask {
  readonly source: ThreadSource;
  readonly options: CsvOptions & JsonOptions;
  /** Where chunks go, and where it is told that one was taken. */
  readonly port: MessagePort;
}

/** What a thread says. After a result or an error nothing follows. */
export type ReadingMessage =
  | { readonly kind: "chunk"; readonly chunk: CsvChunk }
  | { readonly kind: "result"; readonly result: CsvResult }
  | { readonly kind: "refused"; readonly code: "BAD_REQUEST"; readonly message: string }
  /** Of node:fs. Errors that are sent to another thread lose what they have beside their message. */
  | { readonly kind: "unreadable"; readonly message: string; readonly code: string; readonly path: string | undefined };

/** Chunks that may be on their way to whoever takes them. */
const chunksAheadMax = 2;
const pieceBytes = 256 * 1024;

// On Linux a priority belongs to a thread: the event loop, which serves everybody, comes before what reads for one import.
if (process.platform === "linux") setPriority(0, 5);

/** Runs a task to its end, or until nobody takes its chunks any more. */
export default async function read({ source, options, port }: ReadingTask): Promise<void> {
  const taker = watchTaker(port);
  const reading = readerOf(source, options);
  try {
    for (let step = await reading.next(); !taker.hasLeft(); step = await reading.next()) {
      if (step.done === true) return port.postMessage({ kind: "result", result: step.value } satisfies ReadingMessage);
      port.postMessage({ kind: "chunk", chunk: step.value } satisfies ReadingMessage);
      await taker.sent();
    }
  } catch (error) {
    port.postMessage(messageOf(error));
  } finally {
    port.close();
  }
}

/** Whoever takes the chunks, at the other end of a port. */
function watchTaker(port: MessagePort) {
  const state = { ahead: 0, hasLeft: false, wake: (): void => undefined };
  port.on("message", () => {
    state.ahead -= 1;
    state.wake();
  });
  port.once("close", () => {
    state.hasLeft = true;
    state.wake();
  });
  return {
    hasLeft: () => state.hasLeft,
    /** One more is on its way. Resolves when the next one may be. */
    async sent(): Promise<void> {
      state.ahead += 1;
      while (state.ahead >= chunksAheadMax && !state.hasLeft) {
        await new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      }
    },
  };
}

/** @throws what is no error of the input */
function messageOf(error: unknown): ReadingMessage {
  if (error instanceof AppError && error.code === "BAD_REQUEST") {
    return { kind: "refused", code: error.code, message: error.message };
  }
  const { message, code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || error instanceof AppError) throw error;
  return { kind: "unreadable", message, code, path };
}

function readerOf(
  source: ThreadSource,
  options: ReadingTask["options"],
): AsyncGenerator<CsvChunk, CsvResult> | Generator<CsvChunk, CsvResult> {
  if (source.kind === "csvFile") return readCsv(filePieces(source.file), options);
  const json = withBuffer(source.json);
  return source.kind === "csvJson" ? readCsv(stringPieces(json), options) : readProductsJson(json, options);
}

/** A Buffer that was sent to a thread comes as a plain array of bytes. */
function withBuffer({ bytes, ...range }: Omit<UnparsedValue, "bytes"> & { bytes: Uint8Array }): UnparsedValue {
  return { ...range, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

function* stringPieces({ bytes, start, end }: UnparsedValue): Generator<CsvPiece, void> {
  let charactersRead = 0;
  for (const slice of stringSlices(bytes, start + 1, end - 1, pieceBytes)) {
    const text = parseJson(Buffer.concat([quote, bytes.subarray(slice.start, slice.end), quote])) as string; // in quotes
    charactersRead += text.length;
    yield { text, bytesRead: charactersRead };
  }
}

const quote = Buffer.from('"');
