import { describe, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import {
  type ExpectedProblem,
  graphqlError,
  invalid,
  notThis,
  noSite,
  refusal,
  refusedOperation,
} from "../support/problems.js";
import { importMany, importOne, paths, product, storedProducts } from "../support/products.js";

const app = await openTestApp();
/** Nothing is ever stored in it. */
const store = await createTestStore(app);

const json = { "content-type": "application/json" };
const posts = [paths.one, paths.bulk, paths.csv];
const csvContent = "id,sku,title,available,featured_image,url\na,s,T,true,//a.example,//a.example";
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Posts a body as it is. */
async function postRaw(path: string, body: string | Uint8Array<ArrayBuffer>) {
  return readAnswer(await store.fetch(path, { method: "POST", headers: json, body }));
}

async function expectNothingStored(): Promise<void> {
  expect(await storedProducts(app, store)).toEqual([]);
}

const notJson = (column: number) => `The body is not valid JSON in UTF-8: see line 1, column ${column}.`;

describe("a body that is not a JSON object is a bad request", () => {
  test.each([
    ["empty", "", notJson(1)],
    ["cut off", '{"product":{"id":"a"', notJson(21)],
    ["with a trailing comma", '{"product":{},}', notJson(15)],
    ["with a comment", '{/* */"product":{}}', notJson(2)],
    ["with NaN", '{"product":{"price":NaN}}', notJson(21)],
    ["with a raw NUL", '{"product":"\0"}', notJson(12)],
    ["two documents", "{}{}", notJson(3)],
    ["form fields", "product=x", notJson(1)],
    ["broken UTF-8", new Uint8Array([...Buffer.from('{"product":"'), 0xff, ...Buffer.from('"}')]), notJson(13)],
    ["UTF-16", new Uint8Array(Buffer.from('{"product":{}}', "utf16le")), notJson(2)],
    ["arrays of a million levels", nested(1_000_000), "The body may have at most 64 levels of arrays and objects."],
  ])("%s", async (_, body, message) => {
    for (const path of posts) expect(await postRaw(path, body)).toEqual(refusal("BAD_REQUEST", message));
  });

  test.each([
    ["null", "null"],
    ["[]", "an array"],
    ['[{"id":"a"}]', "an array"],
    ['"x"', '"x"'],
    ["1", "1"],
    ["true", "true"],
  ])("%s, and the answer shows what each path expects", async (body, shown) => {
    for (const [path, example] of [
      [paths.one, '{"product": {…}}'],
      [paths.bulk, '{"products": [{…}]}'],
      [paths.csv, '{"csvContent": "…"}'],
    ] as const) {
      const message = `The body must be a JSON object, such as ${example}, not ${shown}.`;
      expect(await postRaw(path, body)).toEqual(refusal("BAD_REQUEST", message));
    }
  });

  test("a byte order mark is ignored", async () => {
    expect(await postRaw(paths.bulk, '\uFEFF{"products":[]}')).toMatchObject({ status: 200 });
  });

  test.each([
    ["null", "null", "POST body is expected to be object but received null"],
    ["an array", "[]", "Batching is not supported."],
    ["a string", '"x"', "POST body is expected to be object but received string"],
    ["empty", "", notJson(1)],
    ["cut off", '{"query":', notJson(10)],
    [
      "broken UTF-8",
      new Uint8Array([...Buffer.from('{"query":"{__typename}","variables":{"a":"'), 0xff, ...Buffer.from('"}}')]),
      notJson(43),
    ],
    ["without an operation", "{}", "Must provide query string."],
    ["with a mistyped operation", '{"query":5}', `Expected "query" param to be a string, but given number.`],
    [
      "with mistyped variables",
      '{"query":"{__typename}","variables":[]}',
      `Expected "variables" param to be empty or an object, but given array.`,
    ],
  ])("in GraphQL: %s", async (_, body, message) => {
    const answer = await postRaw("/graphql", body);
    expect(answer.body).toEqual(refusedOperation(message));
    expect([200, 400]).toContain(answer.status);
  });
});

describe("members of the body", () => {
  const missing = (name: string): ExpectedProblem => ({
    code: "REQUIRED",
    message: `${name} is required.`,
    path: [name],
  });
  const mistyped = (message: string, ...path: ExpectedProblem["path"]): ExpectedProblem => ({
    code: "INVALID_TYPE",
    message,
    path,
  });
  const unknown = (name: string): ExpectedProblem => ({
    code: "UNKNOWN_FIELD",
    message: `Unknown field "${name}".`,
    path: [name],
  });
  const valid = JSON.stringify(product("a"));

  test.each<[string, string, ExpectedProblem[]]>([
    [paths.one, "{}", [missing("product")]],
    [paths.one, '{"product":null}', [missing("product")]],
    ...["5", '"x"', "true", "[]", `[${valid}]`, nested(50)].map((value): [string, string, ExpectedProblem[]] => [
      paths.one,
      `{"product":${value}}`,
      [mistyped(`A product must be an object${notThis(JSON.parse(value))}`, "product")],
    ]),
    [paths.bulk, "{}", [missing("products")]],
    [paths.bulk, '{"products":null}', [missing("products")]],
    ...["5", '"x"', "{}", valid].map((value): [string, string, ExpectedProblem[]] => [
      paths.bulk,
      `{"products":${value}}`,
      [mistyped(`products must be an array${notThis(JSON.parse(value))}`, "products")],
    ]),
    [paths.bulk, `{"products":[${valid},null]}`, [mistyped("A product must be an object, not null.", "products", 1)]],
    [paths.bulk, `{"products":${nested(50)}}`, [mistyped("A product must be an object, not an array.", "products", 0)]],
    [paths.csv, "{}", [missing("csvContent")]],
    [paths.csv, '{"csvContent":null}', [missing("csvContent")]],
    [paths.csv, '{"csvContent":["id,sku"]}', [mistyped("csvContent must be a string, not an array.", "csvContent")]],
    [paths.one, `{"product":${valid},"siteId":5}`, [mistyped("siteId must be a string, not 5.", "siteId")]],
    [
      paths.bulk,
      `{"products":[],"siteId":["web"],"siteType":{}}`,
      [
        mistyped("siteId must be a string, not an array.", "siteId"),
        mistyped("siteType must be a string, not an object.", "siteType"),
      ],
    ],
    [paths.one, `{"product":${valid},"products":[]}`, [unknown("products")]],
    [paths.bulk, `{"products":[],"siteid":"web","storeId":"x"}`, [unknown("siteid"), unknown("storeId")]],
    [paths.csv, JSON.stringify({ csvContent, csv: 1 }), [unknown("csv")]],
    [paths.one, `{"product":${valid},"__proto__":{"siteId":"x"}}`, [unknown("__proto__")]],
    [paths.one, `{"product":${valid},"constructor":{}}`, [unknown("constructor")]],
    [
      paths.one,
      `{"product":${valid.slice(0, -1)},"price":1e999}}`,
      [
        {
          code: "INVALID_VALUE",
          message: "price must be a finite number of 0 or more, not 1e999.",
          path: ["product", "price"],
        },
      ],
    ],
    [
      paths.one,
      `{"product":${valid.slice(0, -1)},"id":${nested(50)}}}`,
      [mistyped("id must be a string, not an array.", "product", "id")],
    ],
  ])("%s refuses %.60s", async (path, body, problems) => {
    expect(await postRaw(path, body)).toEqual(invalid(...problems));
    await expectNothingStored();
  });

  test("__proto__ as a field of a product is unknown, gives it nothing, and leaves other objects alone", async () => {
    const { title: _, ...rest } = product("a");
    const sent = `${JSON.stringify(rest).slice(0, -1)},"__proto__":{"title":"T","polluted":true}}`;
    const problems = (...prefix: ExpectedProblem["path"]): ExpectedProblem[] => [
      { code: "UNKNOWN_FIELD", message: `A product has no field "__proto__".`, path: [...prefix, "__proto__"] },
      { code: "REQUIRED", message: "title is required.", path: [...prefix, "title"] },
    ];
    expect(await postRaw(paths.one, `{"product":${sent}}`)).toEqual(invalid(...problems("product")));
    const inGraphQL = await postRaw(
      "/graphql",
      `{"query":${JSON.stringify(importOne)},"variables":{"product":${sent}}}`,
    );
    expect(inGraphQL.body).toEqual({
      errors: [graphqlError("VALIDATION_FAILED", "2 problems. Nothing was stored.", problems("product"))],
    });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    await expectNothingStored();
  });

  test("tens of thousands of unknown fields get a short response", async () => {
    const extra = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`${index}${"x".repeat(80)}`, 1]));
    const { body } = await store.post("/graphql", { query: importOne, variables: { product: product("a", extra) } });
    expect(body.errors[0].extensions.errorsTotal).toBe(40_000);
    expect(JSON.stringify(body).length).toBeLessThan(40_000);
    await expectNothingStored();
  });
});

describe("sites", () => {
  test("an unknown site, one of another store, and one that cannot exist are refused by every import", async () => {
    const other = await createTestStore(app);
    await addSite(app.db, other.id, "theirs", "shop");
    for (const siteId of ["nope", "theirs", "\0", "\ud800", " ", "x".repeat(10_000)]) {
      expect(await store.post(paths.one, { product: product("a"), siteId })).toEqual(noSite);
      expect(await store.post(paths.bulk, { products: [product("a")], siteId })).toEqual(noSite);
      expect(await store.post(paths.csv, { csvContent, siteId })).toEqual(noSite);
      const { data, errors } = await store.graphql(importMany, { products: [product("a")], siteId });
      expect({ data, extensions: errors?.[0].extensions }).toEqual({
        data: { importProducts: null },
        extensions: graphqlError("SITE_NOT_FOUND", noSite.body.detail, noSite.body.errors).extensions,
      });
    }
    await expectNothingStored();
  });
});
