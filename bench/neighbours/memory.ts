import { readFileSync, writeFileSync } from "node:fs";

/** Has the peak of a process's memory counted anew from now on. Where the system does not let it, it stays that since the start. */
export function resetMemoryPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // A peak that is too high is better than none.
  }
}

/** The most memory that the process has held since then, in MB of a million bytes; NaN where it is no more. */
export function memoryPeak(pid: number): number {
  try {
    const kibibytes = /VmHWM:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return (Number(kibibytes) * 1_024) / 1e6;
  } catch {
    return NaN;
  }
}
