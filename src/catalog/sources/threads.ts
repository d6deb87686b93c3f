import { availableParallelism } from "node:os";
import type { MessagePort } from "node:worker_threads";
import type { Piscina } from "piscina";
import { AppError } from "../../errors.js";
import { threadModule } from "../../lib/threads/thread.js";
import type { ReadingTask } from "./thread.worker.js";

/** May exceed the cores, since the database works as long on what a thread has read. */
export const threadsMax = Math.max(4, Math.min(8, availableParallelism()));
/** The compiled code of an idle thread makes the next import faster. */
const idleMs = 30_000;
/**
 * With 36 for young objects, reading takes 7 % less CPU time and 16 MB more; with 12, a quarter more time. The other is the
 * last resort, far above what threads allow themselves (`heapBytesMax` of thread.worker.ts): where a single array is too
 * large for it, V8 ends the whole process.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 18, maxOldGenerationSizeMb: 512 };

let pool: Promise<Piscina<ReadingTask, void>> | undefined;

/**
 * Reads on a free thread. It must be one of `threadsMax` at a time.
 *
 * @param signal terminates the thread, whatever it does
 * @throws the error of a thread that failed: `asRefusal` makes one for the caller of it
 */
export async function runOnThread(
  task: ReadingTask,
  transferList: readonly MessagePort[],
  signal: AbortSignal,
): Promise<void> {
  pool ??= createPool();
  const threads = await pool;
  return threads.run(task, { transferList: [...transferList], signal });
}

/** The error for the caller of a thread that ran out of memory; any other as it is. */
export function asRefusal(error: unknown): unknown {
  const isOutOfMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isOutOfMemory ? tooMuchMemory() : error;
}

export function tooMuchMemory(): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", "To read this file takes too much memory. Nothing was stored.");
}

async function createPool(): Promise<Piscina<ReadingTask, void>> {
  const { Piscina } = await import("piscina"); // would make each start longer
  const created = new Piscina<ReadingTask, void>({
    ...threadModule("catalog/sources/thread.worker"),
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    atomics: "disabled", // tasks wait for messages
    resourceLimits,
  });
  created.on("error", () => undefined); // of a thread that fails without a task, which would end the process
  return created;
}
