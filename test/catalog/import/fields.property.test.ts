import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importCsv } from "../../../src/catalog/import/ways/text.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { type ColumnType, productColumns } from "../../../src/catalog/product/product.columns.js";
import { type ProductInput, productFieldNames, productFields } from "../../../src/catalog/product/product.fields.js";
import { checkProduct } from "../../../src/catalog/product/product.input.js";
import { ruleOf } from "../../../src/catalog/product/product.rules.js";
import { Problems } from "../../../src/errors.js";
import { documentedFields } from "../../../src/rest/routes/routes.contract.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { anyUrl } from "../../support/fuzz/anyUrl.js";
import { openFolder } from "../../support/folder.js";
import { toCsv } from "../../support/catalog/csv.js";
import {
  importMany,
  importOne,
  paths,
  product as whole,
  products,
  readProduct,
  type Sent,
  storedKeys,
  storedValue,
  longRows,
} from "../../support/products.js";

// A field of productFields that one statement, type or parser does not know is lost in one of these ways, or cannot be read.

const app = await openTestApp();
const folder = await openFolder();

/** Sends an import over REST, or GraphQL, and expects that it succeeds. */
const rest = async (store: TestStore, path: string, body: object) =>
  expect(await store.post(path, body)).toMatchObject({ status: 200 });
const graphql = async (store: TestStore, operation: string, variables: object) =>
  expect(await store.graphql(operation, variables)).not.toHaveProperty("errors");

const importText =
  "mutation ($csvContent: String!, $policy: ImportErrorPolicy) { importProductsCsv(csvContent: $csvContent, errorPolicy: $policy) { imported } }";
const patchMany = "mutation ($products: [ProductPatchInput!]!) { patchProducts(products: $products) { updated } }";
const patch = { mode: "PATCH" };
/** A patch that has the same effect as the whole product: what that lacks is null. */
const cleared = (each: Sent): Sent => Object.fromEntries(productFieldNames.map((name) => [name, each[name] ?? null]));

async function sendNdjson(store: TestStore, list: readonly Sent[], mode: string): Promise<void> {
  const headers = { "content-type": "application/x-ndjson" };
  const body = list.map((each) => `${JSON.stringify(each)}\n`).join("");
  const response = await store.fetch(`${paths.bulk}?mode=${mode}`, { method: "POST", headers, body });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

/** A row that fails: the others are then stored from the table that an import collects its rows in. */
const failing = { id: "fails" };
/** So many that the import is stored in several steps: on the embedded engine by the tables of staged imports. */
const filler = products(longRows);

const ways: Readonly<Record<string, (store: TestStore, list: readonly Sent[]) => Promise<unknown>>> = {
  "REST, one by one": async (store, list) => {
    for (const product of list) await rest(store, paths.one, { product });
  },
  "REST, as a list": (store, list) => rest(store, paths.bulk, { products: list }),
  "REST, as a list of which others fail": (store, list) =>
    rest(store, paths.bulk, { products: [...list, failing], errorPolicy: "REJECT_FAILED" }),
  "REST, as a long list": (store, list) => rest(store, paths.bulk, { products: [...filler, ...list] }),
  "REST, as CSV": (store, list) => rest(store, paths.csv, { csvContent: toCsv(list) }),
  "REST, as long CSV": (store, list) => rest(store, paths.csv, { csvContent: toCsv([...filler, ...list]) }),
  "GraphQL, one by one": async (store, list) => {
    for (const product of list) await graphql(store, importOne, { product });
  },
  "GraphQL, as a list": (store, list) => graphql(store, importMany, { products: list }),
  "GraphQL, as CSV": (store, list) => graphql(store, importText, { csvContent: toCsv(list) }),
  "GraphQL, as CSV of which others fail": (store, list) =>
    graphql(store, importText, { csvContent: toCsv([...list, failing]), policy: "REJECT_FAILED" }),
  "a CSV file, as the command takes it": async (store, list) => {
    const file = join(folder, `${store.id}.csv`);
    await writeFile(file, toCsv(list));
    await importCsv(app.db, store.id, { file });
  },
  "REST, as long CSV of which others fail": (store, list) =>
    rest(store, paths.csv, {
      csvContent: toCsv([...filler, ...list, failing]),
      errorPolicy: "REJECT_FAILED",
    }),
  "REST, as a patch": (store, list) => rest(store, paths.bulk, { products: list.map(cleared), ...patch }),
  "REST, as a patch of which others fail": (store, list) =>
    rest(store, paths.bulk, { products: [...list.map(cleared), failing], ...patch, errorPolicy: "REJECT_FAILED" }),
  "REST, as a long patch": (store, list) =>
    rest(store, paths.bulk, { products: [...filler, ...list.map(cleared)], ...patch }),
  "REST, as CSV of a patch": (store, list) => rest(store, paths.csv, { csvContent: toCsv(list), ...patch }),
  "REST, as NDJSON": (store, list) => sendNdjson(store, list, "UPSERT"),
  "REST, as NDJSON of a patch": (store, list) => sendNdjson(store, list.map(cleared), "PATCH"),
  "GraphQL, as a patch": (store, list) => graphql(store, patchMany, { products: list.map(cleared) }),
  "patches of one field each": async (store, list) => {
    const known = await storedKeys(app, store);
    const added = list.map(({ id }) => String(id)).filter((id) => !Object.hasOwn(known, id));
    await rest(store, paths.bulk, { products: added.map((id) => whole(id, { sku: `new ${id}` })) });
    const none = { price: null, price_min: null, price_max: null }; // no old price is below a new one meanwhile
    await rest(store, paths.bulk, { products: list.map(({ id }) => ({ id, ...none })), ...patch });
    for (const name of productFieldNames) {
      const patches = list.map(({ id, [name]: value = null }) => ({ id, [name]: name === "id" ? id : value }));
      await rest(store, paths.bulk, { products: patches, ...patch });
    }
  },
  "products in memory": (store, list) => importProducts(app.db, store.id, list),
  "products of which others fail": (store, list) =>
    importProducts(app.db, store.id, [...list, {}], { errorPolicy: "REJECT_FAILED" }),
};

const values: { readonly [T in ColumnType]: fc.Arbitrary<unknown> } = {
  text: fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), anyUrl),
  numeric: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  "text[]": fc.array(anyUrl, { minLength: 1, maxLength: 3 }),
};

