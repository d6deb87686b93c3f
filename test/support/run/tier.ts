import { readConfigureGlobal } from "fast-check";
import type { Tier } from "./tiers.js";

/** Whether this is `npm run test:long` (vitest.config.ts), which tries more inputs, and kills and breaks more often. */
export const isLong = (process.env["TEST_TIER"] as Tier | undefined) === "long";

/**
 * The items whose turn it is today, by the seed of properties.setup.ts: each has it once in so many days. All of them in
 * `npm run test:long`.
 *
 * @param target tells it from others that get other items on the same day
 */
export function ofDay<Item>(items: readonly Item[], days: number, target = 0): readonly Item[] {
  const { seed = 0 } = readConfigureGlobal();
  return isLong ? items : items.filter((_, index) => index % days === (seed + target) % days);
}
