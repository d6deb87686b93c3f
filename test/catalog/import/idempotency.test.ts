import { describe, expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { addSite } from "../../../src/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { ago } from "../../support/clock.js";
import { postWithKey, writersOf } from "../../support/http/idempotency.js";
import { graphqlError, problemBody } from "../../support/problems.js";
import {
  bulk,
  importedAnswer,
  importMany,
  importOne,
  paths,
  product,
  products,
  storedProducts,
} from "../../support/products.js";

const app = await openTestApp();

const reused = "This Idempotency-Key was already used for a different request.";
const wrongKey = "The header Idempotency-Key must have 1 to 255 visible ASCII characters.";
const importCsv = `mutation ($csvContent: String!) {
  importProductsCsv(csvContent: $csvContent) { message imported created updated }
}`;
const importedText = (...counts: [number, number?]) => JSON.stringify(importedAnswer(...counts).body);
const one = { product: product("a") };

/** The times at which a store's products were last imported. */
async function times({ id: storeId }: TestStore) {
  const rows = await app.db.product.findMany({ where: { storeId }, select: { id: true, updatedAt: true } });
  return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt.getTime()]));
}

/** Lets everything that the store has stored under keys be as old as this. */
async function age({ id: storeId }: TestStore, hours: number, minutes = 0): Promise<void> {
  const createdAt = ago((hours * 60 + minutes) * 60_000);
  await app.db.idempotencyKey.updateMany({ where: { storeId }, data: { createdAt } });
}

const keysOf = ({ id: storeId }: TestStore) => app.db.idempotencyKey.count({ where: { storeId } });

describe("an import that succeeded is not carried out again under its key", () => {
  test.each<[string, string, object]>([
    ["importProduct over REST", paths.one, one],
    ["importProducts over REST", paths.bulk, bulk([product("a"), product("b")])],
    ["importProductsCsv over REST", paths.csv, { csvContent: toCsv([product("a")]) }],
    ["importProduct over GraphQL", "/graphql", { query: `${importOne} # k`, variables: one }],
    ["importProducts over GraphQL", "/graphql", { query: `${importMany} # k`, variables: bulk([product("a")]) }],
    [
      "importProductsCsv over GraphQL",
      "/graphql",
      { query: `${importCsv} # k`, variables: { csvContent: toCsv([product("a")]) } },
    ],
  ])("%s: the same body gets the stored answer, byte for byte", async (_, path, body) => {
    const store = await createTestStore(app);
    const first = await postWithKey(store, path, body, "key-1");
    expect(first).toMatchObject({ status: 200, text: expect.stringContaining(`"created":`), replayed: null });
    const before = await times(store);
    expect(before.size).toBeGreaterThan(0);
    // A GraphQL operation takes Yoga's lane at first, then the fast one, from the third time on compiled.
    for (let turn = 0; turn < 4; turn += 1) {
      expect(await postWithKey(store, path, body, "key-1")).toEqual({ ...first, replayed: "true" });
    }
    expect(await times(store)).toEqual(before);

    const again = await postWithKey(store, path, body, "key-2");
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining(`"created":0,`), replayed: null });
    expect(await postWithKey(store, path, body, "key-2")).toEqual({ ...again, replayed: "true" });
    const unkeyed = await store.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([unkeyed.status, unkeyed.headers.has("idempotency-replayed")]).toEqual([200, false]);
    expect(await times(store)).not.toEqual(before);
  });

  test("a replay restores nothing that was deleted since", async () => {
    const store = await createTestStore(app);
    await postWithKey(store, paths.one, one, "k");
    await store.delete(paths.of("a"));
    expect(await postWithKey(store, paths.one, one, "k")).toEqual({
      status: 200,
      text: importedText(1),
      replayed: "true",
    });
    expect(await storedProducts(app, store)).toEqual([]);
  });

  test("of 6 concurrent requests one imports, and all get its answer", async () => {
    const store = await createTestStore(app);
    const send = () => postWithKey(store, paths.one, one, "k");
    const answers = await Promise.all(Array.from({ length: 6 }, send));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, importedText(1)]));
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await keysOf(store)).toBe(1);
  });

  test("the answer is stored by the transaction that stores the products: never one without the other", async () => {
    const store = await createTestStore(app);
    await postWithKey(store, paths.bulk, bulk(products(chunkRowsMax)), "k"); // a longer one takes several: see steps.test.ts
    expect(await writersOf(app, store)).toHaveLength(1);
    expect(await keysOf(store)).toBe(1);
  });

  test("every alias of an operation has its own answer, and an interrupted operation is completed", async () => {
    const store = await createTestStore(app);
    const fields = "{ imported created updated }";
    const query = `mutation ($a: ProductInput!, $b: ProductInput!) {
      one: importProduct(product: $a) ${fields}
      two: importProducts(products: [$b, $a]) ${fields}
      importProduct(product: $b) ${fields}
    }`;
    const body = { query, variables: { a: product("a"), b: product("b") } };
    const data = {
      one: { imported: 1, created: 1, updated: 0 },
      two: { imported: 2, created: 1, updated: 1 },
      importProduct: { imported: 1, created: 0, updated: 1 },
    };
    const first = await postWithKey(store, "/graphql", body, "k");
    expect([JSON.parse(first.text), first.replayed]).toEqual([{ data }, null]);
    expect(await postWithKey(store, "/graphql", body, "k")).toEqual({ ...first, replayed: "true" });
    expect(await keysOf(store)).toBe(3);

    await app.db.idempotencyKey.deleteMany({ where: { storeId: store.id, field: "two" } });
    const completed = await postWithKey(store, "/graphql", body, "k");
    expect(JSON.parse(completed.text)).toEqual({ data: { ...data, two: { imported: 2, created: 0, updated: 2 } } });
  });
});

