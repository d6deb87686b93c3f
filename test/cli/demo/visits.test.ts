import { expect, test } from "vitest";
import { momentsOf } from "../../../src/cli/demo/moments.js";
import { shopperVisits } from "../../../src/cli/demo/visits.js";
import { kpis, type SentEvent } from "../../support/oracle.js";

/** The events of a round every so often, as traffic.ts sends them. */
function trafficOf(hours: number, secondsBetween: number): SentEvent[] {
  const start = Date.parse("2026-05-04T18:30:00Z");
  return Array.from({ length: (hours * 3_600) / secondsBetween }, (_, round) =>
    shopperVisits({
      showStart: new Date(start),
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

test("most carts of the demo are of the product that is pinned, which is another one every two minutes", () => {
  const showStart = new Date("2026-05-04T18:30:00Z");
  const pins = momentsOf(showStart, 240);
  const carts = shopperVisits({ showStart, from: showStart, minutes: 240, visits: 10_000 }).filter(
    ({ type }) => type === "ADD_TO_CART",
  );
  const ofPin = carts.filter(({ occurredAt, productId }) => {
    const pin = pins.findLast(({ startedAt }) => startedAt <= (occurredAt ?? startedAt));
    return pin?.productId === productId;
  });
  expect([pins.length, pins[1]?.startedAt]).toEqual([120, new Date("2026-05-04T18:32:00Z")]);
  expect(new Set(pins.map(({ productId }) => productId)).size).toBe(12);
  expect(ofPin.length / carts.length).toBeGreaterThan(0.6);
  expect(ofPin.length / carts.length).toBeLessThan(0.8);
});
