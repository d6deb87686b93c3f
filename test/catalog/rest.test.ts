// @engine both
import { describe, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { findProduct } from "../../src/catalog/product/product.lookup.js";
import { createTestStore, openConnections, openTestApp } from "../support/app.js";
import { noSite, refusal } from "../support/problems.js";
import { documented, importedAnswer, paths, product, storedKeys, storedProducts } from "../support/products.js";

const app = await openTestApp();

const json = "application/json; charset=utf-8";
const found = (body: object) => ({ status: 200, type: json, body });
const deleted = (id: string) => found({ message: `Product ${id} was deleted.` });
const noProduct = refusal("PRODUCT_NOT_FOUND", "The store has no product with this reference id or SKU.", [
  {
    code: "PRODUCT_NOT_FOUND",
    message: "The store has no product with this reference id or SKU.",
    path: ["productId"],
  },
]);

/** A store with the products. */
async function storeWith(...list: ReturnType<typeof product>[]) {
  const store = await createTestStore(app);
  expect(await store.post(paths.bulk, { products: list })).toEqual(importedAnswer(list.length));
  return store;
}

describe("retrieve", () => {
  test("an imported product is found by id and by sku, with the five documented fields and no others", async () => {
    const store = await createTestStore(app);
    const shirt = product("shirt", { sku: "S-1", price: 0.1, description: "Cotton", images: ["//a.example/1.jpg"] });
    expect(await store.post(paths.one, { product: shirt })).toEqual(importedAnswer(1));
    for (const productId of ["shirt", "S-1"]) {
      expect(await store.get(paths.of(productId))).toEqual(found(documented(shirt)));
    }
  });

  test("an id is decoded exactly once, for retrieve and delete alike", async () => {
    const encodedIds = {
      "a/b": "a%2Fb",
      "a%2Fb": "a%252Fb",
      "100%": "100%25",
      "%25": "%2525",
      "a+b": "a+b",
      "a+c": "a%2Bc",
      "a b": "a%20b",
      "a?b#c": "a%3Fb%23c",
      "a/../b": "a%2F..%2Fb",
      "Größe-ß-鞋-👟": encodeURIComponent("Größe-ß-鞋-👟"),
      [`a"b\\c'd`]: encodeURIComponent(`a"b\\c'd`),
      "bulk/csv": "bulk%2Fcsv", // the name of another path with a slash
    };
    const store = await storeWith(...Object.keys(encodedIds).map((id) => product(id)), product("other"));
    for (const [id, encoded] of Object.entries(encodedIds)) {
      expect(await store.get(`${paths.one}/${encoded}`)).toEqual(found(documented(product(id))));
      expect(await store.delete(`${paths.one}/${encoded}`)).toEqual(deleted(id));
    }
    expect(await storedKeys(app, store)).toEqual({ other: "sku-other" });
  });

  test("an id that another product has as its sku wins", async () => {
    const first = product("x", { sku: "y" });
    const second = product("y", { sku: "z" });
    const store = await storeWith(first, second);
    expect(await store.get(paths.of("y"))).toEqual(found(documented(second)));
    expect(await store.delete(paths.of("y"))).toEqual(deleted("y"));
    expect(await store.get(paths.of("y"))).toEqual(found(documented(first)));
  });

  test("ids and skus are case-sensitive", async () => {
    const store = await storeWith(product("Shirt"));
    expect(await store.get(paths.of("shirt"))).toEqual(noProduct);
    expect(await store.get(paths.of("SKU-Shirt"))).toEqual(noProduct);
  });

  test("an unknown id is answered with 400", async () => {
    const store = await storeWith(product("shirt"));
    for (const encoded of ["nope", "%00", "%20", "..%2F", "%F0%9F%91%9F", "a".repeat(5_000)]) {
      expect(await store.get(`${paths.one}/${encoded}`)).toEqual(noProduct);
      expect(await store.delete(`${paths.one}/${encoded}`)).toEqual(noProduct);
    }
    expect(await storedKeys(app, store)).toEqual({ shirt: "sku-shirt" });
  });

  test("an id that no product can have is not looked up", async () => {
    const { client, probe } = openConnections();
    let asked = 0;
    probe.aroundQuery = (_, send) => ((asked += 1), send());
    for (const [productId, queries, site] of [
      ["a".repeat(255), 1, undefined],
      ["👟".repeat(255), 1, undefined],
      ["a".repeat(256), 0, undefined],
      ["\0", 0, undefined],
      ["a", 0, { siteId: "s".repeat(256) }],
    ] as const) {
      asked = 0;
      const { code } = await findProduct(client, "no store", productId, site).then(String, (error) => error);
      expect({ code, asked }).toEqual({ code: site ? "SITE_NOT_FOUND" : "PRODUCT_NOT_FOUND", asked: queries });
    }
  });

  test("an id that is not percent-encoded UTF-8 is a bad request", async () => {
    const store = await createTestStore(app);
    const message = "productId is not percent-encoded UTF-8.";
    const bad = refusal("BAD_REQUEST", message, [{ code: "BAD_REQUEST", message, path: ["productId"] }]);
    for (const encoded of ["%", "%zz", "%ED%A0%80", "%FF", "a%2"]) {
      expect(await store.get(`${paths.one}/${encoded}`)).toEqual(bad);
    }
  });

  test("HEAD answers with the headers of GET and no body", async () => {
    const store = await storeWith(product("shirt"));
    for (const path of [paths.of("shirt"), paths.of("nope")]) {
      const [get, head] = [await store.fetch(path), await store.fetch(path, { method: "HEAD" })];
      expect(await head.text()).toBe("");
      expect(head.status).toBe(get.status);
      for (const name of ["content-type", "content-length"]) expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  test("another store's products are neither found nor deleted", async () => {
    const owner = await storeWith(product("shirt"));
    const other = await createTestStore(app);
    expect(await other.get(paths.of("shirt"))).toEqual(noProduct);
    expect(await other.delete(paths.of("sku-shirt"))).toEqual(noProduct);
    expect(await storedKeys(app, owner)).toEqual({ shirt: "sku-shirt" });
  });
});

describe("delete", () => {
  test("a product is deleted by id or by sku, once", async () => {
    const store = await storeWith(product("a"), product("b"), product("c"));
    expect(await store.delete(paths.of("a"))).toEqual(deleted("a"));
    expect(await store.delete(paths.of("sku-b"))).toEqual(deleted("b"));
    expect(await store.delete(paths.of("a"))).toEqual(noProduct);
    expect(await storedKeys(app, store)).toEqual({ c: "sku-c" });
  });

  test("of two concurrent calls one deletes the product and the other does not find it", async () => {
    const store = await storeWith(product("a"));
    const answers = await Promise.all([store.delete(paths.of("a")), store.delete(paths.of("a"))]);
    expect(answers.toSorted((a, b) => a.status - b.status)).toEqual([deleted("a"), noProduct]);
  });
});

describe("query parameters", () => {
  test("siteId and siteType choose the site; an empty siteId or siteType counts as not given; siteType alone is ignored", async () => {
    const shirt = product("shirt");
    const store = await storeWith(shirt);
    await addSite(app.db, store.id, "web", "shop");
    for (const query of [
      "?siteId=web",
      "?siteId=web&siteType=shop",
      "?siteId=web&siteType=",
      "?siteId=",
      "?siteId=&siteType=x",
      "?siteType=x",
      "?",
    ]) {
      expect({ query, ...(await store.get(paths.of("shirt") + query)) }).toEqual({
        query,
        ...found(documented(shirt)),
      });
    }
    for (const query of ["?siteId=nope", "?siteId=WEB", "?siteId=%00", "?siteId=%20"]) {
      expect({ query, ...(await store.get(paths.of("shirt") + query)) }).toEqual({ query, ...noSite });
      expect({ query, ...(await store.delete(paths.of("shirt") + query)) }).toEqual({ query, ...noSite });
    }
  });

  test("a productId in the query string does not stand for that of the path: reads ignore it, as all that they do not know, and deletions refuse it", async () => {
    const [a, b] = [product("a"), product("b")];
    const store = await storeWith(a, b);
    expect(await store.get(`${paths.of("a")}?productId=b&__proto__=1&first=x`)).toEqual(found(documented(a)));
    expect(await store.delete(`${paths.of("a")}?productId=b`)).toMatchObject({ status: 400 });
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a", b: "sku-b" });
  });

  test("the query string never overrides nor completes a body", async () => {
    const store = await createTestStore(app);
    await addSite(app.db, store.id, "web", "shop");
    const empty = "?siteId=&siteType="; // as clients send it that fill in the documented defaults
    expect(await store.post(paths.one + empty, { product: product("a"), siteId: "web" })).toEqual(importedAnswer(1));
    expect(await store.post(paths.bulk + empty, { products: [product("b")] })).toEqual(importedAnswer(1));
    for (const query of ["?siteId=web", "?siteType=shop", "?products=x", "?mode=REPLACE&dryRun=true"]) {
      const { status, body } = await store.post(paths.bulk + query, { products: [product("c")] });
      expect([query, status, body.code]).toEqual([query, 400, "BAD_REQUEST"]);
    }
    expect((await storedProducts(app, store)).map(({ id, sites }) => ({ id, sites }))).toEqual([
      { id: "a", sites: ["web"] },
      { id: "b", sites: [] },
    ]);
  });
});
