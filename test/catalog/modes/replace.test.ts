import { describe, expect, test } from "vitest";
import { excessOf } from "../../../src/catalog/import/modes/mode.js";
import { addSite } from "../../../src/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { invalid, refusal } from "../../support/problems.js";
import { paths, product, storedKeys, storedSites } from "../../support/products.js";

const app = await openTestApp();

const importMany = `
  mutation ($products: [ProductInput!]!, $mode: ImportMode, $maxDeletions: Int) {
    importProducts(products: $products, mode: $mode, maxDeletions: $maxDeletions) {
      message imported created updated deleted failed
    }
  }
`;

const replace = { mode: "REPLACE" };

async function storeWith(...ids: string[]): Promise<TestStore> {
  const store = await createTestStore(app);
  expect((await store.post(paths.bulk, { products: ids.map((id) => product(id)) })).status).toBe(200);
  return store;
}

const idsOf = async (store: TestStore) => Object.keys(await storedKeys(app, store));

describe("mode REPLACE", () => {
  test("leaves exactly the products that it names, over GraphQL", async () => {
    const store = await storeWith("a", "b", "c");
    const { data } = await store.graphql(importMany, { products: [product("b"), product("d")], ...replace });
    expect(data.importProducts).toEqual({
      message: "2 products were imported, 2 deleted.",
      imported: 2,
      created: 1,
      updated: 1,
      deleted: 2,
      failed: 0,
    });
    expect(await idsOf(store)).toEqual(["b", "d"]);
  });

  test("is an argument of all paths of REST, whose answers have `deleted` then, and only then", async () => {
    const store = await storeWith("a", "b");
    const csvContent = toCsv([product("b")]);
    expect((await store.post(paths.csv, { csvContent, ...replace })).body).toEqual({
      message: "1 product was imported, 1 deleted.",
      imported: 1,
      created: 0,
      updated: 1,
      deleted: 1,
    });
    expect((await store.post(paths.bulk, { products: [product("c")], ...replace })).body).toMatchObject({ deleted: 1 });
    expect((await store.post(paths.one, { product: product("d"), ...replace })).body).toMatchObject({ deleted: 1 });
    expect((await store.post(paths.one, { product: product("e") })).body).not.toHaveProperty("deleted");
    expect(await idsOf(store)).toEqual(["d", "e"]);
  });
});

describe("REPLACE that rejects failed rows", () => {
  const partly = { ...replace, errorPolicy: "REJECT_FAILED" };

  test("keeps the products that they name by id or sku", async () => {
    const store = await storeWith("a", "b", "c", "d");
    const rows = [product("a", { price: -1 }), { ...product("b"), id: " ", title: "" }, product("c")];
    const { body } = await store.post(paths.bulk, { products: rows, ...partly });
    expect(body).toMatchObject({ imported: 1, created: 0, deleted: 1, failed: 2 });
    expect(await idsOf(store)).toEqual(["a", "b", "c"]);
  });

  test("deletes nothing if one has neither, since it may name any product", async () => {
    const store = await storeWith("a", "b");
    const { body } = await store.post(paths.csv, { csvContent: `${toCsv([product("a")])}too,few,cells\n`, ...partly });
    expect(body).toMatchObject({ imported: 1, deleted: 0, failed: 1 });
    expect(body.message).toContain("No product was deleted: a failed row has no readable id or sku");
    expect(await idsOf(store)).toEqual(["a", "b"]);
  });
});

describe("maxDeletions", () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [9, 5],
    [19, 10],
    [20, 10],
    [40, 10],
    [109, 10],
    [110, 11],
    [2_345, 234],
  ])("allows by default half of a few products, and a tenth of many, but at least 10; of %i: %i", (before, allowed) => {
    expect(excessOf({ removed: allowed, before, stored: 1 }, undefined)).toBeUndefined();
    expect(excessOf({ removed: allowed + 1, before, stored: 1 }, undefined)).toBe(
      `remove ${allowed + 1} of ${before} products, but maxDeletions allows ${allowed}`,
    );
  });

  test("is told where an import or a dry run would remove more", async () => {
    const store = await storeWith("a", "b", "c");
    const body = { products: [product("new")], ...replace };
    const message = "This import would remove 3 of 3 products, but maxDeletions allows 2. Nothing was stored.";
    expect(await store.post(paths.bulk, body)).toEqual(
      refusal("TOO_MANY_DELETIONS", message, [{ code: "TOO_MANY_DELETIONS", message, path: ["maxDeletions"] }]),
    );
    const { status, body: forecast } = await store.post(paths.bulk, { ...body, dryRun: true });
    expect([status, forecast.deleted]).toEqual([200, 3]);
    expect(forecast.message).toContain(
      "The import would be refused: it would remove 3 of 3 products, but maxDeletions allows 2.",
    );
  });

  test("is refused where it is negative, or of another mode", async () => {
    const store = await storeWith("a");
    const refused = (message: string) => invalid({ code: "VALIDATION_FAILED", message, path: ["maxDeletions"] });
    expect(await store.post(paths.bulk, { products: [], ...replace, maxDeletions: -1 })).toEqual(
      refused("maxDeletions must be 0 or more, not -1."),
    );
    expect(await store.post(paths.bulk, { products: [], maxDeletions: 5 })).toEqual(
      refused("maxDeletions needs the mode REPLACE: no other one deletes products."),
    );
    const { body } = await store.post(paths.bulk, { products: [], ...replace, maxDeletions: null });
    expect(body.code, "as without it").toBe("TOO_MANY_DELETIONS");
  });
});

test("REPLACE with a siteId deletes products of that site alone, removes those of others too from it, and keeps the rest", async () => {
  const store = await storeWith("free");
  await addSite(app.db, store.id, "web", "shop");
  await addSite(app.db, store.id, "market", "marketplace");
  const [own, shared, stays] = [product("own"), product("shared"), product("stays")];
  await store.post(paths.bulk, { products: [own, shared, stays], siteId: "web" });
  await store.post(paths.bulk, { products: [shared, product("elsewhere")], siteId: "market" });
  const web = { ...replace, siteId: "web" };
  const { body: refused } = await store.post(paths.bulk, { products: [product("new")], ...web });
  expect(refused.detail, "of those of the site").toBe(
    "This import would remove 3 of 3 products, but maxDeletions allows 2. Nothing was stored.",
  );
  const rows = [product("new", { sku: "sku-own" }), stays, product("bad", { price: -1 })];
  const { body } = await store.post(paths.bulk, { products: rows, ...web, errorPolicy: "REJECT_FAILED" });
  expect(body).toMatchObject({ imported: 2, created: 1, deleted: 1, failed: 1 });
  expect(await storedSites(app, store)).toEqual({
    elsewhere: ["market"],
    free: [],
    new: ["web"],
    shared: ["market"],
    stays: ["web"],
  });
});
