import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { importedAnswer, longRows, paths, product, storedProducts } from "../../support/products.js";

const app = await openTestApp();

const send = async (
  store: TestStore,
  body: string | Buffer,
  query: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  readAnswer(
    await store.fetch(`${paths.csv}?${new URLSearchParams(query).toString()}`, {
      method: "POST",
      headers: { "content-type": "text/csv", ...headers },
      body: new Uint8Array(Buffer.from(body)),
    }),
  );

const header = "Handle;Title;Option1 Value;Variant SKU;Variant Price;Image Src\n";
const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => `mug-${n};Becher für ${n};Red;M-${n};"12,90";//cdn.example/${n}.jpg\n`).join(
    "",
  );
const urlTemplate = "https://shop.example/products/{handle}";

test.each([2, longRows])("a Shopify export of %i rows is a body, of any encoding and delimiter", async (count) => {
  const store = await createTestStore(app);
  const body = Buffer.from(header + rows(count), "latin1");
  const query = { format: "shopify", urlTemplate, encoding: "windows-1252", delimiter: "semicolon" };
  const { body: answer, ...others } = importedAnswer(count);
  expect(await send(store, body, query)).toEqual({
    ...others,
    body: { ...answer, format: "shopify", notes: ["The file was read as windows-1252."] },
  });
  const stored = await storedProducts(app, store);
  expect(stored).toHaveLength(count);
  expect(stored[0]).toMatchObject({
    id: "M-0",
    title: "Becher für 0 - Red",
    price: 12.9,
    url: "https://shop.example/products/mug-0",
  });
});

test("a short body is read as a long one, and recognized by its columns", async () => {
  const store = await createTestStore(app);
  const { body, ...others } = importedAnswer(2);
  expect(await send(store, header + rows(2), { format: "auto", urlTemplate })).toEqual({
    ...others,
    body: { ...body, format: "shopify", notes: [] },
  });
});

test.each([2, longRows])("unused columns are reported once, and a dry run shows three products; of %i", async (n) => {
  const store = await createTestStore(app);
  const vendor = (text: string, cell: string) => text.replaceAll(/\n/gu, `;${cell}\n`);
  const body = vendor(header, "Vendor") + vendor(rows(n), "Northern");
  const query = { format: "auto", urlTemplate };
  const notes = ["Column 'Vendor' is not used."];
  const tried = await send(store, body, { ...query, dryRun: "true" });
  expect(tried).toMatchObject({ status: 200, body: { imported: n, format: "shopify", notes } });
  expect(tried.body.products).toHaveLength(Math.min(n, 3));
  expect(tried.body.products[0]).toEqual({
    id: "M-0",
    sku: "M-0",
    title: "Becher für 0 - Red",
    price: 12.9,
    available: true,
    images: ["//cdn.example/0.jpg"],
    featured_image: "//cdn.example/0.jpg",
    url: "https://shop.example/products/mug-0",
  });
  const stored = await send(store, body, query);
  expect(stored.body).toMatchObject({ imported: n, format: "shopify", notes });
  expect(stored.body).not.toHaveProperty("products");
});

test("a response that is replayed for an Idempotency-Key has them too", async () => {
  const store = await createTestStore(app);
  const headers = { "idempotency-key": `format-${store.id}` };
  const query = { format: "shopify", urlTemplate };
  const first = await send(store, header + rows(2), query, headers);
  expect(first.body).toMatchObject({ format: "shopify", notes: [] });
  expect(await send(store, header + rows(2), query, headers)).toEqual(first);
});

