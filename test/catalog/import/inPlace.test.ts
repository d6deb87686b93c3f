import { expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { until } from "../../support/until.js";
import { importMany, products } from "../../support/products.js";

test("a catalog that is imported again is updated within its pages, so that its indexes are left alone", async () => {
  const app = await openTestApp();
  const store = await createTestStore(app);
  const pages = async () =>
    app.db.$queryRawUnsafe<{ id: string; page: number }[]>(
      `SELECT id, (ctid::text::point)[0]::int AS page FROM "Product" WHERE "storeId" = $1 ORDER BY id`,
      store.id,
    );
  let price = 0;
  const movedByImport = async () => {
    const before = await pages();
    price += 1;
    const { data } = await store.graphql(importMany, { products: products(chunkRowsMax, () => ({ price })) });
    expect(data.importProducts.updated).toBe(chunkRowsMax);
    const after = await pages();
    return after.filter((product, index) => product.page !== before[index]?.page).length;
  };
  await store.graphql(importMany, { products: products(chunkRowsMax) });
  // A transaction of another test that is open meanwhile keeps old versions, whose room the next import needs.
  for (let imports = 0; imports < 3; imports += 1) {
    await until(
      async () => (await movedByImport()) < chunkRowsMax / 20,
      "an import whose products stay on their pages",
    );
  }
});
