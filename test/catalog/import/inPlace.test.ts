import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { importMany, products } from "../../support/products.js";

test("a catalog that is imported again is updated within its pages, so that its indexes are left alone", async () => {
  const app = await openTestApp();
  const store = await createTestStore(app);
  const pages = async () =>
    app.db.$queryRawUnsafe<{ id: string; page: number }[]>(
      `SELECT id, (ctid::text::point)[0]::int AS page FROM "Product" WHERE "storeId" = $1 ORDER BY id`,
      store.id,
    );
  await store.graphql(importMany, { products: products(1_000) });
  const before = await pages();
  for (const price of [1, 2, 3]) {
    const { data } = await store.graphql(importMany, { products: products(1_000, () => ({ price })) });
    expect(data.importProducts.updated).toBe(1_000);
    const after = await pages();
    const moved = after.filter(({ page }, index) => page !== before[index]?.page);
    expect(moved.length).toBeLessThan(50); // where products of others share a page
  }
});
