import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import { expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { exportPlaces } from "../../../src/catalog/export/export.js";
import { productFieldNames } from "../../../src/files/product/product.fields.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { bulk, paths, product, products, storedKeys, storedProducts } from "../../support/products.js";

const header = productFieldNames.join(",");
const app = await openTestApp();

/** Everything that a field may have, and that a separator, a quote or a line end could break. */
const unusual = [
  product("plain"),
  product(' leading, "quoted" and trailing ', {
    sku: "a;b c",
    title: 'Line\nends\r\nand\r "quotes", commas; semicolons',
    description: "  kept as it is  ",
    price: 0,
    price_min: 1e-7,
    price_max: 123_456_789_012_345.6,
    images: ["https://shop.example/1.jpg"],
    available: false,
  }),
  product("ünïcödé 🧣", { description: "= not a formula", price: 59.9, images: [] }),
  product("many-images", { images: Array.from({ length: 250 }, (_, i) => `https://shop.example/${i},"a".jpg`) }),
  product("bulk", { description: "\\ {} NULL" }),
];

async function storeOf(list: readonly object[]): Promise<TestStore> {
  const store = await createTestStore(app);
  const { status } = await store.post(paths.bulk, bulk(list));
  expect(status).toBe(200);
  return store;
}

async function textOf(store: TestStore, path: string): Promise<string> {
  const response = await store.fetch(path);
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return text;
}

const idsOf = (ndjson: string) =>
  ndjson
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);

test("a CSV export is imported into another store as it is, and both are equal", async () => {
  const store = await storeOf(unusual);
  const other = await createTestStore(app);
  const csvContent = await textOf(store, paths.csv);
  expect(csvContent.split("\n", 2)).toEqual([
    header,
    expect.stringContaining('" leading, ""quoted"" and trailing ","a;b c","Line'),
  ]);
  expect(await other.post(paths.csv, { csvContent })).toMatchObject({ status: 200, body: { imported: 5 } });
  expect(await storedProducts(app, other)).toEqual(await storedProducts(app, store));
});

test("an NDJSON export has a product a line, which is imported as it is", async () => {
  const store = await storeOf(unusual);
  const other = await createTestStore(app);
  const text = await textOf(store, paths.ndjson);
  const list = text.split("\n");
  expect(list.pop()).toBe("");
  const parsed = list.map((line) => JSON.parse(line) as object);
  expect(parsed.find((sent) => "id" in sent && sent.id === "plain")).toEqual(product("plain"));
  expect(await other.post(paths.bulk, bulk(parsed))).toMatchObject({ status: 200, body: { imported: 5 } });
  expect(await storedProducts(app, other)).toEqual(await storedProducts(app, store));
});

test("an export is described by its headers, and a store without products has the header row alone", async () => {
  const store = await createTestStore(app);
  const csv = await store.fetch(paths.csv);
  expect(Object.fromEntries(csv.headers)).toMatchObject({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="products.csv"',
    "cache-control": "private, no-cache",
  });
  expect(csv.headers.get("vary")).toContain("Accept-Encoding");
  expect(await csv.text()).toBe(`${header}\n`);
  const ndjson = await store.fetch(paths.ndjson);
  expect(ndjson.headers.get("content-type")).toBe("application/x-ndjson");
  expect(await ndjson.text()).toBe("");
});

test("available, siteId and updatedSince narrow an export", async () => {
  const store = await createTestStore(app);
  await addSite(app.db, store.id, "de", "SHOP");
  await addSite(app.db, store.id, "fr", "SHOP");
  await store.post(paths.bulk, bulk([product("everywhere"), product("sold-out", { available: false })]));
  await store.post(paths.bulk, { ...bulk([product("german")]), siteId: "de" });
  const { updatedAt } = await app.db.product.findFirstOrThrow({ where: { storeId: store.id, id: "german" } });
  const ids = async (query: string) => idsOf(await textOf(store, `${paths.ndjson}?${query}`));
  expect(await ids("")).toEqual(["everywhere", "german", "sold-out"]);
  expect(await ids("available=true")).toEqual(["everywhere", "german"]);
  expect(await ids("available=false")).toEqual(["sold-out"]);
  expect(await ids("siteId=fr&siteType=SHOP")).toEqual(["everywhere", "sold-out"]);
  expect(await ids("siteId=de&available=true")).toEqual(["everywhere", "german"]);
  expect(await ids(`updatedSince=${updatedAt.toISOString()}`)).toEqual(["german"]);
  expect(await ids(`updatedSince=${encodeURIComponent("2999-01-01T00:00:00+01:00")}`)).toEqual([]);
});

test("invalid arguments, unknown sites and invalid tokens are refused before anything is sent, for HEAD too", async () => {
  const store = await createTestStore(app);
  const refusals = [
    ["available=yes", "VALIDATION_FAILED", ["available"]],
    ["updatedSince=yesterday", "VALIDATION_FAILED", ["updatedSince"]],
    ["siteId=nowhere", "SITE_NOT_FOUND", ["siteId"]],
  ] as const;
  for (const [query, code, path] of refusals) {
    for (const target of [paths.ndjson, paths.csv]) {
      const answer = await store.get(`${target}?${query}`);
      expect(answer).toMatchObject({
        status: 400,
        type: "application/problem+json",
        body: { code, errors: [{ path }] },
      });
      expect((await store.fetch(`${target}?${query}`, { method: "HEAD" })).status).toBe(400);
    }
  }
  expect((await fetch(`${app.url}${paths.csv}`)).status).toBe(401);
});

test("HEAD has the headers of GET and no body; other methods are 405 with Allow", async () => {
  const store = await storeOf([product("one")]);
  for (const path of [paths.ndjson, paths.csv]) {
    const get = await store.fetch(path);
    await get.text();
    const head = await store.fetch(path, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    for (const name of ["content-type", "content-disposition", "cache-control", "vary"]) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  }
  expect((await store.fetch(paths.csv, { method: "DELETE" })).headers.get("allow")).toBe("GET, HEAD, POST");
  expect((await store.fetch(paths.ndjson, { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
});

test.each([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
] as const)("an export is compressed with %s", async (coding, inflate) => {
  const store = await storeOf(products(3));
  const response = await new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
    const headers = { "x-service-access-token": store.token, "accept-encoding": coding };
    request(`${app.url}${paths.csv}`, { headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve({ encoding: answer.headers["content-encoding"], body: Buffer.concat(chunks) }));
    })
      .on("error", reject)
      .end();
  });
  expect(response.encoding).toBe(coding);
  expect(inflate(response.body).toString()).toBe(await textOf(store, paths.csv));
});

test("products whose ids are like the paths of imports and exports are read and deleted as any other", async () => {
  const ids = ["bulk", "bulk/csv", "bulk/ndjson"];
  const list = ids.map((id) => product(id));
  const store = await storeOf(list);
  for (const [index, id] of ids.entries()) {
    expect(await store.get(paths.of(id))).toMatchObject({ status: 200, body: { id } });
    expect(await store.delete(paths.of(id))).toMatchObject({ status: 200 });
    expect(await store.get(paths.of(id))).toMatchObject({ status: 400, body: { code: "PRODUCT_NOT_FOUND" } });
    expect(Object.keys(await storedKeys(app, store))).toEqual(ids.slice(index + 1));
  }
});

test("a client that leaves in the middle ends the export", async () => {
  const store = await storeOf(products(90, () => ({ description: "long ".repeat(13_000) }))); // 6 MB
  const leaving = new AbortController();
  const response = await store.fetch(paths.csv, { signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  await expect.poll(() => exportPlaces.held).toBe(0);
});
