import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { responseBytesMax } from "../../../src/schema/limits/responseBudget.js";
import { resultText, writeIfLarge } from "../../../src/api/execution/execute.js";
import { createTestStore, startApp, testDatabase, type TestApp, type TestStore } from "../../support/app.js";
import { receive } from "../../support/http/bytes.js";
import { graphqlError } from "../../support/problems.js";
import { importMany, products } from "../../support/products.js";

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");

/** Statements that read a page of products, or its size. */
let pagesRead = 0;
let sizesRead = 0;
let app: TestApp;
let store: TestStore;
beforeAll(async () => {
  const count = (sql: string) => {
    if (!/FROM "Product"[^]*ORDER BY id(?: ASC)? LIMIT/u.test(sql)) return;
    pagesRead += 1;
    if (sql.includes("AS bytes")) sizesRead += 1;
  };
  app = await startApp({}, testDatabase(count));
  store = await createTestStore(app);
  await store.graphql(importMany, { products: products(10) });
  // The longest texts and images that a product may have, written by the database, which is much faster than an import.
  // Mostly ASCII, which takes a fraction of the time.
  await app.db.$executeRaw`
    UPDATE "Product" SET description = repeat('x', 65535), images = (
      SELECT array_agg('https://cdn.example/' || lpad(i::text, 2028, CASE WHEN id = 'p00000' THEN 'é' ELSE 'e' END))
      FROM generate_series(0, 249) i
    ) WHERE "storeId" = ${store.id}`;
});
afterAll(() => app.close());

/** By Yoga, by the fast path while it is not known, and once it is. */
const asked = ["/graphql?lane=yoga", "/graphql", "/graphql", "/graphql", "/graphql"];
const graphqlJson = "application/graphql-response+json";

function ask(path: string, query: string, accept = "application/json") {
  return store.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify({ query }),
  });
}

const tooLarge = graphqlError(
  "RESPONSE_TOO_LARGE",
  "The response would have more than 16777216 bytes. Request smaller pages (first), fewer fields or fewer lists in one operation.",
);

describe("an answer", () => {
  const page = "products(first: 10) { nodes { id description images } }";

  test("of megabytes is the same from the fast path and Yoga, by GET, compressed and not", async () => {
    const part = "products(first: 3) { nodes { id description images } }";
    const byGet = `/graphql?query=${encodeURIComponent(`{ ${part} }`)}`;
    const headers = { "x-service-access-token": store.token, "accept-encoding": "gzip" };
    const texts: string[] = [];
    for (const path of asked) texts.push(await (await ask(path, `{ ${part} }`)).text());
    texts.push(await (await store.fetch(byGet)).text());
    texts.push(gunzipSync((await receive(app.url, byGet, { headers })).bytes).toString());
    const text = String(texts[0]);
    expect(texts.map((each) => ({ length: each.length, same: each === text }))).toEqual(
      texts.map(() => ({ length: text.length, same: true })),
    );
    expect(text.length).toBeGreaterThan(1_500_000);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
  });

  test("of more than 16 MiB is refused by the fast path and Yoga, and the rest of it is not read", async () => {
    const query = `{ ${many(12, (i) => `a${i}: ${page}`)} }`;
    for (const [path, accept, status] of [
      ["/graphql?lane=yoga", "application/json", 200],
      ["/graphql?lane=yoga", graphqlJson, 400],
      ["/graphql", graphqlJson, 400],
      ["/graphql", "application/json", 200], // compiled
    ] as const) {
      pagesRead = 0;
      const answer = await ask(path, query, accept);
      expect({ status: answer.status, body: await answer.json() }).toEqual({ status, body: { errors: [tooLarge] } });
      expect(pagesRead).toBeLessThanOrEqual(5);
    }
    expect(app.logged).toEqual([]);
  });

  test("is refused by the size of a page, before its texts are read, in whatever order and by search", async () => {
    pagesRead = 0;
    const both = `{ ${page} b: products(first: 10) { nodes { description } } }`;
    expect(await store.graphql(both)).toEqual({ data: expect.anything() });
    expect(pagesRead, "no sizes where there is room for the largest products").toBe(2);
    for (const args of ["", ', search: "title"', ", orderBy: TITLE", ", orderBy: ID, direction: DESC"]) {
      const lists = many(4, (i) => `a${i}: products(first: 10${args}) { nodes { id description images } }`);
      expect(await store.graphql(`{ ${lists} }`), args).toEqual({ errors: [tooLarge] });
    }
    const without = many(4, (i) => `a${i}: ${page.replace("images", "images @include(if: $on)")}`);
    expect(await store.graphql(`query ($on: Boolean = false) { ${without} }`)).toEqual({ data: expect.anything() });
  });

  test("of pages that are too large together is refused before any of them is read", async () => {
    [pagesRead, sizesRead] = [0, 0];
    expect(await store.graphql(`{ ${many(4, (i) => `a${i}: ${page}`)} }`)).toEqual({ errors: [tooLarge] });
    expect(sizesRead).toBeGreaterThan(0);
    expect(pagesRead).toBe(sizesRead);
    [pagesRead, sizesRead] = [0, 0];
    const others = "id: products(first: 10) { nodes { id } } c: products(first: 10) { nodes { description } }";
    const { data } = await store.graphql(`{ products(first: 100) { nodes { id images } } ${others} }`);
    expect([data.products, data.id, data.c].map(({ nodes }) => nodes.length)).toEqual([10, 10, 10]);
    expect([pagesRead, sizesRead], "the first fits by its size").toEqual([4, 1]);
  });

  test("is measured in bytes, whatever the names and values of its fields", async () => {
    const listed = (first: number, aliases: number) =>
      store.graphql(`{ products(first: ${first}) { nodes { ${many(aliases, (i) => `a${i}: images`)} } } }`);
    expect(10 * 4 * 250 * 2_048).toBeGreaterThan(responseBytesMax);
    expect(await listed(10, 4)).toEqual({ errors: [tooLarge] });
    // Of the first product: 8.7 million characters, of which nearly all are two bytes
    expect(17 * 250 * 2_048).toBeLessThan(responseBytesMax);
    expect(await listed(1, 17)).toEqual({ errors: [tooLarge] });
    expect(await listed(1, 15)).toEqual({ data: expect.anything() });
  });
});

