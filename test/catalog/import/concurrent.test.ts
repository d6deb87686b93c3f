// @engine both
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { invalid } from "../../support/problems.js";
import {
  bulk,
  importedAnswer,
  longRows,
  paths,
  product,
  products,
  storedKeys,
  storedProducts,
} from "../../support/products.js";

// Of one store, all at a time.

const app = await openTestApp();

test.each([
  ["short ones, beside each other", [60, 60, 60, 60]],
  ["long ones, one by one", [longRows, longRows, longRows]],
  ["both", [60, longRows, 60, longRows]],
])(
  "imports of the same ids in opposite orders all succeed, and one of them is stored as a whole: %s",
  async (_, counts) => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk(products(longRows)));
    const labels = ["one", "two", "three", "four"];
    const lists = counts.map((count, turn) => {
      const list = products(count, () => ({ title: labels[turn] }));
      return turn % 2 === 0 ? list : list.toReversed();
    });
    const answers = await Promise.all(lists.map((list) => store.post(paths.bulk, bulk(list))));
    expect(answers).toEqual(counts.map((count) => importedAnswer(0, count)));
    const rows = (await storedProducts(app, store)).slice(0, Math.min(...counts));
    expect(new Set(rows.map(({ title }) => title)).size).toBe(1);
    expect(labels).toContain(rows[0]?.title);
  },
);

test("short imports of new products count each as created once", async () => {
  const store = await createTestStore(app);
  const lists = [0, 1, 2, 3].map((turn) => (turn % 2 === 0 ? products(60) : products(60).toReversed()));
  const answers = await Promise.all(lists.map((list) => store.post(paths.bulk, bulk(list))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(answers.reduce((total, { body }) => total + body.created, 0)).toBe(60);
  expect(answers.map(({ body }) => body.imported)).toEqual([60, 60, 60, 60]);
  expect(await storedProducts(app, store)).toHaveLength(60);
});

test("short imports that exchange skus in opposite orders end in one of their states", async () => {
  const store = await createTestStore(app);
  const own = products(60, (index) => ({ sku: `s${index}` }));
  const exchanged = products(60, (index) => ({ sku: `s${59 - index}` }));
  await store.post(paths.bulk, bulk(own));
  const lists = [exchanged, own.toReversed(), exchanged.toReversed(), own];
  const answers = await Promise.all(lists.map((list) => store.post(paths.bulk, bulk(list))));
  expect(answers).toEqual(lists.map(() => importedAnswer(0, 60)));
  const skus = Object.values(await storedKeys(app, store));
  expect([own, exchanged].map((list) => list.map(({ sku }) => sku))).toContainEqual(skus);
});

test("of imports that give one sku to different products, one is refused", async () => {
  const store = await createTestStore(app);
  const answers = await Promise.all(
    ["a", "b"].map((id) => store.post(paths.one, { product: product(id, { sku: "S" }) })),
  );
  const [stored = ""] = Object.keys(await storedKeys(app, store));
  const refused = {
    code: "CONFLICT",
    message: `sku "S" belongs to the product "${stored}" of the store.`,
    path: ["product", "sku"],
  };
  expect(answers.toSorted((a, b) => a.status - b.status)).toEqual([importedAnswer(1), invalid(refused)]);
  expect(Object.values(await storedKeys(app, store))).toEqual(["S"]);
});
