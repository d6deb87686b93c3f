import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/csv.js";
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
  [{ map: "id=Handle" }, "VALIDATION_FAILED"],
])("%j is refused, and nothing is stored", async (query, code) => {
  const store = await createTestStore(app);
  expect(await send(store, header + rows(2), query)).toMatchObject({ status: 400, body: { code } });
  expect(await storedProducts(app, store)).toEqual([]);
});
