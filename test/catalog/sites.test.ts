import { describe, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { graphqlError, refusal } from "../support/problems.js";
import {
  documented,
  importedAnswer,
  importMany,
  importOne,
  paths,
  product,
  storedKeys,
  storedProducts,
  storedSites,
} from "../support/products.js";

const app = await openTestApp();

const noProduct = refusal("PRODUCT_NOT_FOUND", "The store has no product with this reference id or SKU.", [
  {
    code: "PRODUCT_NOT_FOUND",
    message: "The store has no product with this reference id or SKU.",
    path: ["productId"],
  },
]);
const otherType = refusal("SITE_NOT_FOUND", "The site with this siteId has another siteType.", [
  { code: "SITE_NOT_FOUND", message: "The site with this siteId has another siteType.", path: ["siteType"] },
]);
const csvOf = (...ids: string[]) =>
  [
    "id,sku,title,available,featured_image,url",
    ...ids.map((id) => `${id},sku-${id},Title,true,//a.example,//a.example`),
  ].join("\n");

/** A store with the sites web (a shop) and market (a marketplace). */
async function storeWithSites(): Promise<TestStore> {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "web", "shop");
  await addSite(app.db, store.id, "market", "marketplace");
  return store;
}

/** Under which sites a product is found; "" stands for no site. */
async function seenOn(store: TestStore, productId: string): Promise<string[]> {
  const seen: string[] = [];
  for (const siteId of ["", "web", "market"]) {
    const { status, body } = await store.get(`${paths.of(productId)}?siteId=${siteId}`);
    if (status === 200) seen.push(siteId);
    else expect({ status, body }).toEqual({ status: 400, body: noProduct.body });
  }
  return seen;
}

describe("an import", () => {
  test("without siteId leaves products to the whole store: they are found under each of its sites", async () => {
    const store = await storeWithSites();
    for (const site of [{}, { siteId: "" }, { siteId: null }, { siteType: "shop" }, { siteId: "", siteType: "nope" }]) {
      const { status } = await store.post(paths.one, { product: product("a"), ...site });
      expect(status).toBe(200);
    }
    expect(await storedSites(app, store)).toEqual({ a: [] });
    expect(await seenOn(store, "a")).toEqual(["", "web", "market"]);
  });

  test("with siteId assigns products to that site: they are found there and without siteId only", async () => {
    const store = await storeWithSites();
    expect(await store.post(paths.one, { product: product("one"), siteId: "web" })).toEqual(importedAnswer(1));
    expect(
      await store.post(paths.bulk, { products: [product("b1"), product("b2")], siteId: "web", siteType: "shop" }),
    ).toEqual(importedAnswer(2));
    expect(await store.post(paths.csv, { csvContent: csvOf("csv"), siteId: "market", siteType: "" })).toEqual(
      importedAnswer(1),
    );
    expect(await store.graphql(importOne, { product: product("g"), siteId: "market" })).toEqual({
      data: { importProduct: importedAnswer(1).body },
    });
    expect(await storedSites(app, store)).toEqual({
      one: ["web"],
      b1: ["web"],
      b2: ["web"],
      csv: ["market"],
      g: ["market"],
    });
    expect(await seenOn(store, "one")).toEqual(["", "web"]);
    expect(await seenOn(store, "sku-csv")).toEqual(["", "market"]);
  });

  test("with another siteId assigns products to that site as well; one without siteId keeps the sites", async () => {
    const store = await storeWithSites();
    await store.post(paths.one, { product: product("a"), siteId: "web" });
    expect(await store.post(paths.one, { product: product("a"), siteId: "web" })).toEqual(importedAnswer(0, 1));
    expect(await storedSites(app, store)).toEqual({ a: ["web"] });
    expect(await store.post(paths.bulk, { products: [product("a"), product("b")], siteId: "market" })).toEqual(
      importedAnswer(1, 1),
    );
    expect(await store.post(paths.one, { product: product("a", { sku: "S" }) })).toEqual(importedAnswer(0, 1));
    expect(await storedSites(app, store)).toEqual({ a: ["market", "web"], b: ["market"] });
    expect(await seenOn(store, "S")).toEqual(["", "web", "market"]);
  });

  test("for a site of another type is refused by every path, and nothing is stored", async () => {
    const store = await storeWithSites();
    const site = { siteId: "web", siteType: "marketplace" };
    expect(await store.post(paths.one, { product: product("a"), ...site })).toEqual(otherType);
    expect(await store.post(paths.bulk, { products: [product("a")], ...site })).toEqual(otherType);
    expect(await store.post(paths.bulk, { products: [], ...site })).toEqual(otherType);
    expect(await store.post(paths.csv, { csvContent: csvOf("a"), ...site })).toEqual(otherType);
    const { data, errors } = await store.graphql(importMany, { products: [product("a")], ...site });
    const { detail, errors: problems } = otherType.body;
    expect(data).toEqual({ importProducts: null });
    expect(errors).toEqual([
      {
        ...graphqlError("SITE_NOT_FOUND", detail, problems),
        path: ["importProducts"],
        locations: [{ line: 3, column: 5 }],
      },
    ]);
    expect(await storedProducts(app, store)).toEqual([]);
  });
});

