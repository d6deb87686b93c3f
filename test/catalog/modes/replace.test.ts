import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/access/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { invalid, refusal } from "../../support/problems.js";
import { importedAnswer, paths, product, products, storedKeys, storedSites, longRows } from "../../support/products.js";

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

/** Without the path, since it differs. */
const counts = (body: any) => ({ imported: body.imported, created: body.created, deleted: body.deleted });

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

  test("UPSERT is the default mode, and deletes nothing", async () => {
    const store = await storeWith("a");
    for (const mode of [undefined, null, "UPSERT"]) {
      const { data } = await store.graphql(importMany, { products: [product("b")], mode });
      expect(data.importProducts).toMatchObject({ message: "1 product was imported.", deleted: 0 });
    }
    expect(await idsOf(store)).toEqual(["a", "b"]);
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

  test("gives skus of deleted products to others, also where rows are looked at again because some fail", async () => {
    const store = await storeWith("a", "b", "c");
    const taken = product("x", { sku: "sku-a" });
    expect(counts((await store.post(paths.bulk, { products: [taken, product("b")], ...replace })).body)).toEqual({
      imported: 2,
      created: 1,
      deleted: 2,
    });
    const again = product("y", { sku: "sku-b" });
    const body = { products: [again, taken, product("z", { price: -1 })], errorPolicy: "REJECT_FAILED", ...replace };
    expect((await store.post(paths.bulk, body)).body).toMatchObject({ imported: 2, created: 1, deleted: 1, failed: 1 });
    expect(await storedKeys(app, store)).toEqual({ x: "sku-a", y: "sku-b" });
  });

  test("of a long list does the same in chunks, or on the embedded engine in steps", async () => {
    const store = await createTestStore(app);
    const count = longRows + 20;
    await store.post(paths.bulk, { products: products(count) });
    // Every hundredth is deleted, and its sku goes to a new product.
    const kept = products(count, (index) => (index % 100 === 0 ? { id: `n${index}` } : {}));
    const first = await store.post(paths.bulk, { products: kept, ...replace });
    expect(counts(first.body)).toEqual({ imported: count, created: 4, deleted: 4 });
    expect(await app.db.product.count({ where: { storeId: store.id } })).toBe(count);
    const again = await store.post(paths.csv, { csvContent: toCsv(kept.slice(0, longRows)), ...replace });
    expect(counts(again.body)).toEqual({ imported: longRows, created: 0, deleted: 20 });
    expect(await idsOf(store)).toEqual(
      kept
        .slice(0, longRows)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test("with an invalid product changes nothing", async () => {
    const store = await storeWith("a", "b");
    const { status } = await store.post(paths.bulk, { products: [product("b", { price: -1 })], ...replace });
    expect(status).toBe(400);
    expect(await idsOf(store)).toEqual(["a", "b"]);
  });
});

describe("REPLACE that rejects failed rows", () => {
  const partly = { ...replace, errorPolicy: "REJECT_FAILED" };

  test.each([4, longRows])("keeps the products that they name by id or sku; of %i rows", async (count) => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, { products: products(count) });
    const rows = products(count - 1, (index) =>
      index === 0 ? { price: -1 } : index === 1 ? { id: " ", title: "" } : {},
    );
    const { body } = await store.post(paths.bulk, { products: rows, ...partly });
    expect(body).toMatchObject({ imported: count - 3, created: 0, deleted: 1, failed: 2 });
    expect(await idsOf(store)).toEqual(products(count - 1).map(({ id }) => id));
  });

  test.each([2, longRows])(
    "deletes nothing if one has neither, since it may name any product; of %i rows",
    async (count) => {
      const store = await createTestStore(app);
      await store.post(paths.bulk, { products: [...products(count), product("other")] });
      const csvContent = `${toCsv(products(count - 1))}too,few,cells\n`;
      const { body } = await store.post(paths.csv, { csvContent, ...partly });
      expect(body).toMatchObject({ imported: count - 1, deleted: 0, failed: 1 });
      expect(body.message).toContain("No product is deleted, since a failed one has neither an id nor a sku");
      expect(await idsOf(store)).toHaveLength(count + 1);
    },
  );

  test.each([0, longRows])(
    "keeps products that failed rows name by their skus, and does not count them as deletions; beside %i",
    async (count) => {
      const store = await createTestStore(app);
      const others = products(count);
      await store.post(paths.bulk, { products: [product("a"), product("b"), product("c"), ...others] });
      const rows = [product("b", { sku: "sku-a" }), product("c", { sku: "sku-a" }), ...others];
      const { body } = await store.post(paths.bulk, { products: rows, ...partly, maxDeletions: 0 });
      expect(body).toMatchObject({ imported: count, created: 0, deleted: 0, failed: 2 });
      const refused = await store.post(paths.bulk, { products: rows, ...replace, maxDeletions: 0 });
      expect(refused.body.errors.map(({ code, path }: any) => [code, ...path])).toEqual([
        ["DUPLICATE", "products", 0, "sku"],
      ]);
      expect((await idsOf(store)).slice(0, 3)).toEqual(["a", "b", "c"]);
    },
  );

  test("fails a row whose sku belongs to a product that is kept because its own row fails", async () => {
    const store = await storeWith("a", "b");
    const rows = [product("a", { price: -1, sku: "other" }), product("n", { sku: "sku-a" })];
    const { body } = await store.post(paths.bulk, { products: rows, ...partly, maxDeletions: 1 });
    expect(body).toMatchObject({ imported: 0, deleted: 1, failed: 2 });
    expect(body.failures[1].problems).toMatchObject([{ code: "CONFLICT", path: ["products", 1, "sku"] }]);
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
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
  ])("allows by default at most half of %i products, rounded up, and at most 10: %i", async (count, allowed) => {
    const store = await createTestStore(app);
    const all = products(count);
    const feed = (deletions: number) => ({ products: [...all.slice(deletions), product("new")], ...replace });
    await store.post(paths.bulk, { products: all });
    if (allowed < count) {
      const { body } = await store.post(paths.bulk, feed(allowed + 1));
      expect([body.code, body.detail]).toEqual([
        "TOO_MANY_DELETIONS",
        `This import would remove ${allowed + 1} of ${count} products, but maxDeletions allows ${allowed}. Nothing was stored.`,
      ]);
    }
    expect((await store.post(paths.bulk, feed(allowed))).body).toMatchObject({ deleted: allowed });
  });

  test.each([101, longRows])("is by default a tenth of the catalog, at least 10; of %i products", async (count) => {
    const store = await createTestStore(app);
    const all = products(count);
    const tenth = Math.floor(count / 10);
    await store.post(paths.csv, { csvContent: toCsv(all) });
    for (const wrong of [{}, { price: -1 }]) {
      const feed = [...all.slice(tenth + 1), product("bad", wrong)];
      const body = { csvContent: toCsv(feed), ...replace, errorPolicy: "REJECT_FAILED" };
      const message = `This import would remove ${tenth + 1} of ${count} products, but maxDeletions allows ${tenth}. Nothing was stored.`;
      expect(await store.post(paths.csv, body)).toEqual(
        refusal("TOO_MANY_DELETIONS", message, [{ code: "TOO_MANY_DELETIONS", message, path: ["maxDeletions"] }]),
      );
      const { status, body: forecast } = await store.post(paths.csv, { ...body, dryRun: true });
      expect([status, forecast.deleted]).toEqual([200, tenth + 1]);
      expect(forecast.message).toContain(
        `The import would be refused: it would remove ${tenth + 1} of ${count} products, but maxDeletions allows ${tenth}.`,
      );
    }
    expect(await idsOf(store)).toHaveLength(count);
    expect((await store.post(paths.csv, { csvContent: toCsv(all.slice(tenth)), ...replace })).body).toMatchObject({
      deleted: tenth,
    });
  });

  test("0 allows no deletion, and a large number the whole catalog", async () => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, { products: products(30) });
    const { errors } = await store.graphql(importMany, { products: products(29), ...replace, maxDeletions: 0 });
    expect(errors?.[0].extensions.code).toBe("TOO_MANY_DELETIONS");
    const { data } = await store.graphql(importMany, { products: [], ...replace, maxDeletions: 30 });
    expect(data.importProducts.deleted).toBe(30);
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

describe("REPLACE with a siteId", () => {
  const web = { ...replace, siteId: "web" };

  async function storeWithSites(count = 0): Promise<TestStore> {
    const store = await storeWith("free");
    await addSite(app.db, store.id, "web", "shop");
    await addSite(app.db, store.id, "market", "marketplace");
    const [own, shared] = [product("own"), product("shared")];
    const ofWeb = { products: [own, shared, product("stays"), ...products(count)], siteId: "web" };
    expect(await store.post(paths.bulk, ofWeb)).toEqual(importedAnswer(3 + count));
    const ofMarket = { products: [shared, product("elsewhere")], siteId: "market" };
    expect(await store.post(paths.bulk, ofMarket)).toEqual(importedAnswer(1, 1));
    return store;
  }

  const sitesOf = async (store: TestStore) =>
    Object.fromEntries(Object.entries(await storedSites(app, store)).filter(([id]) => !/^p\d/u.test(id)));
  const left = { elsewhere: ["market"], free: [], new: ["web"], shared: ["market"], stays: ["web"] };

  test.each([
    ["as a list", 0, {}],
    ["as a long list", longRows, {}],
    ["where a row fails", 0, { price: -1 }],
    ["as a long list where a row fails", longRows, { price: -1 }],
  ])(
    "deletes products of that site alone, removes those of others too from it, and keeps the rest: %s",
    async (_, count, bad) => {
      const store = await storeWithSites(count);
      const rows = [product("new", { sku: "sku-own" }), product("stays"), ...products(count), product("bad", bad)];
      const body = { products: rows, ...web, errorPolicy: "REJECT_FAILED" };
      const forecast = await store.post(paths.bulk, { ...body, dryRun: true });
      const answer = await store.post(paths.bulk, body);
      expect(answer.body).toMatchObject({ deleted: 1, failed: "price" in bad ? 1 : 0 });
      expect(counts(forecast.body)).toEqual(counts(answer.body));
      expect(await sitesOf(store)).toEqual("price" in bad ? left : { ...left, bad: ["web"] });
    },
  );

  test.each([0, longRows])("does not give the sku of a product that stays to another; of %i rows", async (count) => {
    const store = await storeWithSites(count);
    const before = await sitesOf(store);
    for (const holder of ["free", "shared", "elsewhere"]) {
      const sku = `sku-${holder}`;
      const rows = [product("new", { sku }), product("stays"), ...products(count)];
      expect(await store.post(paths.bulk, { products: rows, ...web })).toEqual(
        invalid({
          code: "CONFLICT",
          message: `sku "${sku}" belongs to the product "${holder}" of the store.`,
          path: ["products", 0, "sku"],
        }),
      );
    }
    expect(await sitesOf(store)).toEqual(before);
  });

  test("counts products that leave the site as deletions, relative to the products of that site", async () => {
    const store = await storeWithSites(20);
    await store.post(paths.bulk, { products: products(500, () => ({})).slice(20) });
    const { body } = await store.post(paths.bulk, { products: [product("new")], ...web });
    expect([body.code, body.detail]).toEqual([
      "TOO_MANY_DELETIONS",
      "This import would remove 23 of 23 products, but maxDeletions allows 10. Nothing was stored.",
    ]);
  });
});
