import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The time that may pass on this machine for what must take at most `ms`: as many times that as processes want each core. A
 * limit of Vitrine's own holds on a busy machine too, but what observes it waits for its turn.
 */
export function within(ms: number): number {
  return ms * Math.max(1, processesWaiting() / availableParallelism());
}

/** The CPU time of this process while it does something, in milliseconds: what others do on the machine makes no difference. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What commands print that take more than 5 seconds, as those of tests do on a busy machine only. */
const progressLine = /^\w+: \d+%, .*\n/gmu;

/** What commands have printed, without lines on their progress. */
export function withoutProgress(printed: string): string {
  return printed.replaceAll(progressLine, "");
}

const waitMaxMs = 120_000;

/**
 * Sends a request again for as long as the answer is 503, as clients do: on a busy machine, an import may have to wait for others
 * for longer than a request does.
 */
export function whenFree<Answer extends { readonly status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  return unlessBusy(send, ({ status }) => status === 503);
}

/** Likewise, for as long as `isBusy` says so of the answer. */
export async function unlessBusy<Answer>(
  send: () => Promise<Answer>,
  isBusy: (answer: Answer) => boolean,
): Promise<Answer> {
  const deadline = performance.now() + waitMaxMs;
  for (;;) {
    const answer = await send();
    if (!isBusy(answer) || performance.now() > deadline) return answer;
    await sleep(100);
  }
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
