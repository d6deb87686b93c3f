import { describe, expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { graphqlError, invalid } from "../../support/problems.js";
import { paths, product, products, type Sent, storedKeys, storedProducts, longRows } from "../../support/products.js";

const app = await openTestApp();

const patchMany = `
  mutation ($products: [ProductPatchInput!]!, $siteId: String, $errorPolicy: ImportErrorPolicy, $dryRun: Boolean) {
    patchProducts(products: $products, siteId: $siteId, errorPolicy: $errorPolicy, dryRun: $dryRun) {
      message imported created updated deleted failed failures { index id sku problems { code path } }
    }
  }
`;

const patch = { mode: "PATCH" };
const full = {
  description: "Text",
  price: 5,
  price_min: 4,
  price_max: 6,
  images: ["https://shop.example/1.jpg"],
};

async function storeWith(list: readonly Sent[]): Promise<TestStore> {
  const store = await createTestStore(app);
  expect((await store.post(paths.bulk, { products: list })).status).toBe(200);
  return store;
}

const stored = async (store: TestStore) => new Map((await storedProducts(app, store)).map((row) => [row.id, row]));
const found = async (store: TestStore, search: string): Promise<string[]> => {
  const { data } = await store.graphql("query ($s: String!) { products(search: $s) { nodes { id } } }", { s: search });
  return data.products.nodes.map(({ id }: { id: string }) => id);
};

describe("mode PATCH", () => {
  test("changes only the given fields, over GraphQL", async () => {
    const store = await storeWith([product("a", full), product("b", full)]);
    const before = await stored(store);
    const list = [
      { id: "a", price: 7.5, description: null },
      { sku: "sku-b", available: false, images: null },
    ];
    const { data } = await store.graphql(patchMany, { products: list });
    expect(data.patchProducts).toEqual({
      message: "2 products were updated.",
      imported: 2,
      created: 0,
      updated: 2,
      deleted: 0,
      failed: 0,
      failures: [],
    });
    expect(await stored(store)).toEqual(
      new Map([
        ["a", { ...before.get("a"), price: 7.5, description: null }],
        ["b", { ...before.get("b"), available: false, images: [] }],
      ]),
    );
  });

  test("written into the text of an operation does the same", async () => {
    const store = await storeWith([product("a", full)]);
    const { data } = await store.graphql(
      `mutation { patchProducts(products: [{ sku: "sku-a", price: null, title: "New" }]) { updated } }`,
    );
    expect(data.patchProducts).toEqual({ updated: 1 });
    expect((await stored(store)).get("a")).toMatchObject({ price: null, title: "New", description: "Text" });
  });

  test.each(["importProducts(products: ", "importProduct(product: "])(
    "over GraphQL is refused by %s…), which names patchProducts, for literals and variables",
    async (field) => {
      const store = await storeWith([product("a", full)]);
      const before = await stored(store);
      const message = "Over GraphQL, use patchProducts in place of the mode PATCH.";
      const error = {
        path: ["import"],
        ...graphqlError("VALIDATION_FAILED", message, [{ code: "VALIDATION_FAILED", message, path: ["mode"] }]),
      };
      const sent = { ...product("a"), title: "Other" };
      const literal = JSON.stringify(sent).replaceAll(/"(\w+)":/gu, "$1:");
      const type = field.startsWith("importProducts") ? "[ProductInput!]!" : "ProductInput!";
      const calls: [string, object][] = [
        [`mutation { import: ${field}${literal}, mode: PATCH) { updated } }`, {}],
        [`mutation ($sent: ${type}) { import: ${field}$sent, mode: PATCH) { updated } }`, { sent }],
        [
          `mutation ($sent: ${type}, $mode: ImportMode) { import: ${field}$sent, mode: $mode) { updated } }`,
          { sent, ...patch },
        ],
      ];
      for (const [query, variables] of calls) {
        expect(await store.graphql(query, variables)).toMatchObject({ data: { import: null }, errors: [error] });
      }
      expect(await stored(store)).toEqual(before);
    },
  );

  test("says how many products were updated, how many were created, and how many failed", async () => {
    const store = await storeWith([product("a", full)]);
    const list = [{ id: "a", price: 1 }, product("new"), { id: "missing", price: 1 }];
    const args = { products: list, ...patch, errorPolicy: "REJECT_FAILED" };
    const dryRun = await store.post(paths.bulk, { ...args, dryRun: true });
    expect(dryRun.body.message).toBe(
      "1 product would be updated, 1 would be created, 1 would fail. Nothing was stored.",
    );
    expect((await store.post(paths.bulk, args)).body.message).toBe("1 product was updated, 1 created, 1 failed.");
  });

  test("over REST is the mode of every path; of CSV the columns that are there, where an empty cell clears", async () => {
    const store = await storeWith([product("a", full), product("b", full)]);
    const before = await stored(store);
    expect((await store.post(paths.bulk, { products: [{ id: "a", price: 1 }], ...patch })).body).toEqual({
      message: "1 product was updated.",
      imported: 1,
      created: 0,
      updated: 1,
    });
    expect((await store.post(paths.one, { product: { sku: "sku-a", price_max: null }, ...patch })).status).toBe(200);
    const csvContent = "sku,price,description\nsku-b,2.5,\n";
    expect((await store.post(paths.csv, { csvContent, ...patch })).status).toBe(200);
    expect(await stored(store)).toEqual(
      new Map([
        ["a", { ...before.get("a"), price: 1, priceMax: null }],
        ["b", { ...before.get("b"), price: 2.5, description: null }],
      ]),
    );
  });

  test.each([1, longRows])(
    "of %i products finds them by new titles and skus, and no longer by the old",
    async (count) => {
      const store = await storeWith(products(count));
      const rename = products(count).map(({ id }, index) => ({
        id,
        ...(index % 2 === 0 ? { title: "Fresh" } : { sku: `next${index}` }),
      }));
      await store.post(paths.bulk, { products: [...rename, { id: "p00000", price: 1 }].slice(0, count), ...patch });
      expect(await found(store, "fresh p00000")).toEqual(["p00000"]);
      expect(await found(store, "title p00000")).toEqual([]);
      if (count > 1) expect(await found(store, "title next 1")).toContain("p00001");
    },
  );

  // The first try defers the check of skus, which Citus does not; this one does not.
  test("exchanges skus among many products beside one that fails", async () => {
    const store = await storeWith(products(longRows));
    const list = products(longRows, (index) => ({ sku: `sku-p${String(chunkRowsMax - index).padStart(5, "0")}` }));
    const { data } = await store.graphql(patchMany, {
      products: [...list.map(({ id, sku }) => ({ id, sku })), { id: "none", price: 1 }],
      errorPolicy: "REJECT_FAILED",
    });
    expect(data.patchProducts).toMatchObject({ updated: longRows, failed: 1 });
    expect(await storedKeys(app, store)).toEqual(Object.fromEntries(list.map(({ id, sku }) => [id, sku])));
    expect(await found(store, `title sku p${String(chunkRowsMax).padStart(5, "0")}`)).toContain("p00000");
  });

  test("reports the problems of each product", async () => {
    const store = await storeWith([product("a", full), product("b")]);
    const before = await stored(store);
    const wrong = [
      { id: "none", price: 1 },
      { sku: "none", price: 1 },
      { id: "a", price_min: 10 },
      { id: "b", sku: "sku-a" },
      { title: "No key" },
      { id: "x", title: null },
    ];
    const problems = [
      { code: "PRODUCT_NOT_FOUND", path: ["products", 0, "id"] },
      { code: "PRODUCT_NOT_FOUND", path: ["products", 1, "sku"] },
      { code: "INVALID_VALUE", path: ["products", 2, "price_min"] },
      { code: "CONFLICT", path: ["products", 3, "sku"] },
      { code: "REQUIRED", path: ["products", 4, "id"] },
      { code: "REQUIRED", path: ["products", 5, "title"] },
    ];
    const refused = await store.post(paths.bulk, { products: wrong, ...patch });
    expect([refused.status, refused.body.errors.map(({ code, path }: any) => ({ code, path }))]).toEqual([
      400,
      problems,
    ]);
    expect(await stored(store)).toEqual(before);

    const { data } = await store.graphql(patchMany, {
      products: [...wrong, { id: "b", price: 2 }].filter((_, index) => index !== 3),
      errorPolicy: "REJECT_FAILED",
    });
    expect(data.patchProducts).toMatchObject({ imported: 1, created: 0, updated: 1, failed: 5 });
    const after = await stored(store);
    expect(after.get("b")).toEqual({ ...before.get("b"), price: 2 });
    expect(after.get("a")).toEqual(before.get("a"));
  });

  test("of a CSV needs a column of keys, and a key in each row; an empty key is not there", async () => {
    const store = await storeWith([product("a", full), product("b")]);
    const send = (csvContent: string) => store.post(paths.csv, { csvContent, ...patch });
    expect(await send("price\n1\n")).toEqual(
      invalid({ code: "REQUIRED", message: "The column id or sku is required.", path: ["csvContent", "id"], line: 1 }),
    );
    expect(await send("id,sku,title\n,,x\na,,\n")).toMatchObject({
      body: {
        errors: [
          { message: "id or sku is required.", line: 2 },
          { message: "title is required: it can be changed, but not cleared.", line: 3 },
        ],
      },
    });
    expect((await send("id,sku,price\na,,8\n,sku-b,9\n")).body).toMatchObject({ updated: 2 });
    const after = await stored(store);
    expect([after.get("a"), after.get("b")]).toMatchObject([{ sku: "sku-a", price: 8 }, { price: 9 }]);
  });
});
