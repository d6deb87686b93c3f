// How many random inputs a property is tried with, and which. A failure prints its seed and the smallest
// counterexample.

import { configureGlobal } from "fast-check";
import { isLong } from "../run/tier.js";

/** `npm test` tries the same inputs for a day, so that a failure can be repeated, and other ones on the next. */
const seedOfDay = Math.floor(Date.now() / 86_400_000);

configureGlobal({
  seed: Number(process.env["PROPERTY_SEED"] ?? seedOfDay),
  numRuns: isLong ? 250 : 25,
});
