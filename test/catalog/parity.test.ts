// @engine both
import { expect, test } from "vitest";
import {
  type FieldName,
  mapFields,
  type ProductField,
  productFieldNames,
} from "../../src/files/product/product.fields.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { waysToStore } from "../support/catalog/ways.js";
import { openFolder } from "../support/folder.js";
import { product, type Sent, storedProduct, storedProducts } from "../support/products.js";

const app = await openTestApp();
const ways = waysToStore(app, await openFolder());

/** Two values of a field, so that every field of productFields is stored, changed and cleared. */
function valuesOf({ kind, example }: ProductField): readonly [unknown, unknown] {
  if (kind === "price") return [example, example / 3];
  if (kind === "flag") return [example, !example];
  if (kind === "urls")
    return [example, ["https://a.example/1.jpg?a=1,2", '//a.example/"2".jpg', "http://größe.example/3%204"]];
  return [
    example,
    kind === "url" ? "//größe.example/ü%20x" : 'Two lines,\r\nwith "quotes", commas; and \\ backslashes',
  ];
}
const values = mapFields(valuesOf);
const withAll = (id: string, version: 0 | 1): Sent =>
  product(id, {
    ...Object.fromEntries(productFieldNames.map((name: FieldName) => [name, values[name][version]])),
    id,
    sku: `${id} ${version}`,
  });

const list: readonly Sent[] = [
  product("bare"),
  withAll("cleared", 0),
  withAll("changed", 0),
  product("extremes", { price: 0.1, price_min: 5e-324, price_max: 1e300, available: false }),
  product("one-image", { images: ["https://a.example/1.jpg"], price: -0 }),
  product("nulls", { description: null, price: null, price_min: null, price_max: null, images: null }),
  product("no-images", { images: [] }),
  product("Größe 42 / 鞋 👟", { sku: "S,K\"U'\\", title: 'Crème, "brûlée"', price: 19.99 }),
  product("NULL", { sku: "null", title: "{a,b}", description: "NULL" }),
  product("true", { sku: "[1]", title: "=1+1 %s $1", price: 123_456_789.123_456_79 }),
  product("marks", { sku: "e\u0301", title: "\u200b x \u00a0", description: '\'; DROP TABLE "Product"; --' }),
];
const again: readonly Sent[] = [withAll("bare", 0), product("cleared"), withAll("changed", 1), withAll("new", 1)];

async function expectStored(way: string, store: TestStore, sent: readonly Sent[]): Promise<void> {
  const stored = (await storedProducts(app, store)).filter(({ id }) => !/^p\d/u.test(id));
  expect(stored, way).toEqual(
    sent.map(storedProduct).toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))),
  );
}

test.each(Object.keys(ways))("the same products are stored, replaced and cleared by each way: %s", async (group) => {
  for (const [name, send] of Object.entries(ways[group] ?? {})) {
    const store = await createTestStore(app);
    await send(store, list);
    await expectStored(name, store, list);
    const others = [...again, ...list.slice(3)];
    await send(store, others);
    await expectStored(name, store, others);
  }
});
