import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openTestApp, openTestDatabase, type TestStore } from "../../support/app.js";
import { kpiFields } from "../../support/shows.js";
import { isLong } from "../../support/run/tier.js";
import { nearby, rangeNear, someStores } from "../../support/figures/storeHistories.js";
import {
  before,
  type OracleRange,
  type OracleShow,
  rankedPerformance,
  storeKpis,
  storeTimeline,
  topShows,
} from "../../support/figures/storeOracle.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const parts = fc.record({
  bucket: fc.constantFrom("HOUR", "DAY", "WEEK", "MONTH"),
  by: fc.constantFrom("SALES", "ORDERS", "VIEWERS", "CONVERSION_RATE", "AVERAGE_VIEW_TIME"),
});
type Parts = typeof parts extends fc.Arbitrary<infer Value> ? Value : never;
const topFirst = 2;

const figures = `
  from until showCount kpis { ${kpiFields} }
  timeline(bucket: $bucket) { startsAt orders sales carts }
  topShows(first: ${topFirst}, by: $by) { id kpis { ${kpiFields} } }
`;
const read = `query ($from: DateTime!, $until: DateTime!, $timeZone: String, $bucket: StoreBucket!, $by: ShowOrder!) {
  storeAnalytics(from: $from, until: $until, timeZone: $timeZone) { ${figures} previous { ${figures} } }
}`;

function expectedFigures(shows: readonly OracleShow[], range: OracleRange, timeZone: string, { bucket, by }: Parts) {
  return {
    from: range.from.toISOString(),
    until: range.until.toISOString(),
    ...storeKpis(shows, range),
    timeline: storeTimeline(shows, range, timeZone, bucket),
    topShows: topShows(shows, range, by, topFirst),
  };
}

const ranking = fc.record({
  by: fc.constantFrom("SALES", "ORDERS", "QUANTITY", "CARTS", "SHOWS"),
  first: fc.integer({ min: 1, max: 3 }),
});
const list = `query ($from: DateTime!, $until: DateTime!, $first: Int, $after: String, $by: ProductPerformanceOrder) {
  productPerformance(from: $from, until: $until, first: $first, after: $after, orderBy: $by) {
    nodes { productId carts orders quantity sales refunds shows }
    totalCount totalCountIsExact pageInfo { hasNextPage endCursor }
  }
}`;

/** The performance of products on all pages, one after the other. */
async function ranked(store: TestStore, variables: object) {
  const nodes: unknown[] = [];
  let after: string | null = null;
  for (;;) {
    const { data, errors } = await store.graphql(list, { ...variables, after });
    expect(errors).toBeUndefined();
    const page: any = data.productPerformance;
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return { nodes, total: [page.totalCount, page.totalCountIsExact] };
    after = page.pageInfo.endCursor;
  }
}

const stores = await someStores(app, openTestDatabase().client, isLong ? 80 : 8);

test("every figure of a store follows from what was sent to its shows, also where viewers were erased, events removed and totals rebuilt", async () => {
  const ofOne = fc.constantFrom(...stores);
  const property = fc.asyncProperty(ofOne, nearby, parts, ranking, async (one, near, some, { by, first }) => {
    const { store, shows, timeZone, around } = one;
    const ends = rangeNear(around, near);
    const previous = expectedFigures(shows, before(ends, timeZone), timeZone, some);
    const storeAnalytics = { ...expectedFigures(shows, ends, timeZone, some), previous };
    expect(await store.graphql(read, { ...ends, timeZone, ...some })).toEqual({ data: { storeAnalytics } });
    const nodes = rankedPerformance(shows, ends, by.toLowerCase() as Lowercase<typeof by>);
    expect(await ranked(store, { ...ends, by, first })).toEqual({ nodes, total: [nodes.length, true] });
  });
  await fc.assert(property);
});
