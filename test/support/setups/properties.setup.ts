// How long properties may take. A run that hangs names itself, and a failure is reported before the test's own time is up,
// with the smallest counterexample that was found until then.

import { configureGlobal } from "fast-check";
import "../run/propertyBudget.js"; // once for all files of a worker, unlike this module

/** CI tries the same inputs each time, so that a change is judged by what it changes; other runs try new ones. */
const seed = process.env["PROPERTY_SEED"];

configureGlobal({
  timeout: 200_000,
  interruptAfterTimeLimit: 250_000,
  ...(seed !== undefined && { seed: Number(seed) }),
});
