import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openTestApp, type TestStore } from "../../support/app.js";
import { expectAfterRemoval, situations, type StoreChange, storeOf } from "../../support/figures/storeHistories.js";
import { type OracleRange, rankedPerformance } from "../../support/figures/storeOracle.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const orders = ["SALES", "ORDERS", "QUANTITY", "CARTS", "SHOWS"] as const;
const fields = "productId carts orders quantity sales refunds shows";
const list = `query ($from: DateTime!, $until: DateTime!, $first: Int, $after: String, $by: ProductPerformanceOrder) {
  productPerformance(from: $from, until: $until, first: $first, after: $after, orderBy: $by) {
    nodes { ${fields} } totalCount totalCountIsExact pageInfo { hasNextPage endCursor }
  }
}`;

/** All pages, one after the other. */
async function ranked(store: TestStore, range: OracleRange, by: string, first: number) {
  const nodes: unknown[] = [];
  let after: string | null = null;
  for (;;) {
    const { data, errors } = await store.graphql(list, { ...range, by, first, after });
    expect(errors).toBeUndefined();
    const page: any = data.productPerformance;
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return { nodes, total: [page.totalCount, page.totalCountIsExact] };
    after = page.pageInfo.endCursor;
  }
}

/** @param change is applied to a store before its figures are read */
function figuresFollow(change: StoreChange = () => Promise.resolve()) {
  const pageSizes = fc.integer({ min: 1, max: 3 });
  return fc.asyncProperty(situations, pageSizes, async ({ around, range, stores }, first) => {
    for (const shows of stores) {
      const store = await storeOf(app, shows);
      await change(store.id, around);
      for (const by of orders) {
        const expected = rankedPerformance(shows, range, by.toLowerCase() as Lowercase<typeof by>);
        const total = [expected.length, true];
        expect(await ranked(store, range, by, first)).toEqual({ nodes: expected, total });
      }
    }
  });
}

test("the performance of every product follows from what was sent, on every page of every order", async () => {
  const property = figuresFollow();
  await expect(fc.assert(property, { numRuns: 20 })).resolves.toBeUndefined();
});

test("also where viewers were erased and events removed, before and after a rebuild", async () => {
  await expectAfterRemoval(app, figuresFollow);
});
