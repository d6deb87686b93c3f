import { expect, test } from "vitest";
import { cachedShow, cacheShow, namesMax } from "../../src/events/record/events.record.js";
import { noNames } from "../../src/events/record/countedNames.js";
import { forStore } from "../../src/database/shares/forStore.js";
import { testDatabase } from "../support/app.js";

test("the cached shows of 1,000 stores are bounded together", () => {
  const { client } = testDatabase();
  const stores = Array.from({ length: 1_000 }, (_, number) => `store ${number}`);
  const products = Array.from({ length: 1_000 }, (_, number) => `p${number}`);
  for (const store of stores) {
    const names = noNames();
    for (const product of products) names.cached.PRODUCT.add(product);
    cacheShow(forStore(client, store), store, "show", { ...cachedShow(client, store, "show"), names });
  }
  const kept = stores.map((store) => cachedShow(forStore(client, store), store, "show").names.cached.PRODUCT.size);
  const sum = kept.reduce((one, other) => one + other, 0);
  expect(sum).toBeLessThanOrEqual(namesMax);
  expect(sum).toBeGreaterThan(namesMax / 2);
  expect(kept.at(-1)).toBe(products.length);
});