describe("retrieve", () => {
  test("finds the product with the id before one with that sku, in whatever order a site got them", async () => {
    const byId = product("x", { sku: "1" });
    const bySku = ["a", "y"].map((id) => product(id, { sku: "x" }));
    for (const list of bySku.flatMap((each) => [
      [byId, each],
      [each, byId],
    ])) {
      const store = await storeWithSites();
      for (const each of list) await store.post(paths.one, { product: each, siteId: "web" });
      expect((await store.get(`${paths.of("x")}?siteId=web`)).body).toMatchObject({ id: "x", sku: "1" });
    }
  });

  test("looks among the products of the site: there a sku is found that is another product's id elsewhere", async () => {
    const store = await storeWithSites();
    const [byId, bySku] = [product("x", { sku: "1" }), product("y", { sku: "x" })];
    await store.post(paths.one, { product: byId, siteId: "web" });
    await store.post(paths.one, { product: bySku, siteId: "market" });
    const find = async (query: string) => (await store.get(`${paths.of("x")}${query}`)).body;
    expect(await find("")).toEqual(documented(byId));
    expect(await find("?siteId=web")).toEqual(documented(byId));
    expect(await find("?siteId=market")).toEqual(documented(bySku));
  });

  test("with a siteType that is not the site's is refused in both styles", async () => {
    const store = await storeWithSites();
    await store.post(paths.one, { product: product("a") });
    expect(await store.get(`${paths.of("a")}?siteId=web&siteType=marketplace`)).toEqual(otherType);
    expect(await store.get(`${paths.of("a")}?siteId=web&siteType=SHOP`)).toEqual(otherType);
    const { data, errors } = await store.graphql(`{ product(productId: "a", siteId: "web", siteType: "x") { id } }`);
    const { detail, errors: problems } = otherType.body;
    expect(data).toEqual({ product: null });
    expect(errors).toEqual([
      { ...graphqlError("SITE_NOT_FOUND", detail, problems), path: ["product"], locations: [{ line: 1, column: 3 }] },
    ]);
  });
});

describe("delete", () => {
  test("under a site of the product deletes it everywhere; under another site it is not found", async () => {
    const store = await storeWithSites();
    await store.post(paths.bulk, { products: [product("a"), product("b")], siteId: "web" });
    expect(await store.delete(`${paths.of("a")}?siteId=market`)).toEqual(noProduct);
    expect(await store.delete(`${paths.of("a")}?siteId=web&siteType=marketplace`)).toEqual(otherType);
    expect(await store.delete(`${paths.of("a")}?siteId=web&siteType=shop`)).toMatchObject({
      status: 200,
      body: { message: "Product a was deleted." },
    });
    expect(await seenOn(store, "a")).toEqual([]);
    expect(await storedKeys(app, store)).toEqual({ b: "sku-b" });
  });

  test("forgets the sites: a product imported again belongs to the whole store", async () => {
    const store = await storeWithSites();
    await store.post(paths.one, { product: product("a"), siteId: "web" });
    await store.delete(paths.of("a"));
    await store.post(paths.one, { product: product("a") });
    expect(await seenOn(store, "a")).toEqual(["", "web", "market"]);
  });

  test("under a site takes the product that is found there, not one with that id elsewhere", async () => {
    const store = await storeWithSites();
    await store.post(paths.one, { product: product("x", { sku: "1" }), siteId: "web" });
    await store.post(paths.one, { product: product("y", { sku: "x" }), siteId: "market" });
    expect(await store.delete(`${paths.of("x")}?siteId=market`)).toMatchObject({
      status: 200,
      body: { message: "Product y was deleted." },
    });
    expect(await storedKeys(app, store)).toEqual({ x: "1" });
  });
});
