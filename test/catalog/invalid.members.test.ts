import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { conflict, type ExpectedProblem, invalid, invalidVariables } from "../support/problems.js";
import { longRows, paths, product, products, storedProducts } from "../support/products.js";

const app = await openTestApp();

const unknown = (name: string, hint = ""): ExpectedProblem => ({
  code: "UNKNOWN_FIELD",
  message: `Unknown field "${name}"${hint}.`,
  path: [name],
});
const required = (name: string, message: string): ExpectedProblem => ({ code: "REQUIRED", message, path: [name] });
const badPrice = (...path: ExpectedProblem["path"]): ExpectedProblem => ({
  code: "INVALID_TYPE",
  message: 'price must be a number, not "cheap".',
  path: [...path, "price"],
});
const badSite: ExpectedProblem = {
  code: "INVALID_TYPE",
  message: "siteId must be a string, not 5.",
  path: ["siteId"],
};
const wrong = product("a", { price: "cheap" });
const csvContent = "id,sku,title,available,featured_image,url,price\na,s,T,true,//a.example,//a.example,cheap\n";

describe("a product without the member into which it belongs is one problem", () => {
  test("of a single import", async () => {
    const store = await createTestStore(app);
    const message =
      'product is required: id, sku, title, available, featured_image, url belong in it, as in {"product": {"id": …}}.';
    expect(await store.post(paths.one, product("a"))).toEqual(invalid(required("product", message)));
    expect(await store.post(paths.one, { ...product("a"), siteId: 5, colour: "red" })).toEqual(
      invalid(required("product", message), unknown("colour"), badSite),
    );
    const short = 'product is required: title belongs in it, as in {"product": {"title": …}}.';
    expect(await store.post(paths.one, { title: "T" })).toEqual(invalid(required("product", short)));
  });

  test("of a list, whose example is a list", async () => {
    const store = await createTestStore(app);
    const message = 'products is required: id, sku belong in it, as in {"products": [{"id": …}]}.';
    expect(await store.post(paths.bulk, { id: "a", sku: "b" })).toEqual(invalid(required("products", message)));
    expect(await store.post(paths.bulk, { product: product("a") })).toEqual(
      invalid(unknown("product"), required("products", "products is required.")),
    );
  });

  test("but a field beside the product is named with its place", async () => {
    const store = await createTestStore(app);
    expect(await store.post(paths.one, { product: product("a"), price: 1 })).toEqual(
      invalid(unknown("price", ": it belongs in product")),
    );
    expect(await storedProducts(app, store)).toEqual([]);
  });
});

describe("problems beside the products do not hide those of the products", () => {
  test.each<[string, object, ExpectedProblem[]]>([
    [paths.one, { product: wrong, colour: "red" }, [unknown("colour"), badPrice("product")]],
    [paths.one, { product: wrong, siteId: 5 }, [badSite, badPrice("product")]],
    [paths.bulk, { products: [product("b"), wrong], x: 1 }, [unknown("x"), badPrice("products", 1)]],
    [
      paths.bulk,
      { products: [product("b", { sku: "taken" }), wrong], x: 1, siteId: 5, errorPolicy: "REJECT_FAILED" },
      [unknown("x"), badSite, conflict(0, "taken", "holder"), badPrice("products", 1)],
    ],
    [paths.csv, { csvContent, x: 1 }, [unknown("x"), { ...badPrice("csvContent"), line: 2 }]],
  ])("%s %j", async (path, body, problems) => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("holder", { sku: "taken" }) });
    const before = await storedProducts(app, store);
    expect(await store.post(path, body)).toEqual(invalid(...problems));
    expect(await storedProducts(app, store)).toEqual(before);
  });

  test("in variables of GraphQL", async () => {
    const store = await createTestStore(app);
    const operation =
      "mutation ($products: [ProductInput!]!, $siteId: String) { importProducts(products: $products, siteId: $siteId) { message } }";
    expect(await store.graphql(operation, { products: [wrong], siteId: 5 })).toEqual(
      invalidVariables(badSite, badPrice("products", 0)),
    );
    expect(await store.graphql(operation, { products: [product("a")], siteId: 5 })).toEqual(invalidVariables(badSite));
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("an operation with a second field is not executed to find them", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("b") });
    const operation = `mutation ($product: ProductInput!, $siteId: String, $id: String!) {
      importProduct(product: $product, siteId: $siteId) { message } deleteProduct(productId: $id) { message } }`;
    expect(await store.graphql(operation, { product: wrong, siteId: 5, id: "b" })).toEqual(invalidVariables(badSite));
    expect(await storedProducts(app, store)).toHaveLength(1);
  });

  test("the first hundred are listed and all are counted; nothing is stored under the key", async () => {
    const store = await createTestStore(app);
    const list = products(longRows, () => ({ price: "cheap" }));
    const extra = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`extra${index}`, 1]));
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const send = (body: object) =>
      store.fetch(paths.bulk, { method: "POST", headers, body: JSON.stringify(body) }).then((answer) => answer.json());
    const body = await send({ products: list, ...extra });
    expect(body).toMatchObject({ errorsTotal: longRows + 40, code: "VALIDATION_FAILED" });
    expect(body.errors).toEqual([
      ...Object.keys(extra).map((name) => unknown(name)),
      ...list.slice(0, 60).map((_, index) => badPrice("products", index)),
    ]);
    expect(await storedProducts(app, store)).toEqual([]);
    expect(await send({ products: [product("a")] })).toMatchObject({ imported: 1 });
  });
});
