import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { availableParallelism } from "node:os";
import type { Piscina } from "piscina";
import { AppError } from "../errors.js";
import { FairShare } from "../lib/fairShare.js";
import type { UnparsedValue } from "../lib/json/jsonBody.js";
import { whenAborted } from "../lib/timers.js";
import { chunkRowsMax } from "./chunkRows.js";
import type { CsvChunk, CsvResult } from "./csv/csv.js";
import type { ReadingMessage, ReadingTask, ThreadFile, ThreadText } from "./readingThread.worker.js";
import { threadModule } from "../lib/threads/thread.js";

/** May exceed the cores, because the database takes as long to store rows as a thread to read them. */
export const threadsMax = Math.max(4, Math.min(8, availableParallelism()));

/** Idle threads are kept, because their compiled code makes the next import faster. */
const idleMs = 30_000;

/**
 * With 36 MB for young objects, reading takes 7 % less CPU time and 16 MB more; with 12, a quarter more time. The other limit is a
 * last resort, far above what threads allow themselves (`heapBytesMax` of readingThread.worker.ts), because V8 ends the whole
 * process if a single array exceeds it.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 18, maxOldGenerationSizeMb: 512 };

let pool: Promise<Piscina<ReadingTask, void>> | undefined;

type ThreadSource =
  | ThreadFile
  | ThreadText
  | { readonly kind: "csvJson" | "productsJson"; readonly json: UnparsedValue };

export interface ReadingLimits {
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time for a piece of 256 KiB, or the record that ends in it. */
  readonly pieceMs?: number;
  readonly heapBytesMax?: number;
  /** How long an unneeded thread may take for its next chunk. */
  readonly endMs?: number;
  /** Runs the task. Tests use their own threads. */
  readonly run?: typeof runOnThread;
}

const defaultLimits = {
  /** On a machine that is not overloaded, a piece takes a tenth of a second, and the longest record at most three seconds. */
  pieceMs: 60_000,
  /** Several times what parents, groups of rows and chunks may use together. */
  heapBytesMax: 160 * 1024 * 1024,
  /** An unneeded thread stops by itself after its next chunk, and is ready for the next import. */
  endMs: 1_000,
  run: runOnThread,
} as const;

export const readingThreads = new FairShare({
  waitMs: 30_000, // as long as a long import waits for the catalog, because others hold a thread while they are stored
  places: threadsMax,
  ofStoreMax: Math.ceil(threadsMax / 2),
  message: "Too many large imports are in progress. Nothing was changed.",
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
 * Reads like `readCsv`, on a thread, at most two chunks ahead. Returning from the generator ends it, and so does a limit.
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
      if (message.kind === "piece") continue; // it makes progress
      if (message.kind === "result") return message.result;
      if (message.kind !== "chunk") throw errorOf(message, source);
      bytesRead = message.chunk.bytesRead;
      port1.postMessage("taken");
      yield message.chunk;
    }
  } finally {
    stopWatching();
    port1.close();
    if (isWaiting) stop.abort(); // the thread sent nothing: do not wait for it
    await Promise.race([failed, sleep(endMs, undefined, { ref: false })]);
    stop.abort();
    await failed; // then the thread is free again, or gone
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
  const message = `Reading stopped after ${bytesRead} bytes, because the file took too long. Nothing was stored.`;
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

/** Messages of a thread, in order. */
interface Inbox<Message> {
  /** Waits for the next one. @throws the error given to `fail`, once all earlier messages are taken */
  next(): Promise<Message>;
  fail(error: unknown): void;
}

/** @param waitMs the longest wait for the next message; then `late` makes the error */
function inbox<Message>(
  port: MessagePort,
  { waitMs, late }: { readonly waitMs: number; readonly late: () => Error },
): Inbox<Message> {
  const arrived: Message[] = [];
  let heard = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  port.on("message", (message: Message) => {
    heard += 1;
    arrived.push(message);
    wake();
  });
  /** After a turn of the event loop, because messages wait there if it was busy. */
  const failUnlessHeard = (): void => {
    const before = heard;
    setImmediate(() => {
      if (heard === before) fail(late());
    });
  };
  return {
    fail,
    async next() {
      for (;;) {
        const message = arrived.shift();
        if (message !== undefined) return message;
        if (failure !== undefined) throw failure.error;
        const timer = setTimeout(failUnlessHeard, waitMs);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(timer);
      }
    },
  };
}

/**
 * Reads on a free thread. At most `threadsMax` calls at a time.
 *
 * @param signal terminates the thread, whatever it is doing
 * @throws the error of a failed thread; `asRefusal` turns it into one for the caller
 */
async function runOnThread(
  task: ReadingTask,
  transferList: readonly MessagePort[],
  signal: AbortSignal,
): Promise<void> {
  pool ??= createPool();
  const threads = await pool;
  return threads.run(task, { transferList: [...transferList], signal });
}

/** The caller's error for a thread that ran out of memory; any other error unchanged. */
export function asRefusal(error: unknown): unknown {
  const isOutOfMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isOutOfMemory ? tooMuchMemory() : error;
}

function tooMuchMemory(): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", "Reading this file takes too much memory. Nothing was stored.");
}

async function createPool(): Promise<Piscina<ReadingTask, void>> {
  const { Piscina } = await import("piscina"); // imported only here, because it slows down each start
  const created = new Piscina<ReadingTask, void>({
    ...threadModule("files/readingThread.worker"),
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    atomics: "disabled", // tasks wait for messages
    resourceLimits,
  });
  created.on("error", () => undefined); // otherwise a thread that fails without a task would end the process
  return created;
}
