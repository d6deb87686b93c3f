import { setTimeout } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { FairShare } from "../../lib/fairShare.js";
import type { UnparsedValue } from "../../lib/json/body.js";
import { whenAborted } from "../../lib/streams/whenAborted.js";
import { chunkRowsMax } from "./chunkRows.js";
import type { CsvChunk, CsvResult } from "./csv/csv.js";
import { inbox } from "./inbox.js";
import type { ReadingMessage, ReadingTask, ThreadFile, ThreadText } from "./thread.worker.js";
import { asRefusal, runOnThread, threadsMax, tooMuchMemory } from "./threads.js";

type ThreadSource =
  | ThreadFile
  | ThreadText
  | { readonly kind: "csvJson" | "productsJson"; readonly json: UnparsedValue };

export interface ReadingLimits {
  /** Ends the reading: its client has disconnected. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time for a piece of 256 KiB, or the record that ends in it. */
  readonly pieceMs?: number;
  readonly heapBytesMax?: number;
  /** How long a thread that is no longer needed may take for its next chunk. */
  readonly endMs?: number;
  /** Runs the task: tests have threads of their own. */
  readonly run?: typeof runOnThread;
}

const defaultLimits = {
  /** A piece takes a tenth of a second, and a record of the maximum length at most three, where the machine is not overloaded. */
  pieceMs: 60_000,
  /** Several times what parents, groups of rows and chunks may take together. */
  heapBytesMax: 160 * 1024 * 1024,
  /** A thread that is no longer needed ends by itself after its next chunk, and is ready for the next import. */
  endMs: 1_000,
  run: runOnThread,
} as const;

export const readingThreads = new FairShare({
  waitMs: 30_000, // as a long import waits for the catalog: others hold a thread while they are stored
  places: threadsMax,
  ofStoreMax: Math.ceil(threadsMax / 2),
  message: "Too many large imports are under way. Nothing was changed.",
});

/** Waits for the store's turn. @throws {AppError} UNAVAILABLE after the maximum wait */
export function withThread<Result>(
  storeId: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return readingThreads.run(storeId, work, signal);
}

/**
 * Reads as `readCsv`, on a thread, at most two chunks ahead. Returning from the generator ends it, and so does a limit.
 *
 * @throws the error of node:fs for an unreadable file, or that of a failed thread
 * @throws {AppError} BAD_REQUEST for invalid JSON, PAYLOAD_TOO_LARGE for a file that takes too much memory, UNAVAILABLE for a
 *   piece that takes too long, a body that was given up, and a client that has gone
 */
export async function* readOnThread(
  source: ThreadSource,
  options: ReadingTask["options"] = {},
  limits: ReadingLimits = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  const { signal, pieceMs, heapBytesMax, endMs, run } = { ...defaultLimits, ...limits };
  const { port1, port2 } = new MessageChannel();
  let bytesRead = 0;
  const messages = inbox<ReadingMessage>(port1, { waitMs: pieceMs, late: () => tooSlow(bytesRead) });
  const [taskSource, ...ports] = "json" in source ? sendBody(source) : [source];
  const task = { source: taskSource, options: { chunkRows: chunkRowsMax, ...options }, port: port2, heapBytesMax };
  const stop = new AbortController();
  const done = run(task, [port2, ...ports], stop.signal);
  const failed = done.catch((error: unknown) => messages.fail(asRefusal(error)));
  const stopWatching = whenAborted(signal, () => messages.fail(gone()));
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const message = await messages.next();
      isWaiting = false;
      if (message.kind === "piece") continue; // it goes on
      if (message.kind === "result") return message.result;
      if (message.kind !== "chunk") throw errorOf(message, source);
      bytesRead = message.chunk.bytesRead;
      port1.postMessage("taken");
      yield message.chunk;
    }
  } finally {
    stopWatching();
    port1.close();
    if (isWaiting) stop.abort(); // in vain
    await Promise.race([failed, setTimeout(endMs, undefined, { ref: false })]);
    stop.abort();
    await failed; // the thread is free again, or gone
  }
}

type Failure = Exclude<ReadingMessage, { readonly kind: "piece" | "result" | "chunk" }>;

function errorOf(message: Failure, source: ThreadSource): Error {
  if (message.kind === "refused") return new AppError(message.code, message.message);
  if (message.kind === "tooMuchMemory") return tooMuchMemory();
  const { code, path = "file" in source ? source.file : undefined } = message;
  return Object.assign(new Error(message.message), { code, syscall: "read", path });
}

function tooSlow(bytesRead: number): AppError {
  const message = `To read the rows after the first ${bytesRead} bytes of this file takes too long. Nothing was stored.`;
  return new AppError("UNAVAILABLE", message);
}

function gone(): AppError {
  return new AppError("UNAVAILABLE", "The client has disconnected. Nothing was stored.");
}

function sendBody({ kind, json }: Extract<ThreadSource, { readonly json: unknown }>) {
  const { port1, port2: bytes } = new MessageChannel();
  const { body, ...range } = json;
  body.sendTo(port1);
  return [{ kind, json: range, bytes }, bytes] as const;
}
