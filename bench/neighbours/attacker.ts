// An attacker in a process of its own. It makes its requests, says that it is ready, and does at a word what it is for.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { AttackReport, AttackTask } from "./attack.js";
import { attacks, type End, type Step } from "./attacks.js";
import { setSessionPriority } from "./priority.js";
import type { Answer } from "./send.js";

/** Between an answer and the next request of a caller: this is about what a request costs, not about how many there are. */
const pauseMs = 100;
/** Answers are waited for this long after the end. */
const lastAnswersMs = 10_000;
/** Bodies of more bytes have longer to be refused. */
const largeBytes = 4 * 1_024 * 1_024;

process.once("message", (task: AttackTask) => {
  setSessionPriority(10); // other machines would have a processor of their own
  const attack = attacks[task.attack];
  if (attack === undefined) throw new Error(`There is no attack ${task.attack}.`);
  const steps = attack.callers();
  process.send?.("ready");
  process.once("message", () => {
    void run(task, steps, attack.limit).then((report) => process.send?.(report, () => process.exit()));
  });
});
process.once("disconnect", () => process.exit());

async function run({ seconds, target }: AttackTask, steps: readonly Step[], limit: RegExp): Promise<AttackReport> {
  const end: End = {
    over: AbortSignal.timeout(seconds * 1_000),
    late: AbortSignal.timeout(seconds * 1_000 + lastAnswersMs),
  };
  setMaxListeners(0, end.over, end.late); // each request listens
  const answers: Answer[] = [];
  const failures: string[] = [];
  const repeat = async (step: Step): Promise<void> => {
    while (!end.over.aborted) {
      try {
        const answer = await step(target, end);
        if (answer !== undefined) answers.push(answer);
      } catch (error) {
        if (!isWanted(error, end))
          failures.push(end.late.aborted ? `none ${lastAnswersMs / 1_000} s after the end` : String(error));
      }
      if (!end.over.aborted) await sleep(pauseMs);
    }
  };
  await Promise.all(steps.map(repeat));
  return summarize(answers, failures, limit);
}

/** A caller that meant to go away, or a command that was ended with the attack; not an answer that was given up. */
function isWanted(error: unknown, { late }: End): boolean {
  return (error as { code?: unknown }).code === "ABORT_ERR" && !late.aborted;
}

function summarize(answers: readonly Answer[], failures: readonly string[], limit: RegExp): AttackReport {
  const busy = answers.filter((answer) => answer.status === 503 || answer.text.includes('"UNAVAILABLE"'));
  const refused = answers.filter((answer) => !busy.includes(answer) && isRefusal(answer));
  const longest = (some: readonly Answer[]) => some.reduce((longer, { afterMs }) => Math.max(longer, afterMs), 0);
  const unnamed = refused.filter(({ text }) => !limit.test(text));
  const statuses: Record<string, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    statuses,
    failures: failures.length,
    firstFailure: failures[0],
    refused: refused.length,
    refusedMs: longest(refused.filter(({ sentBytes }) => sentBytes <= largeBytes)),
    refusedLargeMs: longest(refused.filter(({ sentBytes }) => sentBytes > largeBytes)),
    refusedBytes: refused.reduce((largest, { bytes }) => Math.max(largest, bytes), 0),
    unnamed: unnamed.length,
    firstUnnamed: unnamed[0]?.text.slice(0, 200),
    busy: busy.length,
    busyMs: longest(busy),
    busyWithoutRetry: busy.filter(({ hasRetryAfter }) => !hasRetryAfter).length,
  };
}

function isRefusal({ status, text }: Answer): boolean {
  return status >= 400 || text.startsWith('{"errors"') || /"errors":\[\{/u.test(text);
}
