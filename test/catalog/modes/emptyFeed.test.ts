import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/access/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { toCsv } from "../../support/catalog/csv.js";
import { paths, product, type Sent, storedKeys, storedSites } from "../../support/products.js";

const app = await openTestApp();

interface Args {
  readonly siteId?: string;
  readonly errorPolicy?: string;
  readonly maxDeletions?: number;
  readonly dryRun?: boolean;
}

/** Replaces the catalog. @returns the answer of REST, or the code of the refusal */
type Replace = (store: TestStore, args: Args) => Promise<any>;

const [header = ""] = toCsv([product("none")]).split("\n");
const shopifyHeader = "Handle,Title,Option1 Value,Variant SKU,Variant Price,Image Src";
const wooHeader = "ID,Type,SKU,Name,Published,Regular price,In stock?,Images";
const rss = (root: string) => `<?xml version="1.0"?><${root} xmlns:g="http://base.google.com/ns/1.0"></${root}>`;

const json =
  (path: string, body: object): Replace =>
  async (store, args) => {
    const { status, body: found } = await store.post(path, { ...body, mode: "REPLACE", ...args });
    return status === 200 ? found : found.code;
  };

const upload =
  (path: string, type: string, body: string, reading: Record<string, string> = {}): Replace =>
  async (store, args) => {
    const query = new URLSearchParams({ mode: "REPLACE", ...reading });
    for (const [name, value] of Object.entries(args)) query.set(name, String(value));
    const call = { method: "POST", headers: { "content-type": type }, body };
    const { status, body: found } = await readAnswer(await store.fetch(`${path}?${query.toString()}`, call));
    return status === 200 ? found : found.code;
  };

const graphql =
  (field: string, argument: string, value: unknown): Replace =>
  async (store, args) => {
    const type = argument === "products" ? "[ProductInput!]!" : "String!";
    const given = "siteId: $siteId, errorPolicy: $errorPolicy, maxDeletions: $maxDeletions, dryRun: $dryRun";
    const query = `mutation (
      $value: ${type}, $siteId: String, $errorPolicy: ImportErrorPolicy, $maxDeletions: Int, $dryRun: Boolean
    ) {
      answer: ${field}(${argument}: $value, mode: REPLACE, ${given}) { message imported deleted failed }
    }`;
    const { data, errors } = await store.graphql(query, { value, ...args });
    return errors === undefined ? data.answer : errors[0].extensions.code;
  };

const ofShop = { urlTemplate: "https://shop.example/{sku}" };
/** A space beyond the 256 KiB of a body that are read on the event loop. */
const space = " \n".repeat(150_000);

/** Feeds without products, in every way in. */
const empty: Readonly<Record<string, Replace>> = {
  "an empty list": json(paths.bulk, { products: [] }),
  "CSV in JSON, a header alone": json(paths.csv, { csvContent: `${header}\n` }),
  "CSV in JSON, with blank lines": json(paths.csv, { csvContent: `${header}\n\n\n` }),
  "CSV in long JSON": json(paths.csv, { csvContent: `${header}\n${"\n".repeat(300_000)}` }),
  "text/csv, a header alone": upload(paths.csv, "text/csv", header),
  "text/csv, long": upload(paths.csv, "text/csv", `${header}\n${"\n".repeat(300_000)}`),
  "text/csv, with options": upload(paths.csv, "text/csv", header.replaceAll(",", ";"), { delimiter: "semicolon" }),
  "text/csv of Shopify": upload(paths.csv, "text/csv", shopifyHeader, { format: "shopify", ...ofShop }),
  "text/csv of WooCommerce": upload(paths.csv, "text/csv", wooHeader, { format: "woocommerce", ...ofShop }),
  "an empty RSS": upload(paths.csv, "text/csv", rss("rss"), { format: "auto" }),
  "an empty Atom feed": upload(paths.csv, "text/csv", rss("feed"), { format: "google" }),
  "NDJSON of 0 bytes": upload(paths.bulk, "application/x-ndjson", ""),
  "NDJSON of blank lines": upload(paths.bulk, "application/x-ndjson", "\n \n"),
  "NDJSON, long": upload(paths.bulk, "application/x-ndjson", space),
  "GraphQL, an empty list": graphql("importProducts", "products", []),
  "GraphQL, a header alone": graphql("importProductsCsv", "csvContent", header),
};

const failing: readonly Sent[] = [product("x", { price: -1 }), product("y", { price: -2 })];
const ndjson = failing.map((each) => `${JSON.stringify(each)}\n`).join("");
const long = (text: string) => `${text}${"\n".repeat(300_000)}`;