/** Values that a field accepts. */
function fieldValue(name: keyof ProductInput): fc.Arbitrary<unknown> {
  return values[productColumns[name].type].filter((candidate) => {
    let isValid = true;
    ruleOf(productFields[name])(candidate, name, () => (isValid = false));
    return isValid;
  });
}

/** Valid products, whose optional fields have values, or are null or missing as often as `weights` say. */
function productWith(weights: { readonly value: number; readonly none: number }): fc.Arbitrary<Sent> {
  const optional = (value: fc.Arbitrary<unknown>) =>
    fc.oneof(
      { weight: weights.value, arbitrary: value },
      { weight: weights.none, arbitrary: fc.constantFrom(null, undefined) },
    );
  const field = (name: keyof ProductInput) =>
    productFields[name].required ? fieldValue(name) : optional(fieldValue(name));
  return fc
    .record(Object.fromEntries(productFieldNames.map((name) => [name, field(name)])))
    .filter((candidate) => checkProduct(candidate, { path: [] }, new Problems()));
}

const [full, bare, mixed] = [
  productWith({ value: 1, none: 0 }),
  productWith({ value: 0, none: 1 }),
  productWith({ value: 1, none: 1 }),
];

/** Products, and what replaces them: every optional field gets a value, loses it, and changes it. */
const twoImports: fc.Arbitrary<readonly (readonly Sent[])[]> = fc
  .tuple(fc.tuple(bare, full), fc.tuple(full, bare), fc.tuple(full, full), fc.tuple(mixed, mixed))
  .map((pairs) =>
    ([0, 1] as const).map((version) =>
      pairs.map((pair, index) => ({
        ...pair[version],
        id: `${index} ${String(pair[0]["id"])}`,
        sku: `${index} ${version} ${String(pair[version]["sku"])}`,
      })),
    ),
  );

const allFields = productFieldNames.join(" ");
const eachAlone = `{ ${productFieldNames.map((name) => `${name}: products(first: 4) { nodes { id ${name} } }`).join(" ")} }`;

async function readByGraphql(store: TestStore, { id }: Sent): Promise<unknown> {
  const { data } = await store.graphql(`query ($id: String!) { product(productId: $id) { ${allFields} } }`, { id });
  return data.product;
}

/** A list reads no long texts where nobody asks for them: so each field is asked for alone. */
async function readLists(store: TestStore): Promise<unknown> {
  const { data } = await store.graphql(eachAlone);
  return Object.fromEntries(productFieldNames.map((name) => [name, data[name].nodes]));
}

describe("every field of a product is stored, replaced and read back", () => {
  test.each(Object.keys(ways))("%s", async (way) => {
    const isLong = way.includes("long");
    // One input has a product for each change of a field: value to none, none to value, and to another value.
    const property = fc.asyncProperty(twoImports, async (imports) => {
      const store = await createTestStore(app);
      for (const list of imports) {
        await ways[way]?.(store, list);
        for (const sent of list) {
          const expected = readProduct(sent);
          expect(await readByGraphql(store, sent)).toEqual(expected);
          const shown = (documentedFields["Product"] ?? []).map((name) => [name, expected[name]]);
          expect((await store.get(paths.of(String(sent["id"])))).body).toEqual(Object.fromEntries(shown));
        }
        if (isLong) continue; // the filler comes first in lists
        const nodes = (name: keyof ProductInput) =>
          list.map((sent) => ({ id: sent["id"], [name]: storedValue(name, sent[name]) }));
        expect(await readLists(store)).toEqual(
          Object.fromEntries(productFieldNames.map((name) => [name, nodes(name)])),
        );
      }
    });
    await fc.assert(property, { numRuns: 1 });
  });
});
