import type { Tier } from "./tiers.js";

/** Whether this is `npm run test:long` (vitest.config.ts), which tries more inputs, and kills and breaks more often. */
export const isLong = (process.env["TEST_TIER"] as Tier | undefined) === "long";
