import { installGlobalPlugin, type Plugin } from "fast-check";
import { inject } from "vitest";

/** Whether each property is tried with all of its inputs, as `npm run test:fuzz` does. */
const isLong = process.env["FUZZ_RUNS"] !== undefined;
const budgetMs = 500;
/** The embedded engine runs all tests' statements one after the other: where PostgreSQL is there too, it tries the more. */
const runsMin = { embedded: 2, postgresql: 10 };

/**
 * Passes over the inputs for which there is no time: a busy machine tries fewer, and does not take longer. A failure is made
 * smaller without this limit.
 */
const withinBudget: Plugin<unknown> = () => {
  const deadline = performance.now() + budgetMs;
  let runs = 0;
  let hasFailed = false;
  let isAsync = false;
  const noteOutcome = (outcome: object | null) => {
    hasFailed ||= outcome !== null && "error" in outcome;
    return outcome;
  };
  return {
    decorateRun: (run) => (input) => {
      runs += 1;
      const isOver = runs > runsMin[inject("database").engine] && !hasFailed && performance.now() > deadline;
      const outcome = isOver ? (isAsync ? Promise.resolve(null) : null) : run(input);
      if (!(outcome instanceof Promise)) return noteOutcome(outcome) as never;
      isAsync = true;
      return outcome.then(noteOutcome) as never;
    },
  };
};

if (!isLong) installGlobalPlugin(withinBudget);
