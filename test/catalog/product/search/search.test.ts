import { describe, expect, test } from "vitest";
import { listProducts } from "../../../../src/catalog/product/list/product.list.js";
import { createTestStore, openConnections, openTestApp, type TestStore } from "../../../support/app.js";
import { graphqlError } from "../../../support/problems.js";
import { importedAnswer, paths, product } from "../../../support/products.js";

const app = await openTestApp();

async function storeWith(...titles: [id: string, title: string, sku?: string][]): Promise<TestStore> {
  const store = await createTestStore(app);
  const list = titles.map(([id, title, sku = `sku-${id}`]) => product(id, { title, sku }));
  expect(await store.post(paths.bulk, { products: list })).toEqual(importedAnswer(list.length));
  return store;
}

/** Ids of the products that a search finds. */
async function search(store: TestStore, text: string | null): Promise<string[]> {
  const { data, errors } = await store.graphql(
    `query ($search: String) { products(search: $search) { nodes { id } } }`,
    { search: text },
  );
  expect(errors).toBeUndefined();
  return data.products.nodes.map(({ id }: { id: string }) => id);
}

describe("a search", () => {
  test.each([
    ["a word of the title", "linen", ["a", "b"]],
    ["the beginning of a word", "lin", ["a", "b"]],
    ["but not its end", "nen", []],
    ["several words in any order", "shirt linen", ["a"]],
    ["words of title and sku together", "linen 77", ["b"]],
    ["a part of the sku", "AB12", ["c"]],
    ["the whole sku", "AB12-CD/9", ["c"]],
    ["any case", "LINEN SHIRT", ["a"]],
    ["words that no product has all of", "linen boots", []],
    ["white space around words", "  \t linen \n shirt ", ["a"]],
    ["letters without their accents", "creme brulee", ["d"]],
    ["letters with accents", "CRÈME brûlée", ["d"]],
    ["accents written as marks of their own", "cre\u0300me", ["d"]],
    ["other scripts", "鞋", ["e"]],
    ["other scripts' case", "ЛЁН", ["e"]],
    ["wide forms", "ＬＩＮＥＮ ｓｈｉｒｔ", ["a"]],
    ["numbers", "2026", ["d"]],
  ])("finds by %s", async (_, text, ids) => {
    const store = await storeWith(
      ["a", "Linen shirt"],
      ["b", "Linen trousers", "X-77"],
      ["c", "Boots", "AB12-CD/9"],
      ["d", "Crème brûlée 2026"],
      ["e", "红色的 鞋 лён"],
    );
    expect(await search(store, text)).toEqual(ids);
  });

  test("of more than 16 words looks for the first 16", async () => {
    const words = Array.from({ length: 16 }, (_, index) => `w${String.fromCharCode(97 + index)}`);
    const store = await storeWith(["a", words.join(" ")], ["b", words.slice(0, 15).join(" ")]);
    expect(await search(store, words.slice(0, 15).join(" "))).toEqual(["a", "b"]);
    expect(await search(store, words.join(" "))).toEqual(["a"]);
    expect(await search(store, [...words, "other"].join(" "))).toEqual(["a"]);
  });

  test("without a word finds nothing and does not fail", async () => {
    const store = await storeWith(["a", "Linen shirt"]);
    const texts = [
      "&",
      "|",
      "!",
      "!!!",
      "<->",
      "<2>",
      "()",
      "(",
      ":*",
      ":",
      "'",
      "''",
      "\\",
      "\\'",
      "%",
      "_",
      "*",
      "-",
      "👟",
      "\0",
      "\ud800",
    ];
    for (const text of texts) expect({ text, found: await search(store, text) }).toEqual({ text, found: [] });
  });

  test("treats the operators of query languages as spaces", async () => {
    const store = await storeWith(["a", "Linen shirt boots drop table x A"]);
    const texts = [
      "linen & shirt",
      "linen | boots shirt",
      "!linen",
      "'linen':*",
      "linen:A",
      "(shirt",
      "shirt\\",
      "linen'; DROP TABLE x",
      "linen\0shirt",
      "shirt <-> linen",
    ];
    for (const text of texts) expect({ text, found: await search(store, text) }).toEqual({ text, found: ["a"] });
  });

  test("that is null, empty or blank matches all", async () => {
    const store = await storeWith(["a", "Linen"], ["b", "Boots"]);
    for (const text of [null, "", "  \n"]) expect(await search(store, text)).toEqual(["a", "b"]);
  });

  test("of very long or very many words succeeds", async () => {
    const long = "x".repeat(900);
    const store = await storeWith(["a", long], ["b", "b ".repeat(499)]);
    expect(await search(store, long)).toEqual(["a"]);
    expect(await search(store, "x".repeat(1_000))).toEqual(["a"]);
    expect(await search(store, "b ".repeat(500))).toEqual(["b"]);
    expect(await search(store, Array.from({ length: 200 }, (_, index) => `w${index}`).join(" "))).toEqual([]);
  });

  test("of more than 1,000 characters is refused, before anything is done with it", async () => {
    const store = await storeWith(["a", "Linen"]);
    const query = "query ($search: String) { products(search: $search) { nodes { id } } }";
    const message = "search must have at most 1000 characters.";
    const error = graphqlError("VALIDATION_FAILED", message, [
      { code: "VALIDATION_FAILED", message, path: ["search"] },
    ]);
    for (const text of ["x".repeat(1_001), " ".repeat(1_001), "é a ".repeat(500_000)]) {
      expect(await store.graphql(query, { search: text })).toMatchObject({ data: { products: null }, errors: [error] });
    }
    expect(await search(store, "👟".repeat(1_000))).toEqual([]);
  });

  test("is one statement: a product that is deleted meanwhile does not end the paging", async () => {
    const store = await storeWith(["a", "Linen"], ["b", "Linen"], ["c", "Linen"]);
    const { client, probe } = openConnections();
    const deleteA = () => app.db.product.deleteMany({ where: { storeId: store.id, id: "a" } });
    probe.aroundQuery = async (_, send) => {
      const found = await send();
      await deleteA();
      return found;
    };
    const page = await listProducts(client, store.id, { first: 2, search: "linen" });
    expect({ ids: page.nodes.map(({ id }) => id), more: page.hasNextPage }).toEqual({ ids: ["a", "b"], more: true });
  });

  test("follows a product that is imported again", async () => {
    const store = await storeWith(["a", "Linen shirt"]);
    await store.post(paths.one, { product: product("a", { title: "Boots" }) });
    expect(await search(store, "linen")).toEqual([]);
    expect(await search(store, "boots")).toEqual(["a"]);
  });

  test("finds products of the caller's store only", async () => {
    const one = await storeWith(["a", "Linen"]);
    const other = await storeWith(["b", "Linen"]);
    expect([await search(one, "linen"), await search(other, "linen")]).toEqual([["a"], ["b"]]);
  });
});
