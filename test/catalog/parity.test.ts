import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importCsv } from "../../src/catalog/import/ways/text.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { openFolder } from "../support/folder.js";
import { toCsv } from "../support/catalog/csv.js";
import {
  importedAnswer,
  importMany,
  importOne,
  paths,
  product,
  products,
  type Sent,
  storedProduct,
  storedProducts,
} from "../support/products.js";

const app = await openTestApp();
const folder = await openFolder();

const counts = {
  imported: expect.any(Number),
  created: expect.any(Number),
  updated: expect.any(Number),
  message: expect.any(String),
};

/** Every way to import a list of products. */
const ways: Readonly<Record<string, (store: TestStore, list: readonly Sent[]) => Promise<unknown>>> = {
  "REST, one by one": async (store, list) => {
    for (const sent of list)
      expect(await store.post(paths.one, { product: sent })).toMatchObject({ status: 200, body: counts });
  },
  "REST, as a list": async (store, list) =>
    expect(await store.post(paths.bulk, { products: list })).toMatchObject({ status: 200, body: counts }),
  "REST, as CSV": async (store, list) =>
    expect(await store.post(paths.csv, { csvContent: toCsv(list) })).toMatchObject({ status: 200, body: counts }),
  "GraphQL, one by one": async (store, list) => {
    for (const sent of list)
      expect(await store.graphql(importOne, { product: sent })).toEqual({ data: { importProduct: counts } });
  },
  "GraphQL, as a list": async (store, list) =>
    expect(await store.graphql(importMany, { products: list })).toEqual({ data: { importProducts: counts } }),
  "GraphQL, as CSV": async (store, list) => {
    const operation =
      "mutation ($csvContent: String!) { importProductsCsv(csvContent: $csvContent) { message imported created updated } }";
    expect(await store.graphql(operation, { csvContent: toCsv(list) })).toEqual({
      data: { importProductsCsv: counts },
    });
  },
  "a CSV file": async ({ id }, list) => {
    const file = join(folder, `${id}.csv`);
    await writeFile(file, toCsv(list));
    expect(await importCsv(app.db, id, { file }, { pathPrefix: [] })).toMatchObject(counts);
  },
};

const full = {
  description: 'Two lines,\r\nwith "quotes", commas; and \\ backslashes',
  price: 0.1,
  price_min: 5e-324,
  price_max: 1e300,
  available: false,
  images: ["https://a.example/1.jpg?a=1,2", '//a.example/"2".jpg', "http://größe.example/3%204.jpg"],
};
const list: readonly Sent[] = [
  product("plain"),
  product("full", full),
  product("one-image", { images: ["https://a.example/1.jpg"], price: 0 }),
  product("nulls", { description: null, price: null, price_min: null, price_max: null, images: null }),
  product("no-images", { images: [] }),
  product("Größe 42 / 鞋 👟", { sku: "S,K\"U'\\", title: 'Crème, "brûlée"', price: 19.99 }),
  product("NULL", { sku: "null", title: "{a,b}", description: "NULL" }),
  product("true", { sku: "[1]", title: "=1+1", price: 1_234_567.891 }),
];
const again: readonly Sent[] = [
  product("full", { sku: "sku-plain" }),
  product("plain", { sku: "sku-full", price: 3 }),
  product("new", full),
];

/** The rows that two imports leave. */
async function rowsAfter(way: string, ...lists: readonly (readonly Sent[])[]) {
  const store = await createTestStore(app);
  for (const imported of lists) await ways[way]?.(store, imported);
  return storedProducts(app, store);
}

describe("the same import leaves the same rows", () => {
  test.each(Object.keys(ways))("by %s", async (way) => {
    const rows = await rowsAfter(way, list);
    const expected = list.map(storedProduct);
    expect(rows).toEqual(expected.toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))));
    expect(rows).toEqual(await rowsAfter("REST, as a list", list));
  });

  test.each(Object.keys(ways).filter((way) => !way.includes("one by one")))(
    "when it replaces products, by %s",
    async (way) => {
      expect(await rowsAfter(way, list, again)).toEqual(await rowsAfter("REST, as a list", list, again));
    },
  );
});

test.each([";", "\t"])("CSV with %j between its cells is read as with commas, in every way", async (delimiter) => {
  const operation =
    "mutation ($csvContent: String!) { importProductsCsv(csvContent: $csvContent) { message imported created updated } }";
  const header = ["ID", "Sku", "title", "available", "featured_image", "url"];
  const row = ["a", "sku-a", "Title a", "TRUE", "//a.example/a.jpg", "//a.example/a"];
  const csvContent = [header, row].map((cells) => cells.join(delimiter)).join("\n");
  const [rest, graphql, file] = await Promise.all([createTestStore(app), createTestStore(app), createTestStore(app)]);
  expect(await rest.post(paths.csv, { csvContent })).toEqual(importedAnswer(1));
  expect(await graphql.graphql(operation, { csvContent })).toEqual({ data: { importProductsCsv: counts } });
  const name = join(folder, `${file.id}.csv`);
  await writeFile(name, csvContent);
  expect(await importCsv(app.db, file.id, { file: name }, { pathPrefix: [] })).toMatchObject({ imported: 1 });
  const [stored] = await storedProducts(app, rest);
  expect(stored).toMatchObject({ id: "a", sku: "sku-a", title: "Title a", available: true });
  for (const store of [graphql, file]) expect(await storedProducts(app, store)).toEqual([stored]);
});

describe("a CSV text of 2,000 rows, stored by several statements", () => {
  test("is imported over HTTP, and replaced by a second import", async () => {
    const store = await createTestStore(app);
    const rows = products(2_000, (index) => ({
      price: index / 100,
      images: ["//a.example/1.jpg", "//a.example/2.jpg"],
    }));
    const csvContent = toCsv(rows);
    expect(await store.post(paths.csv, { csvContent })).toEqual(importedAnswer(2_000));
    expect(await store.post(paths.csv, { csvContent: csvContent.replaceAll("Title", "Name") })).toEqual(
      importedAnswer(0, 2_000),
    );
    const stored = await app.db.product.findMany({ where: { storeId: store.id }, orderBy: { id: "asc" } });
    expect(
      stored.map(({ id, sku, title, price, images }) => ({ id, sku, title, price: price?.toNumber(), images })),
    ).toEqual(
      rows.map(({ id, sku, title }, index) => ({
        id,
        sku,
        title: title.replace("Title", "Name"),
        price: index / 100,
        images: ["//a.example/1.jpg", "//a.example/2.jpg"],
      })),
    );
  });
});
