import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/**
 * The time that may pass on this machine for what must take at most `ms`: as many times that as processes want each core. A
 * limit of Vitrine's own holds on a busy machine too, but what observes it waits for its turn.
 */
export function within(ms: number): number {
  return ms * Math.max(1, processesWaiting() / availableParallelism());
}

/** Those that run or could, now or on the average of the last minute, whichever is more. */
function processesWaiting(): number {
  const [average = 0] = loadavg();
  return Math.max(average, runnable());
}

/** As Linux says it; 0 elsewhere. */
function runnable(): number {
  try {
    return Number(/ (\d+)\//u.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
