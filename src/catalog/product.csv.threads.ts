import type { Worker } from "node:worker_threads";
import { startWorker } from "../startWorker.js";

/** Reading makes much that lives for a moment; in less space than this more of it would be copied about. */
const resourceLimits = { maxYoungGenerationSizeMb: 36 };
/** How long a thread that has nothing to do is kept: its code is compiled, so the next import is read faster. */
const idleMs = 30_000;

let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined;

/** A thread that runs product.csv.worker: the idle one, if there is one. */
export function takeWorker(): Worker {
  if (idle === undefined) return newWorker();
  const { worker, timer } = idle;
  idle = undefined;
  clearTimeout(timer);
  worker.ref();
  return worker;
}

/** Keeps a thread that has done its work, for a while; only one. It does not keep the process alive. */
export async function keepWorker(worker: Worker): Promise<void> {
  if (idle !== undefined) return void (await worker.terminate());
  worker.unref();
  const timer = setTimeout(() => void worker.terminate(), idleMs);
  timer.unref();
  idle = { worker, timer };
}

function newWorker(): Worker {
  const worker = startWorker(new URL("./product.csv.worker.js", import.meta.url), { resourceLimits });
  const forget = (): void => {
    if (idle?.worker !== worker) return;
    clearTimeout(idle.timer);
    idle = undefined;
  };
  return worker.once("exit", forget).once("error", forget);
}
