import { describe, expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { importCsv } from "../../../src/catalog/import/entryPoints/fileProducts.js";
import type { ErrorPolicy } from "../../../src/files/rowChecks.js";
import { importProducts, listSource } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import type { RootDatabase } from "../../../src/database/client.js";
import { createTestStore, openConnections, openTestApp } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { conflict, duplicate, type ExpectedProblem, graphqlError, invalid } from "../../support/problems.js";
import {
  bulk,
  importedAnswer,
  importMany,
  paths,
  product,
  products,
  storedKeys,
  storedProducts,
  longRows,
} from "../../support/products.js";

const productsMax = longRows + 50;
const app = await openTestApp({ bulkProductsMax: productsMax });

/** Products of which the last but a few is wrong. */
const wrongAt = (place: number) => products(place + 50, (index) => (index === place ? { price: -1 } : {}));

describe("an import", () => {
  test("of an empty list stores nothing and reports that", async () => {
    const store = await createTestStore(app);
    expect(await store.post(paths.bulk, bulk([]))).toEqual(importedAnswer(0));
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("keeps the time of the first import and updates that of the last", async () => {
    const store = await createTestStore(app);
    const times = async () =>
      app.db.product.findFirstOrThrow({ where: { storeId: store.id }, select: { createdAt: true, updatedAt: true } });
    await store.post(paths.one, { product: product("a") });
    const first = await times();
    await store.post(paths.one, { product: product("a") });
    const second = await times();
    expect(first.updatedAt).toEqual(first.createdAt);
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(first.updatedAt.getTime());
  });

  test("keeps every price exactly", async () => {
    const store = await createTestStore(app);
    const prices = [0.1, 0, -0, 1e300, 5e-324, Number.MAX_VALUE, 0.1 + 0.2, 19.99, 123_456_789.123_456_79];
    const list = products(prices.length, (index) => ({ price: prices[index], price_min: 0, price_max: prices[index] }));
    expect(await store.post(paths.bulk, bulk(list))).toEqual(importedAnswer(prices.length));
    const { data } = await store.graphql("{ products { nodes { price price_min price_max } } }");
    expect(data.products.nodes).toEqual(
      prices.map((price) => ({ price: price + 0, price_min: 0, price_max: price + 0 })),
    );
    const [row] = await app.db.$queryRaw<{ price: string }[]>`
      SELECT price::text FROM "Product" WHERE "storeId" = ${store.id} AND id = 'p00000'`;
    expect(row).toEqual({ price: "0.1" });
  });

  test("keeps every text unchanged", async () => {
    const store = await createTestStore(app);
    const texts = [
      "NULL",
      "null",
      '"',
      "\\",
      "{a,b}",
      "a\nb\r\n\tc",
      '\'; DROP TABLE "Product"; --',
      "é",
      "e\u0301",
      "👟",
      "\u200b x \u00a0",
      "%s $1",
    ];
    const key = (text: string, index: number) => (/\p{C}/u.test(text.replace("👟", "")) ? `k${index}` : text);
    const list = texts.map((text, index) =>
      product(`${index} ${key(text, index)}`, { sku: key(text, index), title: text, description: text }),
    );
    expect(await store.post(paths.bulk, bulk(list))).toEqual(importedAnswer(texts.length));
    const rows = await storedProducts(app, store);
    const stored = new Map(rows.map(({ id, sku, title, description }) => [id, { sku, title, description }]));
    expect(stored).toEqual(
      new Map(list.map(({ id, sku }, at) => [id, { sku, title: texts[at], description: texts[at] }])),
    );
  });
});

describe("all or nothing", () => {
  test.each<[string, (db: RootDatabase, storeId: string, errorPolicy: ErrorPolicy) => Promise<unknown>]>([
    ["list", (db, storeId, errorPolicy) => importProducts(db, storeId, wrongAt(longRows), { errorPolicy })],
    ["CSV", (db, storeId, errorPolicy) => importCsv(db, storeId, { text: toCsv(wrongAt(longRows)) }, { errorPolicy })],
  ])("the invalid products of a %s are never written", async (_, run) => {
    const store = await createTestStore(app);
    const { client, probe } = openConnections();
    let writes = 0;
    probe.aroundQuery = (sql, send) => {
      if (sql.includes(`INSERT INTO "StagedImport"`)) writes = 0; // before, it completes what others have left
      writes += sql.includes(`INSERT INTO "Product" (`) ? 1 : 0;
      return send();
    };
    await expect(run(client, store.id, "REJECT_ALL")).rejects.toThrow("price must be");
    expect(writes).toBe(0);
    await run(client, store.id, "REJECT_FAILED");
    const steps = Math.ceil((await storedProducts(app, store)).length / (chunkRowsMax / 2));
    expect(writes).toBe(app.engine === "embedded" ? steps : 1); // the valid ones
  });

  test("a large list is checked in parts, so that other requests are served meanwhile", async () => {
    let turns = 0;
    const count = (): void => void (counting = setImmediate(() => ((turns += 1), count())));
    let counting: NodeJS.Immediate | undefined;
    count();
    const source = listSource(products(4 * chunkRowsMax + 1), (index) => ["products", index], "REJECT_ALL");
    let rows = 0;
    for await (const chunk of source.read()) rows += chunk.rows;
    clearImmediate(counting);
    expect(rows).toBe(4 * chunkRowsMax + 1);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  test("one answer names problems of every kind, in the order of the rows", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("taken", { sku: "T" }) });
    const list = [product("a", { sku: "T" }), product("b", { price: -1 }), product("c", { url: "x" }), product("b")];
    const problems: ExpectedProblem[] = [
      conflict(0, "T", "taken"),
      {
        code: "INVALID_VALUE",
        message: "price must be a finite number of 0 or more, not -1.",
        path: ["products", 1, "price"],
      },
      duplicate("id", "b", { first: 1, last: 3 }),
      {
        code: "INVALID_VALUE",
        message: 'url must be an http, https or protocol-relative URL, not "x".',
        path: ["products", 2, "url"],
      },
    ];
    expect(await store.post(paths.bulk, bulk(list))).toEqual(invalid(...problems));
    expect(await storedKeys(app, store)).toEqual({ taken: "T" });
  });

  test("more products than MAX_BULK_PRODUCTS are refused over both styles; exactly as many are not", async () => {
    const store = await createTestStore(app);
    const problem = {
      code: "VALIDATION_FAILED",
      message: `At most ${productsMax} products can be imported at once (MAX_BULK_PRODUCTS).`,
      path: ["products"],
    };
    const tooMany = bulk(products(productsMax + 1));
    expect(await store.post(paths.bulk, tooMany)).toEqual(invalid(problem));
    expect(await store.graphql(importMany, tooMany)).toEqual({
      data: { importProducts: null },
      errors: [
        {
          ...graphqlError("VALIDATION_FAILED", problem.message, [problem]),
          locations: [{ line: 3, column: 5 }],
          path: ["importProducts"],
        },
      ],
    });
    expect(await storedProducts(app, store)).toEqual([]);
    expect(await store.post(paths.bulk, bulk(products(productsMax)))).toEqual(importedAnswer(productsMax));
  });
});