test("a dry run of any file shows its first valid products; other responses do not", async () => {
  const store = await createTestStore(app);
  const list = [product("a"), product("b", { price: -1 }), product("c"), product("d"), product("e")];
  const policy = { errorPolicy: "REJECT_FAILED" };
  for (const [path, type, body] of [
    [paths.csv, "text/csv", toCsv(list)],
    [paths.bulk, "application/x-ndjson", list.map((each) => `${JSON.stringify(each)}\n`).join("")],
  ] as const) {
    const sent = async (more: object) => {
      const query = new URLSearchParams({ ...policy, ...more }).toString();
      return readAnswer(
        await store.fetch(`${path}?${query}`, { method: "POST", headers: { "content-type": type }, body }),
      );
    };
    const { body: tried } = await sent({ dryRun: "true" });
    expect(tried.products.map(({ id }: { id: string }) => id)).toEqual(["a", "c", "d"]);
    expect(Object.keys(tried)).not.toContain("format");
    const { body: stored } = await sent({});
    expect(Object.keys(stored)).toEqual(["message", "imported", "created", "updated", "failed", "failures"]);
  }
  const inJson = await store.post(paths.bulk, { products: list, ...policy, dryRun: true });
  expect(inJson.body).not.toHaveProperty("products");
});

test.each([
  [{ format: "excel" }, "BAD_REQUEST"],
  [{ format: "shopify", urlTemplate: "shop" }, "BAD_REQUEST"],
  [{ delimiter: "|" }, "BAD_REQUEST"],
  [{ encoding: "klingon" }, "BAD_REQUEST"],
  [{ format: "shopify" }, "VALIDATION_FAILED"],
  [{ map: "id=Handle" }, "BAD_REQUEST"],
  [{ map: "id:Handle" }, "VALIDATION_FAILED"],
  [{ map: "__proto__:Handle" }, "BAD_REQUEST"],
  [{ default: "available" }, "BAD_REQUEST"],
  [{ fillDown: "Handle" }, "VALIDATION_FAILED"],
])("%j is refused, and nothing is stored", async (query, code) => {
  const store = await createTestStore(app);
  expect(await send(store, header + rows(2), query)).toMatchObject({ status: 400, body: { code } });
  expect(await storedProducts(app, store)).toEqual([]);
});

describe("columns are mapped in the query string", () => {
  const stock =
    "Art;Name;Preis;Bild 1;Bild 2;Seite;Gruppe\nA-1;Hut;9,90;//cdn.example/1;//cdn.example/2;//shop.example/1;hut\nA-2;;12;;;;hut\n";
  const query =
    "map=id:Art&map=sku:Art&map=title:Name&map=price:Preis&map=images:Bild%201&map=images:Bild%202&map=url:Seite&default=available:true";
  const post = async (store: TestStore, search: string, body: string | Buffer) =>
    readAnswer(
      await store.fetch(`${paths.csv}?${search}`, {
        method: "POST",
        headers: { "content-type": "text/csv" },
        body: new Uint8Array(Buffer.from(body)),
      }),
    );

  test("for whole products; rows that share a column have what the first of them has", async () => {
    const store = await createTestStore(app);
    expect(await post(store, `${query}&fillDown=Gruppe`, stock)).toMatchObject({
      status: 200,
      body: { imported: 2, format: "vitrine", notes: [] },
    });
    const shared = {
      title: "Hut",
      images: ["//cdn.example/1", "//cdn.example/2"],
      featuredImage: "//cdn.example/1",
      url: "//shop.example/1",
      available: true,
    };
    expect(await storedProducts(app, store)).toMatchObject([
      { ...shared, id: "A-1", sku: "A-1", price: 9.9 },
      { ...shared, id: "A-2", sku: "A-2", price: 12 },
    ]);
    const without = await post(store, `${query}&mode=REPLACE`, stock);
    expect(without).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    const replaced = await post(
      store,
      `${query}&fillDown=Gruppe&mode=REPLACE`,
      stock.split("\n").slice(0, 2).join("\n"),
    );
    expect(replaced).toMatchObject({ status: 200, body: { imported: 1, deleted: 1 } });
  });

  test("for a price list, which changes prices alone", async () => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, {
      products: [product("a", { description: "Soft", price: 5 }), product("b", { price: 6 })],
    });
    const list = "Variant SKU,Variant Price\nSKU-a,7.50\nSKU-b,\n";
    const sku = "map=sku:Variant%20SKU&map=price:Variant%20Price&mode=PATCH";
    const skus = (await storedProducts(app, store)).map(({ sku: stored }) => stored);
    const sent = list.replace("SKU-a", skus[0] ?? "").replace("SKU-b", skus[1] ?? "");
    expect(await post(store, sku, sent)).toMatchObject({ status: 200, body: { updated: 2 } });
    expect(await storedProducts(app, store)).toMatchObject([
      { id: "a", price: 7.5, description: "Soft" },
      { id: "b", price: null },
    ]);
    const unknown = await post(store, sku, `${sent}nobody,3\n`);
    expect(unknown).toMatchObject({ status: 400, body: { errors: [{ code: "PRODUCT_NOT_FOUND", line: 4 }] } });
    const wrong = await post(store, "map=price:Variant%20Price&mode=PATCH", sent);
    expect(wrong).toMatchObject({
      status: 400,
      body: { errors: [{ path: ["id"], message: "The column id or sku is required." }] },
    });
    expect((await post(store, "mode=PATCH", sent)).status).toBe(400);
  });

  test("a dry run shows what each column is used for; advice names no options of the command line", async () => {
    const store = await createTestStore(app);
    const { body } = await post(store, `${query}&dryRun=true&fillDown=Gruppe`, stock);
    expect(body.columns).toEqual({
      Art: "id, sku",
      Name: "title",
      Preis: "price",
      "Bild 1": "images",
      "Bild 2": "images",
      Seite: "url",
      Gruppe: "rows that share it",
    });
    for (const search of ["format=shopify", "format=auto", "map=id:Art", "encoding=utf-8"]) {
      for (const text of [stock, header + rows(2), Buffer.from(stock.replace("Hut", "Hüte"), "latin1")]) {
        const refused = await post(store, search, text);
        expect(refused.status).toBe(400);
        expect(JSON.stringify(refused.body), search).not.toMatch(/--[a-z]/u);
      }
    }
  });
});

