// How many random inputs a property is tried with, and which. A failure prints its seed, and is reported with the smallest
// counterexample that was found before the test's own time is up.

import { configureGlobal } from "fast-check";
import { isLong } from "../run/tier.js";

/** `npm test` tries the same inputs for a day, so that a failure can be repeated, and other ones on the next. */
const seedOfDay = Math.floor(Date.now() / 86_400_000);
const limitMs = isLong ? 250_000 : 15_000;

configureGlobal({
  seed: Number(process.env["PROPERTY_SEED"] ?? seedOfDay),
  numRuns: isLong ? 250 : 25,
  timeout: limitMs,
  interruptAfterTimeLimit: limitMs,
  markInterruptAsFailure: true,
});
