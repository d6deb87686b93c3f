import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { type ImportArgs, importWays, ndjsonOf, upload } from "../../support/catalog/ways.js";
import { openFolder } from "../../support/folder.js";
import { paths, product, storedKeys } from "../../support/products.js";

const app = await openTestApp();
const ways = Object.entries(importWays(app, await openFolder()));

type Replace = (store: TestStore, args: ImportArgs) => Promise<any>;

const file =
  (path: string, type: string, body: string, reading: object = {}): Replace =>
  (store, args) =>
    upload(store, path, { type, body }, { mode: "REPLACE", ...reading, ...args });
const csv = (body: string, reading?: object) => file(paths.csv, "text/csv", body, reading);
const ndjson = (body: string) => file(paths.bulk, "application/x-ndjson", body);

const header = toCsv([]);
const rss = (root: string) => `<?xml version="1.0"?><${root} xmlns:g="http://base.google.com/ns/1.0"></${root}>`;
const ofShop = { urlTemplate: "https://shop.example/{sku}" };
/** More than the 256 KiB of a file that are read on the event loop. */
const long = "\n".repeat(300_000);
const failing = [product("x", { price: -1 }), product("y", { price: -2 })];

const feeds: readonly (readonly [name: string, Replace])[] = [
  ...ways.map(([name, { send }]) => {
    const replace: Replace = (store, args) => send(store, [], { mode: "REPLACE", ...args });
    return [`no products: ${name}`, replace] as const;
  }),
  ["blank lines after the header of a CSV", csv(`${header}\n\n`)],
  ["a long CSV of blank lines", csv(header + long)],
  ["a CSV with options", csv(header.replaceAll(",", ";"), { delimiter: "semicolon" })],
  [
    "a header of Shopify",
    csv("Handle,Title,Option1 Value,Variant SKU,Variant Price,Image Src", { format: "shopify", ...ofShop }),
  ],
  [
    "a header of WooCommerce",
    csv("ID,Type,SKU,Name,Published,Regular price,In stock?,Images", { format: "woocommerce", ...ofShop }),
  ],
  ["an empty RSS", csv(rss("rss"), { format: "auto" })],
  ["an empty Atom feed", csv(rss("feed"), { format: "google" })],
  ["NDJSON of blank lines", ndjson("\n \n")],
  ["long NDJSON of blank lines", ndjson(long)],
  ...ways.map(([name, { send }]) => {
    const replace: Replace = (store, args) => send(store, failing, { mode: "REPLACE", ...args });
    return [`products that fail: ${name}`, replace] as const;
  }),
  ["a long CSV of products that fail", csv(toCsv(failing) + long)],
  ["long NDJSON of products that fail", ndjson(ndjsonOf(failing) + long)],
];

const store = await createTestStore(app);
const add = (...ids: string[]) => store.post(paths.bulk, { products: ids.map((id) => product(id)) });

test.each(feeds)("REPLACE deletes nothing unless maxDeletions is given: %s", async (_, replace) => {
  const policy = { errorPolicy: "REJECT_FAILED" } as const;
  await add("a");
  expect(await replace(store, policy)).toBe("TOO_MANY_DELETIONS");
  expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
  expect(await replace(store, { ...policy, maxDeletions: 1 })).toMatchObject({ imported: 0, deleted: 1 });
  expect(await storedKeys(app, store)).toEqual({});
});

test("none is no deletion", async () => {
  const { body } = await store.post(paths.bulk, { products: [], mode: "REPLACE" });
  expect(body).toMatchObject({ imported: 0, deleted: 0 });
});

test("a dry run says so", async () => {
  await add("a", "b", "c");
  const { body } = await store.post(paths.bulk, { products: [], mode: "REPLACE", dryRun: true });
  expect(body.message).toContain(
    "The import would be refused: it would remove 3 of 3 products and store none, which only maxDeletions allows.",
  );
});

test("a feed whose failed products name all others deletes none, and is not refused", async () => {
  await add("a", "b", "c");
  const products = ["a", "b", "c"].map((id) => product(id, { price: -1 }));
  const { body } = await store.post(paths.bulk, { products, mode: "REPLACE", errorPolicy: "REJECT_FAILED" });
  expect(body).toMatchObject({ imported: 0, deleted: 0, failed: 3 });
  expect(Object.keys(await storedKeys(app, store))).toEqual(["a", "b", "c"]);
});
