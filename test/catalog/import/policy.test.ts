import { describe, expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { postWithKey } from "../../support/http/idempotency.js";
import { invalid, noSite, type refusal } from "../../support/problems.js";
import { bulk, paths, product, products, storedKeys, storedProducts, longRows } from "../../support/products.js";
import { everythingOf } from "../../support/stored.js";

const app = await openTestApp({ bulkProductsMax: longRows + 1 });

const letGo = { errorPolicy: "REJECT_FAILED" };
const type = "application/json; charset=utf-8";
const badPrice = "price must be a finite number of 0 or more, not -1.";
const noUrl = "url is required.";

/** A whole answer of REST to an import with REJECT_FAILED. */
function partly(created: number, updated: number, failures: readonly object[]) {
  const { length: failedTotal } = failures;
  const imported = created + updated;
  const done = imported === 1 ? "1 product was imported" : `${imported} products were imported`;
  const message = failedTotal === 0 ? `${done}.` : `${done}, ${failedTotal} failed.`;
  return { status: 200, type, body: { message, imported, created, updated, failed: failedTotal, failures } };
}

/** A failed product of a list, with one problem. */
function failed(index: number, id: string | null, field: readonly (string | number)[], code: string, message: string) {
  const problem = { code, message, path: ["products", index, ...field], line: null };
  return { index, line: null, id, sku: id === null ? null : `sku-${id}`, problems: [problem], problemsTotal: 1 };
}

/** A failed row of a CSV, with one problem. */
function failedLine(line: number, id: string | null, field: readonly string[], code: string, message: string) {
  const problem = { code, message, path: ["csvContent", ...field], line };
  return { index: null, line, id, sku: id === null ? null : `sku-${id}`, problems: [problem], problemsTotal: 1 };
}

describe("REJECT_FAILED", () => {
  test("stores the others and reports the problems of each failed product, even of one that is not an object", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("old") });
    const list = [
      product("a"),
      product("b", { price: -1 }),
      product("c", { url: undefined }),
      product("old", { title: "New" }),
      null,
      5,
      product("d", { colour: "red" }),
      product("e", { available: "yes" }),
    ];
    expect(await store.post(paths.bulk, { ...letGo, products: list })).toEqual(
      partly(1, 1, [
        failed(1, "b", ["price"], "INVALID_VALUE", badPrice),
        failed(2, "c", ["url"], "REQUIRED", noUrl),
        failed(4, null, [], "INVALID_TYPE", "A product must be an object, not null."),
        failed(5, null, [], "INVALID_TYPE", "A product must be an object, not 5."),
        failed(6, "d", ["colour"], "UNKNOWN_FIELD", `A product has no field "colour".`),
        failed(7, "e", ["available"], "INVALID_TYPE", 'available must be true or false, not "yes".'),
      ]),
    );
    expect((await storedProducts(app, store)).map(({ id, title }) => [id, title])).toEqual([
      ["a", "Title a"],
      ["old", "New"],
    ]);
  });

  test("reports the problems of each product itself, whatever its id is", async () => {
    const store = await createTestStore(app);
    const list = [{ ...product("a"), id: "\u00000" }, { ...product("a"), id: "\u00001" }, product("b", { price: "1" })];
    const noNul = "id must not contain a NUL character.";
    const { body } = await store.post(paths.bulk, { ...letGo, products: list });
    const told = body.failures.map(({ problems }: any) => problems.map(({ message }: any) => message));
    expect(told.slice(0, 2).map(([message]: string[]) => message)).toEqual([noNul, noNul]);
    expect(told[2]).toEqual(['price must be a number, not "1".']);
  });

  test("reports the lines of a CSV, also those with a wrong number of cells", async () => {
    const store = await createTestStore(app);
    const [header, ...rows] = toCsv([product("a"), product("b", { price: -1 }), product("c")])
      .trimEnd()
      .split("\n");
    const cells = header?.split(",").length;
    const lines = [header, rows[0], "too,few", rows[1], `x,"y"z${",".repeat(9)}`, "", rows[2]];
    expect(await store.post(paths.csv, { ...letGo, csvContent: lines.join("\n") })).toEqual(
      partly(2, 0, [
        failedLine(3, null, [], "MALFORMED", `The row has 2 cells, but the header has ${cells}.`),
        failedLine(4, "b", ["price"], "INVALID_VALUE", badPrice),
        failedLine(5, null, [], "MALFORMED", "A closing quote must be followed by a comma or the end of the line."),
      ]),
    );
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a", c: "sku-c" });
  });

  test("reports a single product like one in a list", async () => {
    const store = await createTestStore(app);
    const failure = (code: string, message: string, field: string) => ({
      ...failed(0, "a", [], code, message),
      problems: [{ code, message, path: ["product", field], line: null }],
    });
    const send = (sent: object) => store.post(paths.one, { ...letGo, product: sent });
    expect(await send(product("a", { price: -1 }))).toEqual(
      partly(0, 0, [failure("INVALID_VALUE", badPrice, "price")]),
    );
    expect(await send(product("a", { url: null }))).toEqual(partly(0, 0, [failure("REQUIRED", noUrl, "url")]));
    expect(await send(product("a"))).toEqual(partly(1, 0, []));
  });

  test("rejects rows whose sku stays with a failed row, through chains of any length", async () => {
    const store = await createTestStore(app);
    const list = products(longRows);
    await store.post(paths.bulk, bulk(list));
    const before = await storedProducts(app, store);
    // Each product takes the sku of the next one; the last would have a new one, but is wrong.
    const shifted = list.map(({ id }, index) => product(id, { sku: list[index + 1]?.sku ?? "new" }));
    const broken = [...shifted.slice(0, -1), product(list.at(-1)?.id ?? "", { price: -1 })];
    const { status, body } = await store.post(paths.bulk, { ...letGo, products: broken });
    expect([status, body.imported, body.failed]).toEqual([200, 0, longRows]);
    expect(body.failures).toHaveLength(100);
    const message = `sku "sku-p00001" belongs to the product "p00001" of the store, which is at products[1].`;
    expect(body.failures[0]).toEqual({ ...failed(0, "p00000", ["sku"], "CONFLICT", message), sku: "sku-p00001" });
    expect(await storedProducts(app, store)).toEqual(before);
  });

  test.each([
    ["that are wrong by themselves", (index: number) => product(`new${index}`, { price: -1 })],
    ["whose ids and skus appear in others too", (index: number) => product(`same${index >> 1}`)],
    ["whose skus belong to other products", (index: number) => product(`new${index}`, { sku: `sku-old${index}` })],
  ])("lists the first hundred failures: products %s", async (_, sent) => {
    const store = await createTestStore(app);
    const numbers = Array.from({ length: 102 }, (_each, index) => index);
    await store.post(paths.bulk, bulk(numbers.map((index) => product(`old${index}`))));
    const { body } = await store.post(paths.bulk, { ...letGo, products: numbers.map(sent) });
    expect([body.imported, body.failed]).toEqual([0, 102]);
    expect(body.failures.map(({ index }: { index: number }) => index)).toEqual(numbers.slice(0, 100));
    expect(new Set(body.failures.map(({ problemsTotal }: { problemsTotal: number }) => problemsTotal)).size).toBe(1);
  });

  test("lists ten problems of a product and counts the others", async () => {
    const store = await createTestStore(app);
    const list = [product("a", { images: Array(250).fill("nowhere") }), product("b")];
    const { body } = await store.post(paths.bulk, { ...letGo, products: list });
    expect([body.imported, body.failures[0].problems.length, body.failures[0].problemsTotal]).toEqual([1, 10, 250]);
  });

  test.each<[string, string, object, ReturnType<typeof refusal>["body"]["code"]]>([
    ["an unknown site", paths.bulk, { products: [product("a")], siteId: "none" }, "SITE_NOT_FOUND"],
    ["too many products", paths.bulk, { products: products(longRows + 2) }, "VALIDATION_FAILED"],
    ["no list", paths.bulk, { products: {} }, "VALIDATION_FAILED"],
    ["no product", paths.one, { product: null }, "VALIDATION_FAILED"],
    ["a wrong member of the body", paths.bulk, { products: [product("a"), null], siteId: 5 }, "VALIDATION_FAILED"],
    ["an unknown policy", paths.bulk, { products: [product("a")], errorPolicy: "REJECT_SOME" }, "VALIDATION_FAILED"],
    ["too many rows", paths.csv, { csvContent: toCsv(products(longRows + 2)) }, "VALIDATION_FAILED"],
    [
      "an unknown column",
      paths.csv,
      { csvContent: toCsv([product("a")]).replace(",url", ",uri") },
      "VALIDATION_FAILED",
    ],
    ["no content", paths.csv, { csvContent: "" }, "VALIDATION_FAILED"],
  ])("still refuses a request that is invalid as a whole: %s", async (_, path, body, code) => {
    const store = await createTestStore(app);
    const answer = await store.post(path, { ...letGo, ...body });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(await storedProducts(app, store)).toEqual([]);
  });
});