test.each(["utf-16le", "utf-16be"])("%s is read without parameters, with a mark and without", async (encoding) => {
  const store = await createTestStore(app);
  for (const addBOM of [true, false]) {
    for (const count of [2, longRows]) {
      const list = Array.from({ length: count }, (_, n) => product(`p${n}`, { title: `Größe ${n}` }));
      const sent = await send(store, iconv.encode(toCsv(list), encoding, { addBOM }), {});
      expect(sent).toMatchObject({ status: 200, body: { imported: count } });
      expect(Object.keys(sent.body)).not.toContain("format");
      expect((await storedProducts(app, store))[0]).toMatchObject({ title: "Größe 0" });
    }
  }
});

test.each([
  ["JSON", JSON.stringify([product("a")]), "The file is JSON"],
  [
    "an Excel workbook",
    Buffer.from("504b0304140006000800000021005b436f6e74656e745f54797065735d2e786d6c", "hex"),
    "an Excel workbook",
  ],
  ["a ZIP archive", Buffer.from("504b03041400000008000000612e637376", "hex"), "a ZIP archive"],
  ["gzip without its header", gzipSync("id,sku\n"), "Content-Encoding: gzip"],
])("%s is named, and what to do", async (_, body, message) => {
  const store = await createTestStore(app);
  const queries: Record<string, string>[] = [{}, { format: "auto" }];
  for (const query of queries) {
    const refused = await send(store, body, query);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST", detail: expect.stringContaining(message) },
    });
  }
});

test("NDJSON that is sent as JSON is named, and so is a path with a slash in an id", async () => {
  const store = await createTestStore(app);
  for (const end of ["\n", "\r\n"]) {
    const body = [product("a"), product("b")].map((each) => JSON.stringify(each)).join(end);
    const headers = { "content-type": "application/json" };
    const refused = await readAnswer(await store.fetch(paths.bulk, { method: "POST", headers, body }));
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining("application/x-ndjson") } });
  }
  const missing = await readAnswer(await store.fetch("/external/product/v1/a/b"));
  expect(missing).toMatchObject({ status: 404, body: { detail: expect.stringContaining("%2F") } });
});
