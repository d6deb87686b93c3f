import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Piscina } from "piscina";
import { AppError } from "../../errors.js";
import { FairShare } from "../../lib/fairShare.js";
import type { UnparsedValue } from "../../lib/json/body.js";
import { threadModule } from "../../lib/threads/thread.js";
import { chunkRowsMax } from "./chunkRows.js";
import type { CsvChunk, CsvResult } from "./csv.js";
import type { ReadingMessage, ReadingTask, ThreadFile } from "./thread.worker.js";

/** May exceed the cores, since the database works as long on what a thread has read. */
const threadsMax = Math.max(4, Math.min(8, availableParallelism()));
/** The compiled code of an idle thread makes the next import faster. */
const idleMs = 30_000;
/** With 36, reading takes 7 % less CPU time and 16 MB more; with 12, a quarter more time. */
const resourceLimits = { maxYoungGenerationSizeMb: 18 };

type ThreadSource = ThreadFile | { readonly kind: "csvJson" | "productsJson"; readonly json: UnparsedValue };

let pool: Promise<Piscina<ReadingTask, void>> | undefined;

const turns = new FairShare({
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
  return turns.run(storeId, work, signal);
}

/**
 * Reads as `readCsv`, on a thread, at most two chunks ahead. Returning from the generator ends it.
 *
 * @throws the error of node:fs for an unreadable file, or that of a failed thread
 * @throws {AppError} BAD_REQUEST for invalid JSON, UNAVAILABLE for a body that was given up
 */
export async function* readOnThread(
  source: ThreadSource,
  options: ReadingTask["options"] = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  pool ??= createPool();
  const threads = await pool;
  const { port1, port2 } = new MessageChannel();
  const messages = inbox(port1);
  const [taskSource, ...ports] = "json" in source ? sendBody(source) : [source];
  const task = { source: taskSource, options: { chunkRows: chunkRowsMax, ...options }, port: port2 };
  const done = threads.run(task, { transferList: [port2, ...ports] });
  done.catch(messages.fail);
  try {
    for (;;) {
      const message = await messages.next();
      if (message.kind === "result") return message.result;
      if (message.kind === "refused") throw new AppError(message.code, message.message);
      if (message.kind === "unreadable") {
        const { code, path = "file" in source ? source.file : undefined } = message;
        throw Object.assign(new Error(message.message), { code, syscall: "read", path });
      }
      port1.postMessage("taken");
      yield message.chunk;
    }
  } finally {
    port1.close();
    await done.catch(() => undefined); // the thread is free again
  }
}

function sendBody({ kind, json }: Extract<ThreadSource, { readonly json: unknown }>) {
  const { port1, port2: bytes } = new MessageChannel();
  const { body, ...range } = json;
  body.sendTo(port1);
  return [{ kind, json: range, bytes }, bytes] as const;
}

async function createPool(): Promise<Piscina<ReadingTask, void>> {
  const { Piscina } = await import("piscina"); // would make each start longer
  return new Piscina({
    ...threadModule("catalog/reading/thread.worker"),
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    atomics: "disabled", // tasks wait for messages
    resourceLimits,
  });
}

function inbox(port: MessagePort) {
  const arrived: ReadingMessage[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  port.on("message", (message: ReadingMessage) => {
    arrived.push(message);
    wake();
  });
  return {
    async next(): Promise<ReadingMessage> {
      for (;;) {
        const message = arrived.shift();
        if (message !== undefined) return message;
        if (failure !== undefined) throw failure.error;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    fail: (error: unknown): void => {
      failure = { error };
      wake();
    },
  };
}