describe("a key belongs to one request", () => {
  test.each<[string, string, object]>([
    ["another product", paths.one, { product: product("b") }],
    ["the same product written otherwise", paths.one, { product: { ...one.product, price: null } }],
    ["another path", paths.bulk, bulk([one.product])],
  ])("%s with the same key is 422 and stores nothing", async (_, path, body) => {
    const store = await createTestStore(app);
    await postWithKey(store, paths.one, one, "k");
    const before = await times(store);
    const { status, text } = await postWithKey(store, path, body, "k");
    expect([status, JSON.parse(text)]).toEqual([422, problemBody("IDEMPOTENCY_KEY_REUSED", reused)]);
    expect(await times(store)).toEqual(before);
  });

  test("GraphQL says the same with its code, under another alias too", async () => {
    const store = await createTestStore(app);
    await postWithKey(store, paths.one, one, "k");
    const query = "mutation ($product: ProductInput!) { other: importProduct(product: $product) { message } }";
    const { status, text } = await postWithKey(store, "/graphql", { query, variables: one }, "k");
    const error = graphqlError("IDEMPOTENCY_KEY_REUSED", reused);
    const place = { locations: [{ line: 1, column: 38 }], path: ["other"] };
    expect([status, JSON.parse(text)]).toEqual([200, { data: { other: null }, errors: [{ ...error, ...place }] }]);
  });

  test("the same key of another store is another key", async () => {
    const [store, other] = [await createTestStore(app), await createTestStore(app)];
    await postWithKey(store, paths.one, one, "k");
    const answer = { status: 200, text: importedText(1), replayed: null };
    expect(await postWithKey(other, paths.one, { product: product("b") }, "k")).toEqual(answer);
    expect((await storedProducts(app, store)).map(({ id }) => id)).toEqual(["a"]);
  });

  test("unusual keys are accepted unchanged", async () => {
    const store = await createTestStore(app);
    const keys = ["x'OR(1=1);--", `"8e03978e-40d5"`, "%00%ff", "$1::text", "\\u0000", "~".repeat(255), "{a,b}"];
    for (const key of keys) {
      const first = await postWithKey(store, paths.one, one, key);
      expect(await postWithKey(store, paths.one, one, key)).toEqual({ ...first, replayed: "true" });
    }
    const rows = await app.db.idempotencyKey.findMany({ where: { storeId: store.id }, orderBy: { createdAt: "asc" } });
    expect(rows.map(({ key }) => key)).toEqual(keys);
    expect(rows[0]).toEqual({
      storeId: store.id,
      key: keys[0],
      field: "importProduct",
      fingerprint: expect.stringMatching(/^[\da-f]{64}$/u),
      answer: JSON.stringify({ ...importedAnswer(1).body, deleted: 0, failed: 0, failures: [] }),
      createdAt: expect.any(Date),
    });
  });

  test("a key that is empty, long, in several words or not ASCII is refused with 400, and nothing is stored", async () => {
    const store = await createTestStore(app);
    for (const key of ["", "k".repeat(256), "a b", "a\tb", "clé", "a, b"]) {
      const { status, text } = await postWithKey(store, paths.one, one, key);
      expect([status, JSON.parse(text)]).toEqual([400, problemBody("BAD_REQUEST", wrongKey)]);
    }
    const inGraphQL = await postWithKey(store, "/graphql", { query: importOne, variables: one }, "a b");
    expect(JSON.parse(inGraphQL.text)).toMatchObject({
      data: { importProduct: null },
      errors: [graphqlError("BAD_REQUEST", wrongKey)],
    });
    expect(await storedProducts(app, store)).toEqual([]);
  });
});

