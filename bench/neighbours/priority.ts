import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Of this process and, on Linux, of its session, among which CPU time is shared out first (man 7 sched, autogroup). Only root
 * may raise it.
 */
export function setSessionPriority(nice: number): void {
  try {
    setPriority(nice);
    writeFileSync("/proc/self/autogroup", String(nice));
  } catch {
    // What is measured then includes that this process waits for a processor.
  }
}
