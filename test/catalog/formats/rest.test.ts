import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, readAnswer, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { importedAnswer, paths, storedProducts } from "../../support/products.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const send = async (store: TestStore, body: string | Buffer, query: Record<string, string>) =>
  readAnswer(
    await store.fetch(`${paths.csv}?${new URLSearchParams(query).toString()}`, {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body: new Uint8Array(Buffer.from(body)),
    }),
  );

const header = "Handle;Title;Option1 Value;Variant SKU;Variant Price;Image Src\n";
const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => `mug-${n};Becher für ${n};Red;M-${n};"12,90";//cdn.example/${n}.jpg\n`).join(
    "",
  );
const urlTemplate = "https://shop.example/products/{handle}";

test.each([2, 8_000])("a Shopify export of %i rows is a body, of any encoding and delimiter", async (count) => {
  const store = await createTestStore(app);
  const body = Buffer.from(header + rows(count), "latin1");
  const query = { format: "shopify", urlTemplate, encoding: "windows-1252", delimiter: "semicolon" };
  expect(await send(store, body, query)).toEqual(importedAnswer(count));
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
  expect(await send(store, header + rows(2), { format: "auto", urlTemplate })).toEqual(importedAnswer(2));
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
