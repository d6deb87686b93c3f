import { existsSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { lowerPriority } from "../../lib/threads/thread.js";

/** Of four threads that compile and collect garbage, and one that delays their work. */
const threadsOfV8 = 5;
const threadsFolder = "/proc/self/task";

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
  // In the order of their starts: Node.js starts those of V8 after the main thread and before all others.
  for (const thread of readdirSync(threadsFolder).slice(1, 1 + threadsOfV8)) lowerPriority(6, Number(thread));
}