describe("over GraphQL", () => {
  const fields = "{ imported failed failures { index id problems { code path } } }";
  const failure = { index: 1, id: "b", problems: [{ code: "REQUIRED", path: ["products", 1, "url"] }] };
  const list = [product("a"), product("b", { url: undefined })];

  test.each([
    ["written out", "", "REJECT_FAILED", {}],
    ["in a variable", ", $policy: ImportErrorPolicy", "$policy", { policy: "REJECT_FAILED" }],
    ["by a variable's default", ", $policy: ImportErrorPolicy = REJECT_FAILED", "$policy", {}],
  ])("the policy may be given %s, on every execution path", async (_, definition, policy, variables) => {
    const store = await createTestStore(app);
    const query = `mutation ($products: [ProductInput!]!${definition}) {
      importProducts(products: $products, errorPolicy: ${policy}) ${fields}
    }`;
    for (let turn = 0; turn < 4; turn += 1) {
      const answer = await store.graphql(query, { products: list, ...variables });
      expect(answer).toEqual({ data: { importProducts: { imported: 1, failed: 1, failures: [failure] } } });
    }
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
  });

  test("no product that is sent is mistaken for the placeholder of a malformed one", async () => {
    const store = await createTestStore(app);
    const query = `mutation ($products: [ProductInput!]!) {
      importProducts(products: $products, errorPolicy: REJECT_FAILED) { imported failures { index sku } }
    }`;
    const sent = [product("a", { url: undefined }), product("\u00000", { sku: "own" })];
    const failures = [
      { index: 0, sku: "sku-a" },
      { index: 1, sku: "own" },
    ];
    expect(await store.graphql(query, { products: sent })).toEqual({
      data: { importProducts: { imported: 0, failures } },
    });
  });

  test("a field with another policy in the same operation is refused alone", async () => {
    const store = await createTestStore(app);
    const query = `mutation ($products: [ProductInput!]!) {
      one: importProducts(products: $products, errorPolicy: REJECT_FAILED) ${fields}
      two: importProducts(products: $products) ${fields}
    }`;
    const { data, errors } = await store.graphql(query, { products: list });
    const problem = { code: "REQUIRED", message: noUrl, path: ["products", 1, "url"] };
    expect([data, errors?.map(({ path, extensions }) => [path, extensions.errors])]).toEqual([
      { one: expect.objectContaining({ imported: 1, failed: 1 }), two: null },
      [[["two"], [problem]]],
    ]);
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
  });
});

