import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openTestApp, openTestDatabase, type TestStore } from "../../support/app.js";
import { kpiFields } from "../../support/shows.js";
import { situations, storeOf, treat, treatment } from "../../support/figures/storeHistories.js";
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
const { client: db } = openTestDatabase();

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

// Another store has the same shows, with events of the same ids and viewers.
const sizes = ({ shows }: { shows: readonly OracleShow[] }) => shows.length;
const [largest] = fc.sample(situations, 20).toSorted((a, b) => sizes(b) - sizes(a));
if (largest !== undefined) await storeOf(app, db, largest.shows);

test("every figure of a store follows from what was sent to its shows, also where viewers were erased, events removed and totals rebuilt", async () => {
  const property = fc.asyncProperty(
    situations,
    treatment,
    parts,
    ranking,
    async (situation, how, some, { by, first }) => {
      const { timeZone, around, range, shows } = situation;
      const store = await storeOf(app, db, shows);
      await treat(db, store, how, around);
      const previous = expectedFigures(shows, before(range, timeZone), timeZone, some);
      const storeAnalytics = { ...expectedFigures(shows, range, timeZone, some), previous };
      expect(await store.graphql(read, { ...range, timeZone, ...some })).toEqual({ data: { storeAnalytics } });
      const nodes = rankedPerformance(shows, range, by.toLowerCase() as Lowercase<typeof by>);
      expect(await ranked(store, { ...range, by, first })).toEqual({ nodes, total: [nodes.length, true] });
    },
  );
  await fc.assert(property);
});
