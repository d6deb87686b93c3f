import { describe, expect, test } from "vitest";
import { deleteProduct } from "../../../src/catalog/product/product.lookup.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { conflict, duplicate, type ExpectedProblem, invalid } from "../../support/problems.js";
import {
  bulk,
  importedAnswer,
  paths,
  product,
  products,
  storedKeys,
  storedProducts,
  longRows,
} from "../../support/products.js";

const app = await openTestApp();

describe("skus", () => {
  test("that are exchanged while a product is deleted by one: the product that has it then is deleted", async () => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk([product("a", { sku: "1" }), product("b", { sku: "2" })]));
    const { client, probe } = openConnections();
    let exchanged: Promise<unknown> | undefined;
    probe.aroundQuery = async (sql, send) => {
      if (sql.startsWith("DELETE"))
        await (exchanged ??= store.post(paths.bulk, bulk([product("a", { sku: "2" }), product("b", { sku: "1" })])));
      return send();
    };
    expect(await deleteProduct(client, store.id, "1")).toEqual({ id: "b", message: "Product b was deleted." });
    expect(await exchanged).toEqual(importedAnswer(0, 2));
    expect(await storedKeys(app, store)).toEqual({ a: "2" });
  });

  test("that are exchanged each time a product is to be deleted by one: nothing is deleted", async () => {
    const store = await createTestStore(app);
    const [one, two] = [{ sku: "1" }, { sku: "2" }];
    await store.post(paths.bulk, bulk([product("a", one), product("b", two)]));
    const { client, probe } = openConnections();
    let times = 0;
    probe.aroundQuery = async (sql, send) => {
      if (sql.startsWith("DELETE")) {
        times += 1;
        const [a, b] = times % 2 === 1 ? [two, one] : [one, two];
        await store.post(paths.bulk, bulk([product("a", a), product("b", b)]));
      }
      return send();
    };
    const message = "The product was modified concurrently. Nothing was deleted.";
    await expect(deleteProduct(client, store.id, "1")).rejects.toThrow(message);
    expect(times).toBe(4);
    expect(await storedKeys(app, store)).toEqual({ a: "1", b: "2" });
  });

  test("of a product that the request does not replace are refused, in a small list and at both ends of a large one", async () => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk([product("a", { sku: "1" }), product("b", { sku: "2" })]));
    const before = await storedProducts(app, store);
    expect(await store.post(paths.bulk, bulk([product("x"), product("a", { sku: "2" })]))).toEqual(
      invalid(conflict(1, "2", "b")),
    );
    const skus: Record<number, string> = { 0: "1", [longRows]: "2" };
    const large = products(longRows + 1, (index) => (index in skus ? { sku: skus[index] } : {}));
    expect(await store.post(paths.bulk, bulk(large))).toEqual(
      invalid(conflict(0, "1", "a"), conflict(longRows, "2", "b")),
    );
    expect(await storedProducts(app, store)).toEqual(before);
  });

  test("and ids that several rows of a request have are one problem each, with the first and the last row", async () => {
    const store = await createTestStore(app);
    const list = [
      product("a", { sku: "1" }),
      product("b", { sku: "2" }),
      product("a", { sku: "2" }),
      product("c", { sku: "2" }),
    ];
    expect(await store.post(paths.bulk, bulk(list))).toEqual(
      invalid(duplicate("id", "a", { first: 0, last: 2 }), duplicate("sku", "2", { first: 1, last: 3 })),
    );
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("that only rows of one id share are no problem beside that of the id; of rows without an id they are", async () => {
    const store = await createTestStore(app);
    const list = [product("a"), product("b"), product("b"), product("", { sku: "2" }), product("", { sku: "2" })];
    const refused = await store.post(paths.bulk, bulk(list));
    expect(refused.body.errors.filter(({ code }: ExpectedProblem) => code === "DUPLICATE")).toEqual([
      duplicate("id", "b", { first: 1, last: 2 }),
      duplicate("sku", "2", { first: 3, last: 4 }),
    ]);
  });

  test.each([
    ["an empty catalog", []],
    ["a catalog with a product", [product("other")]],
  ])("and ids that a large list has twice far apart are refused in %s", async (_, before) => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk(before));
    const last = longRows + 99;
    const list = products(last + 1, (index) =>
      index === last ? { sku: "sku-p00007" } : index === last - 1 ? { id: "p00009" } : {},
    );
    expect(await store.post(paths.bulk, bulk(list))).toEqual(
      invalid(
        duplicate("sku", "sku-p00007", { first: 7, last }),
        duplicate("id", "p00009", { first: 9, last: last - 1 }),
      ),
    );
    expect(await storedProducts(app, store)).toHaveLength(before.length);
  });

  test("of other stores do not matter", async () => {
    const [one, other] = [await createTestStore(app), await createTestStore(app)];
    for (const store of [one, other])
      expect(await store.post(paths.one, { product: product("a") })).toEqual(importedAnswer(1));
  });
});
