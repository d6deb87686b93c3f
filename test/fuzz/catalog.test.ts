import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyUrl } from "../support/fuzz/anyUrl.js";
import { startApp, type TestApp, type TestStore } from "../support/app.js";
import { checkRedirect, checkedGraphQL, checkedRest } from "../support/fuzz/fuzz.answers.js";
import { type Catalog, catalogOf, storedRows, storeWithSite } from "../support/fuzz/fuzz.catalog.js";
import { damaged, mutated, writeJson } from "../support/fuzz/fuzz.json.js";
import { harmDone, sendRaw } from "../support/fuzz/fuzz.js";
import { shortTexts, texts } from "../support/fuzz/fuzz.values.js";
import { type Document, faultFinder, type FindFaults, operationsOf, resolved } from "../support/http/openapi.js";
import { importMany, importOne, paths } from "../support/products.js";
import { digestOf } from "../support/stored.js";

let app: TestApp;
let document: Document;
let findFaults: FindFaults;
let store: TestStore;
beforeAll(async () => {
  app = await startApp({ bulkProductsMax: 20 });
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document;
  findFaults = faultFinder(document, { closed: true });
  store = await storeWithSite(app);
});
afterAll(() => app.close());

/** Few, so that products meet: under the same id, with each other's sku. */
const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "c", "sku-a", "d") },
  { weight: 2, arbitrary: texts },
);
const shortKeys = keys.filter((key) => key.length <= 300);
const urls = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("https://shop.example/a", "//shop.example/ä b", "HTTP://shop.example") },
  { weight: 1, arbitrary: anyUrl },
  { weight: 1, arbitrary: texts.map((text) => `https://shop.example/${text}`) },
);
const prices = fc.option(
  fc.oneof(
    fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 0.1, 1e308, 1e-320, 2 ** 53 + 2),
  ),
);
const sentProducts = fc.record(
  {
    id: keys,
    sku: keys,
    title: texts.filter((text) => /\S/u.test(text)),
    available: fc.boolean(),
    featured_image: urls,
    url: urls,
    description: fc.option(texts),
    price: prices,
    price_max: prices,
    images: fc.option(fc.array(urls, { maxLength: 3 })),
  },
  { requiredKeys: ["id", "sku", "title", "available", "featured_image", "url"] },
);
const sites = fc.record(
  { siteId: fc.constantFrom("web", "", "nope"), siteType: fc.constantFrom("shop", "", "x") },
  { requiredKeys: [] },
);
const bodies = {
  one: fc.tuple(sentProducts, sites).map(([sent, site]) => ({ product: sent, ...site })),
  many: fc.tuple(fc.array(sentProducts, { maxLength: 3 }), sites).map(([list, site]) => ({ products: list, ...site })),
};

/** An import as it goes out, and how its answer is read. */
const imports = fc.oneof(
  ...(["one", "many"] as const).flatMap((kind) => {
    const query = kind === "one" ? importOne : importMany;
    const wrapped = bodies[kind].map((variables) => ({ query, variables }));
    return [
      damaged(mutated(bodies[kind]).map(writeJson)).map((body) => ({ style: "rest" as const, kind, query, body })),
      damaged(mutated(wrapped).map(writeJson)).map((body) => ({ style: "graphql" as const, kind, query, body })),
    ];
  }),
);
type Import = typeof imports extends fc.Arbitrary<infer Value> ? Value : never;

const json = { "content-type": "application/json" };

/** Sends an import. Gives what was stored of it, by the answer; undefined where nothing was. */
async function sendImport({ style, kind, query, body }: Import) {
  const path = style === "graphql" ? "/graphql" : kind === "one" ? paths.one : paths.bulk;
  const answer = await sendRaw(app, store, { method: "POST", path, headers: json, body });
  const checked = style === "graphql" ? checkedGraphQL(answer) : checkedRest(answer);
  const result = style === "rest" ? checked : checked.data?.[kind === "one" ? "importProduct" : "importProducts"];
  if (style === "rest" ? answer.status !== 200 : (result ?? null) === null) return undefined;
  const sent = JSON.parse(body.toString("utf8").replace(/^\uFEFF/u, ""));
  if (style === "rest") expect(findFaults(bodySchema(path), sent)).toEqual([]);
  else expect(sent.query).toBe(query);
  const variables = style === "rest" ? sent : sent.variables;
  const list: any[] = kind === "one" ? [variables.product] : [variables.products].flat();
  return { result, list, siteId: variables.siteId };
}