describe("a large result is written", () => {
  const texts = ["plain", 'quo"ted \\', "\u{1}\n", "é😀\u{2028}", ""];
  const text = (n: number) => (texts[n % texts.length] ?? "").repeat(n % 3_000);
  const nodes = Array.from({ length: 800 }, (_, n) => ({
    [`key "${n}"`]: text(n),
    list: [n / 3, null, true, [], {}, [text(n + 1)]],
    in: { in: { in: text(n + 2) } },
  }));

  test("as JSON.stringify writes it", async () => {
    const result = { data: Object.assign(Object.create(null), { nodes, other: [nodes, null], empty: [] }) };
    const expected = JSON.stringify(result);
    expect(expected.length).toBeGreaterThan(2_000_000);
    await writeIfLarge(result);
    expect(String(resultText(result))).toBe(expected);
    const withErrors = { errors: [{ message: "x" }] as never, data: result.data, extensions: undefined as never };
    expect(String(resultText(withErrors))).toBe(JSON.stringify(withErrors));
  });

  test("in pieces, between which other requests run", async () => {
    let turns = 0;
    const others = () => {
      turns += 1;
      next = setImmediate(others);
    };
    let next = setImmediate(others);
    await writeIfLarge({ data: { list: Array.from({ length: 14 }, () => "x".repeat(1024 * 1024)) } });
    clearImmediate(next);
    expect(turns).toBeGreaterThan(5);
  });

  test("up to 16 MiB of JSON, and no further", async () => {
    const of = (characters: number, of_ = "x") => ({
      data: { list: Array.from({ length: 16 }, () => of_.repeat(characters)) },
    });
    const perText = Math.floor((responseBytesMax - '{"list":[]}'.length - 15) / 16) - 2;
    await expect(writeIfLarge(of(perText))).resolves.toBeUndefined();
    await expect((async () => writeIfLarge(of(perText + 1)))()).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
    await expect(writeIfLarge(of(perText / 2, "é"))).resolves.toBeUndefined();
    await expect(writeIfLarge(of(perText / 2 + 10, "é"))).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
    await expect(writeIfLarge(of(perText / 6 + 10, "\u{1}"))).rejects.toMatchObject({ code: "RESPONSE_TOO_LARGE" });
    expect(writeIfLarge({ data: { id: "small" } })).toBeUndefined();
  });
});
