import type { Tier } from "./tiers.js";

/** What runs this file now; vitest.config.ts sets it. */
export const tier = (process.env["TEST_TIER"] ?? "test") as Tier;

/** Whether this is `npm run test:long`, which tries more inputs, and kills and breaks more often. */
export const isLong = tier === "long";