describe("a key is used up by success alone", () => {
  test("a refused import may be corrected, or repeated once it is possible, under the same key", async () => {
    const store = await createTestStore(app);
    const send = (body: object) => postWithKey(store, paths.one, body, "k");
    expect(await send({ product: { ...one.product, price: -1 } })).toMatchObject({ status: 400, replayed: null });
    expect(await send({ product: {} })).toMatchObject({ status: 400, replayed: null });
    const assigned = { ...one, siteId: "de" };
    expect(await send(assigned)).toMatchObject({ status: 400, replayed: null });
    expect(await keysOf(store)).toBe(0);
    await addSite(app.db, store.id, "de", "SHOP");
    expect(await send(assigned)).toEqual({ status: 200, text: importedText(1), replayed: null });
    expect(await send(assigned)).toEqual({ status: 200, text: importedText(1), replayed: "true" });
  });

  test("an import whose problems only the database finds may be corrected too", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("other", { sku: "S" }) });
    const send = (sku: string) => postWithKey(store, paths.bulk, bulk([product("b"), product("a", { sku })]), "k");
    expect(await send("S")).toMatchObject({ status: 400, replayed: null });
    expect(await send("T")).toEqual({ status: 200, text: importedText(2), replayed: null });
    expect(await send("T")).toEqual({ status: 200, text: importedText(2), replayed: "true" });
  });
});

describe("a key lasts for 24 hours", () => {
  test("then the same request imports again, and another one may use the key", async () => {
    const store = await createTestStore(app);
    const send = (body: object) => postWithKey(store, paths.one, body, "k");
    await send(one);
    await age(store, 23, 59);
    expect(await send(one)).toEqual({ status: 200, text: importedText(1), replayed: "true" });
    await age(store, 24, 1);
    expect(await send(one)).toEqual({ status: 200, text: importedText(0, 1), replayed: null });
    expect(await send(one)).toEqual({ status: 200, text: importedText(0, 1), replayed: "true" });
    await age(store, 25);
    expect(await send({ product: product("b") })).toEqual({ status: 200, text: importedText(1), replayed: null });
    expect(await keysOf(store)).toBe(1);
  });

  test("a new key removes old ones of its store, a hundred at a time, and none of other stores", async () => {
    const [store, idle] = [await createTestStore(app), await createTestStore(app)];
    const createdAt = new Date("2001-01-01T00:00:00Z");
    const old = [store, idle].flatMap(({ id: storeId }) =>
      Array.from({ length: 150 }, (_, n) => ({ storeId, key: `old${n}`, field: "f", createdAt })),
    );
    await app.db.idempotencyKey.createMany({ data: old.map((row) => ({ ...row, fingerprint: "", answer: "{}" })) });
    await postWithKey(store, paths.one, one, "k1");
    expect(await keysOf(store)).toBe(51);
    await postWithKey(store, paths.one, one, "k2");
    expect(await keysOf(store)).toBe(2);
    expect(await keysOf(idle)).toBe(150);
  });
});

test("a browser on another origin may send a key and see whether an answer is a replay", async () => {
  const origin = "https://shop.example";
  const preflight = await fetch(`${app.url}${paths.one}`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "idempotency-key" },
  });
  expect(preflight.headers.get("access-control-allow-headers")).toMatch(/\bIdempotency-Key\b/iu);
  const answer = await fetch(`${app.url}${paths.one}`, { method: "POST", headers: { origin } });
  expect(answer.headers.get("access-control-expose-headers")).toMatch(/\bIdempotency-Replayed\b/u);
});
