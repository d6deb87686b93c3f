import * as fc from "fast-check";
import { expect, test } from "vitest";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import { openTestApp } from "../../support/app.js";
import { kpiFields } from "../../support/shows.js";
import { expectAfterRemoval, situations, type StoreChange, storeOf } from "../../support/figures/storeHistories.js";
import {
  before,
  type OracleRange,
  type OracleShow,
  storeKpis,
  storeTimeline,
  topShows,
} from "../../support/figures/storeOracle.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const buckets = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
const orders = ["SALES", "ORDERS", "VIEWERS", "CONVERSION_RATE", "AVERAGE_VIEW_TIME"] as const;
const topFirst = 2;

const figures = `
  from until showCount kpis { ${kpiFields} }
  ${buckets.map((bucket) => `${bucket}: timeline(bucket: ${bucket}) { startsAt orders sales carts }`).join("\n")}
  ${orders.map((by) => `${by}: topShows(first: ${topFirst}, by: ${by}) { id kpis { ${kpiFields} } }`).join("\n")}
`;
const read = `query ($from: DateTime!, $until: DateTime!, $timeZone: String) {
  storeAnalytics(from: $from, until: $until, timeZone: $timeZone) { ${figures} previous { ${figures} } }
}`;

function expectedFigures(shows: readonly OracleShow[], range: OracleRange, timeZone: string) {
  return {
    from: range.from.toISOString(),
    until: range.until.toISOString(),
    ...storeKpis(shows, range),
    ...Object.fromEntries(buckets.map((bucket) => [bucket, storeTimeline(shows, range, timeZone, bucket)])),
    ...Object.fromEntries(orders.map((by) => [by, topShows(shows, range, by, topFirst)])),
  };
}

/** @param change is applied to a store before its figures are read */
function figuresFollow(change: StoreChange = () => Promise.resolve()) {
  return fc.asyncProperty(situations, async ({ timeZone, around, range, stores }) => {
    const made = await Promise.all(stores.map(async (shows) => ({ shows, store: await storeOf(app, shows) })));
    for (const { shows, store } of made) {
      await change(store.id, around);
      const previous = expectedFigures(shows, before(range, timeZone), timeZone);
      const expected = { ...expectedFigures(shows, range, timeZone), previous };
      const answer = await store.graphql(read, { ...range, timeZone });
      expect(answer).toEqual({ data: { storeAnalytics: expected } });
    }
  });
}

test("every figure follows from what was sent to the shows of the store", async () => {
  const property = figuresFollow();
  await expect(fc.assert(property, { numRuns: 60 })).resolves.toBeUndefined();
});

test("also after a rebuild", async () => {
  const property = figuresFollow((storeId) => rebuildAnalytics(app.db, storeId));
  await expect(fc.assert(property, { numRuns: 3 })).resolves.toBeUndefined();
});

test("also where viewers were erased and events removed, before and after a rebuild", async () => {
  await expectAfterRemoval(app, figuresFollow);
});
