// @tier all @engine postgresql
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStore } from "../../../src/stores/store.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { products } from "../../support/products.js";

// Statistics are those of other stores: the planner knows nothing of one that is a second old, and takes its products for a few.

/** All pairs of so many rows take minutes to compare, and the rows themselves a second. */
const rows = 20_000;
const list = products(rows);

let own: OwnDatabase;
let database: OpenDatabase;
beforeAll(async () => {
  own = await createMigratedDatabase("statistics");
  await own.query(`
    ALTER TABLE "Product" SET (autovacuum_enabled = false);
    ALTER TABLE "StagedProduct" SET (autovacuum_enabled = false)`);
  database = own.open();
  await storeWithProducts("other");
  await own.query("ANALYZE");
});
afterAll(() => own.drop());

async function storeWithProducts(id: string): Promise<void> {
  await createStore(database.client, id, id);
  await importProducts(database.client, id, list);
}

/** Every kind of fault that rows have by themselves, with each other, and with the catalog. */
const faulty: readonly object[] = [
  { ...list[0], title: "" },
  ...list.slice(1, -5),
  ...list.slice(1, 2), // its id and sku come twice
  { ...list[2], id: "another" }, // its sku belongs to another product
];

describe.each(["UPSERT", "REPLACE", "PATCH"] as const)("%s into a new store", (mode) => {
  test("rows that are right, and a dry run of them", async () => {
    await storeWithProducts(`right-${mode}`);
    for (const dryRun of [true, false])
      expect(await importProducts(database.client, `right-${mode}`, list, { mode, dryRun })).toMatchObject({
        imported: rows,
        created: 0,
      });
  });

  test("rows of which some are wrong, of either policy, and a dry run of them", async () => {
    const store = `wrong-${mode}`;
    await storeWithProducts(store);
    await expect(importProducts(database.client, store, faulty, { mode })).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
    });
    for (const dryRun of [true, false]) {
      const result = await importProducts(database.client, store, faulty, {
        mode,
        dryRun,
        errorPolicy: "REJECT_FAILED",
      });
      expect(result).toMatchObject({ created: 0, failed: 5, imported: faulty.length - 5 });
    }
  });
});
