import { existsSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { lowerPriority } from "../../lib/threads/thread.js";

/** Four that compile and collect garbage, and one that delays their work. */
const threadsMax = 5;
const threadsFolder = "/proc/self/task";
/** Linux has no larger ids of threads, and begins anew with small ones. */
const idsMax = 2 ** 22;

/**
 * Has V8 collect garbage once the heap has grown by half, not fourfold: that would be hundreds of megabytes after large
 * requests. No cost of the earlier collections could be measured. The flag applies to all threads.
 */
export function collectGarbageEarly(): void {
  setFlagsFromString("--heap-growing-percent=50");
}

/**
 * Puts the event loop before the threads of V8, which compile and collect garbage. They no longer collect young
 * garbage, since a thread waits for that.
 */
export function lowerPriorityOfV8(): void {
  if (!existsSync(threadsFolder)) return; // not Linux, or a container without /proc
  setFlagsFromString("--no-parallel-scavenge");
  for (const thread of threadsOfV8(readdirSync(threadsFolder), process.pid)) lowerPriority(6, thread);
}

/** Node.js starts those of V8 after the main thread and before all others. @param main the main thread, whose id is the pid */
export function threadsOfV8(threads: readonly string[], main: number): number[] {
  const startOf = (id: number) => (id < main ? id + idsMax : id);
  const inOrder = threads.map(Number).toSorted((one, other) => startOf(one) - startOf(other));
  return inOrder.slice(1, 1 + threadsMax);
}