/** Feeds of which every product fails. */
const failed: Readonly<Record<string, Replace>> = {
  "a list": json(paths.bulk, { products: failing }),
  "a single product": json(paths.one, { product: failing[0] }),
  "CSV in JSON": json(paths.csv, { csvContent: toCsv(failing) }),
  "text/csv": upload(paths.csv, "text/csv", toCsv(failing)),
  "text/csv, long": upload(paths.csv, "text/csv", long(toCsv(failing))),
  NDJSON: upload(paths.bulk, "application/x-ndjson", ndjson),
  "NDJSON, long": upload(paths.bulk, "application/x-ndjson", long(ndjson)),
  "GraphQL, a list": graphql("importProducts", "products", failing),
  "GraphQL, CSV": graphql("importProductsCsv", "csvContent", toCsv(failing)),
};

const refusedDryRun = (count: number) =>
  `The import would be refused: it would remove ${count} of ${count} products and store none, which only maxDeletions allows.`;

async function storeOf(count: number): Promise<TestStore> {
  const store = await createTestStore(app);
  const list = ["a", "b", "c"].slice(0, count).map((id) => product(id));
  if (count > 0) expect((await store.post(paths.bulk, { products: list })).status).toBe(200);
  return store;
}

describe.each([
  ["a feed without products", empty, [{}, { errorPolicy: "REJECT_FAILED" }, { errorPolicy: "REJECT_ALL" }]],
  ["a feed whose products all fail", failed, [{ errorPolicy: "REJECT_FAILED" }]],
] as const)("REPLACE with %s deletes nothing unless maxDeletions is given", (_, ways, policies) => {
  test.each(Object.entries(ways))("%s", async (__, replace) => {
    for (const policy of policies) {
      const store = await storeOf(3);
      const before = await storedKeys(app, store);
      expect(await replace(store, policy)).toBe("TOO_MANY_DELETIONS");
      expect((await replace(store, { ...policy, dryRun: true })).message).toContain(refusedDryRun(3));
      expect(await replace(store, { ...policy, maxDeletions: 2 })).toBe("TOO_MANY_DELETIONS");
      expect(await storedKeys(app, store)).toEqual(before);
      expect(await replace(store, { ...policy, maxDeletions: 3, dryRun: true })).toMatchObject({ deleted: 3 });
      expect(await replace(store, { ...policy, maxDeletions: 3 })).toMatchObject({ imported: 0, deleted: 3 });
      expect(await storedKeys(app, store)).toEqual({});
    }
  });
});

test.each(Object.entries(empty))(
  "the last product is not deleted either, and none is no deletion: %s",
  async (_, replace) => {
    const store = await storeOf(1);
    expect(await replace(store, {})).toBe("TOO_MANY_DELETIONS");
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
    expect(await replace(await storeOf(0), {})).toMatchObject({ imported: 0, deleted: 0 });
  },
);

test.each([...Object.entries(empty), ...Object.entries(failed)])("nor is a site emptied: %s", async (_, replace) => {
  const store = await storeOf(1);
  const [web, market] = [{ siteId: "web" }, { siteId: "market" }];
  for (const { siteId } of [web, market]) await addSite(app.db, store.id, siteId, "shop");
  await store.post(paths.bulk, { products: [product("own"), product("both")], ...web });
  await store.post(paths.bulk, { products: [product("both")], ...market });
  const before = await storedSites(app, store);
  const partly = { errorPolicy: "REJECT_FAILED", ...web };
  expect(await replace(store, partly)).toBe("TOO_MANY_DELETIONS");
  expect((await replace(store, { ...partly, dryRun: true })).message).toContain(refusedDryRun(2));
  expect(await storedSites(app, store)).toEqual(before);
  expect(await replace(store, { ...partly, maxDeletions: 2 })).toMatchObject({ deleted: 1 });
  expect(await storedSites(app, store)).toEqual({ a: [], both: ["market"] });
});

test("a feed whose failed products name all others deletes none, and is not refused", async () => {
  const store = await storeOf(3);
  const products = ["a", "b", "c"].map((id) => product(id, { price: -1 }));
  const { body } = await store.post(paths.bulk, { products, mode: "REPLACE", errorPolicy: "REJECT_FAILED" });
  expect(body).toMatchObject({ imported: 0, deleted: 0, failed: 3 });
  expect(Object.keys(await storedKeys(app, store))).toEqual(["a", "b", "c"]);
});