/** The published schema of a body: whatever is accepted must fit it. */
function bodySchema(path: string): Document {
  const place = operationsOf(document).find((operation) => operation.path === path && operation.method === "POST");
  const body = resolved(document, place?.operation["requestBody"]);
  return body["content"]["application/json"].schema;
}

async function importing(catalog: Catalog, sent: Import): Promise<void> {
  const before = await digestOf(app, store);
  const stored = await sendImport(sent);
  if (stored === undefined || stored.list.length === 0) return expect(await digestOf(app, store)).toBe(before);
  const counts = catalog.import(stored.list, stored.siteId);
  expect(stored.result).toEqual({ message: expect.any(String), imported: stored.list.length, ...counts });
  expect(await storedRows(app, store)).toEqual(catalog.rows);
}

test("whatever an import holds, it is stored just as it was sent, or refused and nothing is stored", async () => {
  const property = fc.asyncProperty(fc.array(imports, { minLength: 1, maxLength: 2 }), async (list) => {
    const catalog = await catalogOf(app, store);
    for (const sent of list) await importing(catalog, sent);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});

/** A text as a part of a path or query string, encoded by the book or by somebody else. */
const encodings = fc.constantFrom(
  (text: string) => encodeURIComponent(text.toWellFormed()),
  (text: string) => Buffer.from(text).toString("hex").replaceAll(/../gu, "%$&"),
  (text: string) => Buffer.from(text).toString("hex").toUpperCase().replaceAll(/../gu, "%$&"),
);
const queries = fc.array(
  fc.tuple(
    fc.constantFrom("siteId", "siteType", "productId", "__proto__", "x"),
    fc.oneof(fc.constantFrom("web", "shop", ""), shortTexts),
  ),
  { maxLength: 3 },
);
const calls = fc.record({
  method: fc.constantFrom("GET", "GET", "DELETE"),
  productId: shortKeys,
  encode: encodings,
  query: queries,
});
type ProductCall = typeof calls extends fc.Arbitrary<infer Value> ? Value : never;

/** Why the names of a call's parameters are refused: a write takes no others, and no call takes one twice. */
function refusalOf({ method, query }: ProductCall): string | undefined {
  const names = query.map(([name]) => name);
  const siteNames = names.filter((name) => name.startsWith("site"));
  const others = method === "DELETE" ? names.filter((name) => !name.startsWith("site")) : [];
  if (others.includes("productId")) return "BAD_REQUEST"; // the path has it
  return others.length > 0 || new Set(siteNames).size < siteNames.length ? "VALIDATION_FAILED" : undefined;
}

async function callingProduct(catalog: Catalog, call: ProductCall) {
  const { method, productId, encode, query } = call;
  const before = await digestOf(app, store);
  const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  const path = `${paths.one}/${encode(productId)}`;
  const answer = await sendRaw(app, store, { method, path: `${path}?${search}` });
  if (productId === "") return checkRedirect(answer, `${paths.one}/`, search);
  const body = checkedRest(answer);
  const refusal = refusalOf(call);
  const parameter = (name: string) => query.find((pair) => pair[0] === name)?.[1].toWellFormed();
  const [siteId, siteType] = [parameter("siteId"), parameter("siteType")];
  const isSite = !siteId || (siteId === "web" && (!siteType || siteType === "shop"));
  const found = isSite && refusal === undefined ? catalog.find(productId.toWellFormed(), siteId) : undefined;
  if (found === undefined) {
    expect(body.code).toBe(refusal ?? (isSite ? "PRODUCT_NOT_FOUND" : "SITE_NOT_FOUND"));
  } else if (method === "GET") {
    const { id, sku, title, featuredImage: featured_image, url } = found;
    expect(body).toEqual({ id, sku, title, featured_image, url });
  } else {
    expect(body).toEqual({ message: `Product ${found.id} was deleted.` });
    catalog.delete(found.id);
    return expect(await storedRows(app, store)).toEqual(catalog.rows);
  }
  expect(await digestOf(app, store)).toBe(before);
}

test("whatever stands in the path and the query string, the product of just that id or sku is answered or deleted, or none", async () => {
  const property = fc.asyncProperty(
    fc.array(sentProducts, { maxLength: 2 }),
    fc.array(calls, { minLength: 1, maxLength: 2 }),
    async (products, list) => {
      const catalog = await catalogOf(app, store);
      const body = Buffer.from(JSON.stringify({ products }));
      await importing(catalog, { style: "rest", kind: "many", query: importMany, body });
      for (const call of list) await callingProduct(catalog, call);
    },
  );
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});
