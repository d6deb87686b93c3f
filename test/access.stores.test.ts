import { afterAll, beforeAll, expect, test } from "vitest";
import { addSite } from "../src/access/site.js";
import { createTestStore, startApp, type TestApp } from "./support/app.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const product = (title: string) => ({
  id: "shirt",
  sku: "S-1",
  title,
  available: true,
  featured_image: "https://shop.example/shirt.jpg",
  url: "https://shop.example/shirt",
});

/** A store with a product and a site, and another one with nothing. */
async function createStores() {
  const [owner, stranger] = [await createTestStore(app), await createTestStore(app)];
  await addSite(app.db, owner.id, "de", "SHOP");
  expect((await owner.post("/external/product/v1", { product: product("Theirs"), siteId: "de" })).status).toBe(200);
  return { owner, stranger };
}

test("another store's product is answered like one that does not exist, by id and by sku", async () => {
  const { stranger } = await createStores();
  const unknown = await stranger.get("/external/product/v1/no-such-product");
  expect(unknown).toMatchObject({ status: 400, body: { code: "PRODUCT_NOT_FOUND" } });
  for (const productId of ["shirt", "S-1"]) {
    expect(await stranger.get(`/external/product/v1/${productId}`)).toEqual(unknown);
    expect(await stranger.delete(`/external/product/v1/${productId}`)).toEqual(
      await stranger.delete("/external/product/v1/no-such-product"),
    );
  }
});

test("GraphQL answers another store's product like one that does not exist", async () => {
  const { stranger } = await createStores();
  const read = "query ($productId: String!) { product(productId: $productId) { id title } }";
  const remove = "mutation ($productId: String!) { deleteProduct(productId: $productId) { message } }";
  for (const query of [read, remove]) {
    const unknown = await stranger.graphql(query, { productId: "no-such-product" });
    expect(unknown.errors).toMatchObject([{ extensions: { code: "PRODUCT_NOT_FOUND" } }]);
    for (const productId of ["shirt", "S-1"]) expect(await stranger.graphql(query, { productId })).toEqual(unknown);
  }
});

test("a store that tries to delete another's product leaves it where it is", async () => {
  const { owner, stranger } = await createStores();
  await stranger.delete("/external/product/v1/shirt");
  expect(await owner.get("/external/product/v1/shirt")).toMatchObject({ status: 200, body: { title: "Theirs" } });
});

test("lists and searches show a store its own products only", async () => {
  const { owner, stranger } = await createStores();
  expect((await stranger.graphql("{ products { nodes { id } } }")).data).toEqual({ products: { nodes: [] } });
  expect((await stranger.graphql('{ products(search: "theirs") { nodes { id } } }')).data).toEqual({
    products: { nodes: [] },
  });
  expect((await owner.graphql('{ products(search: "theirs") { nodes { id } } }')).data).toEqual({
    products: { nodes: [{ id: "shirt" }] },
  });
});

test("a cursor from one store's list opens nothing of it to another", async () => {
  const { owner, stranger } = await createStores();
  await owner.post("/external/product/v1", { product: { ...product("Second"), id: "zebra", sku: "Z" } });
  const { data } = await owner.graphql("{ products(first: 1) { pageInfo { endCursor } } }");
  const after = data.products.pageInfo.endCursor;
  const next = "query ($after: String) { products(after: $after) { nodes { id } } }";
  expect((await owner.graphql(next, { after })).data).toEqual({ products: { nodes: [{ id: "zebra" }] } });
  expect((await stranger.graphql(next, { after })).data).toEqual({ products: { nodes: [] } });
});

test("two stores use the same id and sku without noticing each other", async () => {
  const { owner, stranger } = await createStores();
  const answer = await stranger.post("/external/product/v1", { product: product("Ours") });
  expect(answer).toMatchObject({ status: 200, body: { created: 1, updated: 0 } });
  expect((await owner.get("/external/product/v1/S-1")).body.title).toBe("Theirs");
  expect((await stranger.get("/external/product/v1/S-1")).body.title).toBe("Ours");
  expect((await stranger.delete("/external/product/v1/S-1")).status).toBe(200);
  expect((await owner.get("/external/product/v1/S-1")).body.title).toBe("Theirs");
});

test("another store's site is answered like one that does not exist, and nothing is stored", async () => {
  const { stranger } = await createStores();
  const ask = (siteId: string) => [
    stranger.post("/external/product/v1", { product: product("Ours"), siteId, siteType: "SHOP" }),
    stranger.get(`/external/product/v1/shirt?siteId=${siteId}`),
    stranger.delete(`/external/product/v1/shirt?siteId=${siteId}&siteType=SHOP`),
  ];
  const unknown = await Promise.all(ask("no-such-site"));
  for (const answer of unknown) expect(answer).toMatchObject({ status: 400, body: { code: "SITE_NOT_FOUND" } });
  expect(await Promise.all(ask("de"))).toEqual(unknown);
  expect((await stranger.graphql("{ products { nodes { id } } }")).data).toEqual({ products: { nodes: [] } });
});
