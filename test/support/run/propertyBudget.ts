import { installGlobalPlugin, type Plugin, PreconditionFailure } from "fast-check";
import { givenDatabase } from "../database/database.js";

/** Whether each property is tried with all of its inputs, as `npm run test:fuzz` does. */
const isLong = process.env["FUZZ_RUNS"] !== undefined;
const budgetMs = 200;
/** An embedded engine runs the statements of its tests one after the other: where PostgreSQL is there too, it tries the more. */
const runsMin = { embedded: 2, postgres: 5 };

/** Ends a property, whose other inputs are not even made. */
const noTime = new PreconditionFailure(true);

/**
 * Tries no more inputs than there is time for: a busy machine tries fewer, and does not take longer. A failure is made
 * smaller without this limit.
 */
const withinBudget: Plugin<unknown> = () => {
  const deadline = performance.now() + budgetMs;
  let held = 0;
  let hasFailed = false;
  const noteOutcome = (outcome: object | null) => {
    if (outcome === null) held += 1;
    else hasFailed ||= "error" in outcome;
    return outcome;
  };
  return {
    decorateRun: (run) => (input) => {
      if (held >= runsMin[givenDatabase().engine] && !hasFailed && performance.now() > deadline) return noTime;
      const outcome = run(input);
      return (outcome instanceof Promise ? outcome.then(noteOutcome) : noteOutcome(outcome)) as never;
    },
  };
};

if (!isLong) installGlobalPlugin(withinBudget);