describe("a dry run", () => {
  const dry = { dryRun: true };

  test("reports what an import would do and stores nothing, in every way", async () => {
    const store = await createTestStore(app);
    await addSite(app.db, store.id, "de", "SHOP");
    await store.post(paths.one, { product: product("a") });
    const before = await everythingOf(app, store);
    const list = [product("a", { title: "New" }), product("b")];
    const body = { message: "2 products would be imported. Nothing was stored.", imported: 2, created: 1, updated: 1 };
    const args = { ...dry, siteId: "de" };
    expect(await store.post(paths.bulk, { ...args, products: list })).toEqual({ status: 200, type, body });
    expect(await store.post(paths.csv, { ...args, csvContent: toCsv(list) })).toEqual({ status: 200, type, body });
    const one = { ...body, message: "1 product would be imported. Nothing was stored.", imported: 1, created: 0 };
    expect(await store.post(paths.one, { ...args, product: list[0] })).toEqual({ status: 200, type, body: one });
    expect(await everythingOf(app, store)).toEqual(before);
  });

  test("finds problems that only the database can detect", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("other", { sku: "S" }) });
    const before = await everythingOf(app, store);
    const list = [product("a", { sku: "S" }), product("b")];
    const message = `sku "S" belongs to the product "other" of the store.`;
    const problem = { code: "CONFLICT", message, path: ["products", 0, "sku"] };
    expect(await store.post(paths.bulk, { ...dry, products: list })).toEqual(invalid(problem));
    const failure = { ...failed(0, "a", ["sku"], "CONFLICT", message), sku: "S" };
    const { body } = partly(1, 0, [failure]);
    expect(await store.post(paths.bulk, { ...dry, ...letGo, products: list })).toEqual({
      status: 200,
      type,
      body: { ...body, message: "1 product would be imported, 1 would fail. Nothing was stored." },
    });
    expect(await store.post(paths.bulk, { ...dry, products: list, siteId: "none" })).toEqual(noSite);
    expect(await everythingOf(app, store)).toEqual(before);
  });

  test("neither uses nor reads an Idempotency-Key, and leaves the answer of a partial import to be replayed", async () => {
    const store = await createTestStore(app);
    const body = { ...letGo, products: [product("a"), product("b", { price: -1, title: "\0" })] };
    const trial = () => postWithKey(store, paths.bulk, { ...body, ...dry }, "k");
    expect(await trial()).toMatchObject({ status: 200, replayed: null });
    const first = await postWithKey(store, paths.bulk, body, "k");
    expect([first.replayed, JSON.parse(first.text)]).toMatchObject([null, { imported: 1, created: 1, failed: 1 }]);
    expect(await postWithKey(store, paths.bulk, body, "k")).toEqual({ ...first, replayed: "true" });
    expect(await trial()).toMatchObject({ status: 200, replayed: null });
  });
});
