import { describe, expect, test } from "vitest";
import { exampleProduct, productFieldNames } from "../../src/files/product/product.fields.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { ago } from "../support/clock.js";
import { graphqlError } from "../support/problems.js";
import { importMany, importOne, paths, product, products, readProduct, storedKeys } from "../support/products.js";

const app = await openTestApp();

const full = exampleProduct;
const fields = productFieldNames.join(" ");

/** Ids on a page of the products, with what the page says of itself. */
async function page(store: TestStore, variables: object) {
  const { data, errors } = await store.graphql(
    `query ($first: Int, $after: String, $search: String, $available: Boolean) {
      products(first: $first, after: $after, search: $search, available: $available) {
        edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`,
    variables,
  );
  expect(errors).toBeUndefined();
  const { edges, nodes, pageInfo } = data.products;
  expect(edges.map(({ node }: { node: unknown }) => node)).toEqual(nodes);
  expect(pageInfo).toMatchObject({ startCursor: edges.at(0)?.cursor ?? null, endCursor: edges.at(-1)?.cursor ?? null });
  return { ids: nodes.map(({ id }: { id: string }) => id) as string[], pageInfo };
}

/** Every page of a list, one after the other. */
async function pages(store: TestStore, variables: object): Promise<string[][]> {
  const found: string[][] = [];
  for (let after: string | null = null, more = true; more;) {
    const { ids, pageInfo }: Awaited<ReturnType<typeof page>> = await page(store, { ...variables, after });
    expect(pageInfo.hasPreviousPage).toBe(after !== null && ids.length > 0);
    found.push(ids);
    after = pageInfo.endCursor;
    more = pageInfo.hasNextPage;
  }
  return found;
}

/** A whole answer about one argument of products. */
function refusedArgument(name: string, message: string) {
  const error = graphqlError("VALIDATION_FAILED", message, [{ code: "VALIDATION_FAILED", message, path: [name] }]);
  return { data: { products: null }, errors: [{ ...error, path: ["products"], locations: [{ line: 1, column: 3 }] }] };
}

describe("product", () => {
  test("has each field, whichever others are selected, by id and by sku, and so have lists", async () => {
    const store = await createTestStore(app);
    await store.graphql(importOne, { product: full });
    const all = `${fields} createdAt updatedAt`;
    const read = async (selection: string, fragments = "") => {
      const answer = await store.graphql(`{ product(productId: "${full.id}") { ${selection} } } ${fragments}`);
      expect(answer.errors).toBeUndefined();
      return answer.data.product;
    };
    const whole = await read(all);
    expect(whole).toMatchObject(full);
    const ofSku = await store.graphql(`{ product(productId: "${full.sku}") { ${all} } }`);
    expect(ofSku).toEqual({ data: { product: whole } });
    const eachAlone = productFieldNames.map((name) => `${name}: products { nodes { ${name} } }`).join(" ");
    const { data } = await store.graphql(`{ ${eachAlone} }`); // a list reads no long texts where nobody asks for them
    for (const name of productFieldNames) expect(data[name].nodes).toEqual([{ [name]: full[name] }]);
    for (const field of all.split(" "))
      expect(await read(`id ${field}`)).toEqual({ id: full.id, [field]: whole[field] });
    expect(await read("id ... on Product { price }")).toEqual({ id: full.id, price: full.price });
    expect(await read("id ...F", "fragment F on Product { price }")).toEqual({ id: full.id, price: full.price });
    expect(await read("id ...F", "fragment F on Product { title }")).toEqual({ id: full.id, title: full.title });
    expect(await read("id title: available")).toEqual({ id: full.id, title: full.available });
    expect(await read("id images @include(if: true)")).toEqual({ id: full.id, images: full.images });
    expect(await read("__typename price: url")).toEqual({ __typename: "Product", price: full.url });
  });

  test("has null, or an empty list, for what was not imported, and the times of its imports", async () => {
    const store = await createTestStore(app);
    await store.graphql(importOne, { product: product("a") });
    const { data } = await store.graphql(`{ product(productId: "a") { ${fields} createdAt updatedAt } }`);
    const { createdAt, updatedAt, ...rest } = data.product;
    expect(rest).toEqual(readProduct(product("a")));
    expect(createdAt).toBe(updatedAt);
    expect(new Date(createdAt).toISOString()).toBe(createdAt);
    expect(new Date(createdAt).getTime()).toBeGreaterThan(ago(60_000).getTime());
  });

  test("that is missing leaves the data of other fields, before and after the operation is compiled", async () => {
    const store = await createTestStore(app);
    await store.graphql(importOne, { product: product("here") });
    const operation = `{
      missing: product(productId: "nope") { id } found: product(productId: "here") { id }
      show: liveStream(lsId: "nope") { id } analytics: liveStreamAnalytics(lsId: "nope") { id } }`;
    for (let time = 0; time < 4; time += 1) {
      const { data, errors } = await store.graphql(operation);
      expect(data).toEqual({ missing: null, found: { id: "here" }, show: null, analytics: null });
      const found = (errors ?? []).map(({ path, extensions }) => [path, extensions["code"]]);
      expect(found).toHaveLength(3);
      expect(found).toEqual(
        expect.arrayContaining([
          [["analytics"], "LIVE_STREAM_NOT_FOUND"],
          [["missing"], "PRODUCT_NOT_FOUND"],
          [["show"], "LIVE_STREAM_NOT_FOUND"],
        ]),
      );
    }
  });

  test("is null with PRODUCT_NOT_FOUND for another store's product", async () => {
    const [owner, other] = [await createTestStore(app), await createTestStore(app)];
    await owner.post(paths.one, { product: product("a") });
    const message = "The store has no product with this reference id or SKU.";
    const error = graphqlError("PRODUCT_NOT_FOUND", message, [
      { code: "PRODUCT_NOT_FOUND", message, path: ["productId"] },
    ]);
    for (const [operation, nothing] of [
      [`{ product(productId: "a") { id } }`, { product: null }],
      [`mutation { deleteProduct(productId: "a") { message } }`, { deleteProduct: null }],
    ] as const) {
      const { data, errors } = await other.graphql(operation);
      expect({ data, errors }).toEqual({
        data: nothing,
        errors: [
          {
            ...error,
            path: [operation.includes("delete") ? "deleteProduct" : "product"],
            locations: [expect.anything()],
          },
        ],
      });
    }
    expect(await storedKeys(app, owner)).toEqual({ a: "sku-a" });
  });

  test("is deleted by deleteProduct, and one operation may contain several mutations in order", async () => {
    const store = await createTestStore(app);
    await store.graphql(importMany, { products: [product("a"), product("b")] });
    const operation = `mutation { x: deleteProduct(productId: "sku-a") { message } y: deleteProduct(productId: "b") { message } }`;
    expect(await store.graphql(operation)).toEqual({
      data: { x: { message: "Product a was deleted." }, y: { message: "Product b was deleted." } },
    });
    expect(await storedKeys(app, store)).toEqual({});
  });
});

