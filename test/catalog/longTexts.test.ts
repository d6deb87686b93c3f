import { beforeAll, beforeEach, expect, test } from "vitest";
import { productsOrdered } from "../../src/catalog/product/list/product.sort.js";
import type { SizedProduct } from "../../src/catalog/product/search/product.searchIndex.js";
import { createTestStore, openTestApp, testDatabase } from "../support/app.js";
import { bulk, paths, products } from "../support/products.js";

const statements: string[] = [];
const app = await openTestApp(
  {},
  testDatabase((sql) => statements.push(sql)),
);
const store = await createTestStore(app);
beforeAll(async () => {
  const long = { description: "Long text", images: ["https://cdn.example.com/1.jpg", "https://cdn.example.com/2.jpg"] };
  await store.post(paths.bulk, bulk(products(3, () => long)));
});
beforeEach(() => void (statements.length = 0));

const listed = () => statements.filter((sql) => sql.includes(`FROM "Product"`) && sql.includes("LIMIT"));
const reads = (column: "description" | "images") =>
  listed().some(
    (sql) => !sql.includes(column === "description" ? 'NULL::text AS "description"' : `'{}'::text[] AS "images"`),
  );

test.each([
  `{ products(first: 2) { nodes { id title } } }`,
  `{ products(first: 2, search: "p") { edges { cursor node { id price } } pageInfo { hasNextPage } } }`,
])("long texts that are not selected are not read: %s", async (query) => {
  const { data } = await store.graphql(query);
  expect((data.products.nodes ?? data.products.edges).length).toBe(2);
  expect(listed()).not.toEqual([]);
  expect([reads("description"), reads("images")]).toEqual([false, false]);
});

const fragments =
  "fragment Page on ProductConnection { nodes { ...Long } } fragment Long on Product { images description }";
test.each([
  `{ products(first: 1) { nodes { images description } } }`,
  `{ products(first: 1) { nodes { id } edges { node { ... on Product { images description } } } } }`,
  `{ products(first: 1) { ...Page } } ${fragments}`,
  `{ products(first: 1) { nodes { id } } products(first: 1) { nodes { images description } } }`,
  `{ products(first: 1) { nodes { text: description pictures: images } } }`,
])("long texts are in the response however they are selected: %s", async (query) => {
  const { data, errors } = await store.graphql(query);
  expect(errors).toBeUndefined();
  const text = JSON.stringify(data);
  expect(text).toContain("Long text");
  expect(text).toContain("https://cdn.example.com/2.jpg");
});

test("a variable that includes them later finds them", async () => {
  const query = `query ($all: Boolean!) { products(first: 1) { nodes { id description @include(if: $all) } } }`;
  expect((await store.graphql(query, { all: false })).data.products.nodes).toEqual([{ id: "p00000" }]);
  expect((await store.graphql(query, { all: true })).data.products.nodes).toEqual([
    { id: "p00000", description: "Long text" },
  ]);
});

test("the size of texts is that of their bytes, of images as they are or slightly less, compressed on disk or not", async () => {
  const sized = await createTestStore(app);
  const ofImages = (lengths: readonly number[]) =>
    lengths.map((length, index) => `https://cdn.example/${index}/`.padEnd(length, "é"));
  const texts = [
    { description: "x".repeat(65_535), images: ofImages(Array.from({ length: 250 }, () => 2_000)) },
    { description: "ü€", images: ofImages([25]) },
    { description: "", images: ofImages([25, 26, 27, 28, 200]) },
    { images: [] },
  ];
  expect((await sized.post(paths.bulk, bulk(products(texts.length, (i) => ({ ...texts[i] }))))).status).toBe(200);
  const sizes = async (field: "description" | "images") => {
    const order = { orderBy: "ID", direction: "ASC", after: undefined } as const;
    const page = { storeId: sized.id, rowsMax: 10, withLongTexts: true, bytesOf: [field], ...order };
    return (await productsOrdered<SizedProduct>(app.db, page, undefined)).map(({ bytes }) => bytes);
  };
  const exact = texts.map(({ images }) => Buffer.byteLength(images.join("")));
  expect(await sizes("description")).toEqual(texts.map(({ description = "" }) => Buffer.byteLength(description)));
  for (const [index, bytes] of (await sizes("images")).entries()) {
    expect(bytes).toBeLessThanOrEqual(exact[index] ?? 0);
    expect(bytes).toBeGreaterThanOrEqual((exact[index] ?? 0) - 3 * (texts[index]?.images.length ?? 0));
  }
});
