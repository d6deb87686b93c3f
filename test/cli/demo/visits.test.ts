import { expect, test } from "vitest";
import { shopperVisits } from "../../../src/cli/demo/visits.js";
import { kpis, type SentEvent } from "../../support/oracle.js";

/** The events of a round every so often, as traffic.ts sends them. */
function trafficOf(hours: number, secondsBetween: number): SentEvent[] {
  const start = Date.parse("2026-05-04T18:30:00Z");
  return Array.from({ length: (hours * 3_600) / secondsBetween }, (_, round) =>
    shopperVisits({
      productIds: ["a", "b"],
      from: new Date(start + round * secondsBetween * 1_000),
      minutes: 0,
      visits: 2,
    }),
  )
    .flat()
    .map(({ occurredAt, ...event }) => ({ ...event, occurredAt: occurredAt?.toISOString() }) as SentEvent);
}

test.for([
  [1, 2],
  [4, 8],
  [72, 120],
] as const)(
  "the demo's figures are plausible after %i hours: viewers increase, and rates stay the same",
  ([hours, secondsBetween]) => {
    const { viewers, conversionRate, addToCart } = kpis(trafficOf(hours, secondsBetween));
    const visits = (2 * hours * 3_600) / secondsBetween;
    expect(viewers.unique / visits).toBeGreaterThan(0.6);
    expect(viewers.unique / visits).toBeLessThan(1);
    expect(conversionRate).toBeGreaterThan(3);
    expect(conversionRate).toBeLessThan(12);
    expect(addToCart.avg).toBeGreaterThan(15);
    expect(addToCart.avg).toBeLessThan(35);
  },
);