describe("products", () => {
  test("are paged in the order of their ids, byte by byte, every product exactly once", async () => {
    const store = await createTestStore(app);
    const ids = ["Z", "a", "b", "ä", "é", "鞋", "👟", "\uffee", "10", "9", " x", "~", "A", "_"];
    await store.graphql(importMany, { products: ids.map((id) => product(id)) });
    const sorted = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const first of [1, 3, 7, 14, 15]) {
      const found = await pages(store, { first });
      expect(found.flat()).toEqual(sorted);
      expect(found).toHaveLength(Math.ceil(ids.length / first));
    }
  });

  test("come 20 at a time by default, at most 100, and none for 0", async () => {
    const store = await createTestStore(app);
    const list = products(101);
    await store.graphql(importMany, { products: list });
    const ids = list.map(({ id }) => id);
    expect((await page(store, {})).ids).toEqual(ids.slice(0, 20));
    expect((await page(store, { first: null })).ids).toEqual(ids.slice(0, 20));
    expect(await pages(store, { first: 100 })).toEqual([ids.slice(0, 100), ids.slice(100)]);
    expect(await page(store, { first: 0 })).toEqual({
      ids: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
    for (const first of [-1, 101, 2_147_483_647]) {
      expect(await store.graphql(`{ products(first: ${first}) { nodes { id } } }`)).toEqual(
        refusedArgument("first", `first must be from 0 to 100, not ${first}.`),
      );
    }
  });

  test("added or deleted during paging do not shift others", async () => {
    const store = await createTestStore(app);
    await store.graphql(importMany, { products: ["b", "d", "f", "h"].map((id) => product(id)) });
    const { pageInfo } = await page(store, { first: 2 });
    await store.graphql(importMany, { products: ["a", "e"].map((id) => product(id)) });
    await store.delete(paths.of("d"));
    expect((await page(store, { after: pageInfo.endCursor })).ids).toEqual(["e", "f", "h"]);
  });

  const longCursor = Buffer.from(JSON.stringify(["a".repeat(256)])).toString("base64url");
  test("after refuses an invalid cursor", async () => {
    const store = await createTestStore(app);
    for (const after of [
      " ",
      "x",
      "W10",
      "WzFd",
      "bnVsbA",
      "WyJhIiwiYiJd",
      "e30",
      "👟",
      "WyJcdTAwMDAiXQ",
      longCursor,
    ]) {
      expect(await store.graphql(`{ products(after: ${JSON.stringify(after)}) { nodes { id } } }`)).toEqual(
        refusedArgument("after", "after must be a cursor of this list."),
      );
    }
  });

  test("a cursor of another store reveals nothing about it", async () => {
    const [one, other] = [await createTestStore(app), await createTestStore(app)];
    await one.graphql(importMany, { products: ["a", "b"].map((id) => product(id)) });
    await other.graphql(importMany, { products: ["b", "c"].map((id) => product(id)) });
    const { pageInfo } = await page(one, { first: 1 });
    expect((await page(other, { after: pageInfo.endCursor })).ids).toEqual(["b", "c"]);
  });
});
