import { parse, validate } from "graphql";
import { describe, expect, test } from "vitest";
import { definitionBeyond } from "../../../src/api/execution/validation/comparisons.js";
import { limits, rulesFirst, validateBounded } from "../../../src/api/execution/validation/limits.js";
import { parseBounded } from "../../../src/api/execution/validation/parse.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { fullIntrospection } from "../../support/http/introspection.js";
import { graphqlError, refusedOperation } from "../../support/problems.js";

const app = await openTestApp();
const store = await createTestStore(app);

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");

/** What the limits say of an operation. */
function problemsOf(text: string): string[] {
  return validate(schema, parseBounded(text), rulesFirst).map(({ message }) => message);
}

/** `levels` fields within each other, as introspection has them. */
function nested(levels: number): string {
  const inner = levels - 3;
  return `{ __type(name: "Query") { ${"ofType { ".repeat(inner)} ofType { name } ${"} ".repeat(inner)} } }`;
}

const tooDeep = "An operation may be nested at most 20 fields deep.";
const tooManyAliases = "An operation may have at most 300 aliases.";
const tooManyRootFields = "An operation may have at most 300 root fields.";
const tooManyImports = "An operation may have at most 5 imports.";
const importAs = (i: number) => `a${i}: importProductsCsv(csvContent: "${i}") { message }`;
const tooManyDirectives = "An operation may have at most 50 directives.";
const tooCostly = "An operation may cost at most 20000: each field counts 1 for each item of the pages it is in.";

const tooManyComparisons =
  "An operation may need at most 50000 comparisons of fields that meet in one place of the answer: select each once, with fewer fragments.";

describe("each limit is exact:", () => {
  const spreadsOf = (length: number, on: string, fields: string) =>
    `{ product(productId: "a") { ${many(length, () => "...F")} } } fragment F on ${on} { ${fields} }`;
  const include = (length: number) => many(length, (i) => `id @include(if: ${i % 2 === 0})`);
  const costOf = (cost: number) =>
    `{ products(first: 100) { nodes { ${many(197, () => "id")} } } ${many(cost - 19_900, () => "__typename")} }`;

  test.each<[string, string, (count: number) => string, number]>([
    ["depth", tooDeep, nested, limits.depth],
    [
      "depth, with fragments",
      tooDeep,
      (levels) => `{ __type(name: "Query") { ...F } }
        fragment F on __Type { ${"ofType { ".repeat(levels - 2)} name ${"} ".repeat(levels - 2)} }`,
      limits.depth,
    ],
    [
      "aliases",
      tooManyAliases,
      (count) => `{ product(productId: "a") { ${many(count, (i) => `a${i}: id`)} } }`,
      limits.aliases,
    ],
    ["aliases, with fragments", tooManyAliases, (count) => spreadsOf(count, "Product", "a: id"), limits.aliases],
    ["root fields", tooManyRootFields, (count) => `{ ${many(count, () => "__typename")} }`, limits.rootFields],
    [
      "root fields, with fragments",
      tooManyRootFields,
      (count) => `{ __typename ${many(count - 1, () => "...F")} } fragment F on Query { __typename }`,
      limits.rootFields,
    ],
    [
      "directives",
      tooManyDirectives,
      (count) => `{ product(productId: "a") { ${include(count)} } }`,
      limits.directives,
    ],
    [
      "directives, with fragments",
      tooManyDirectives,
      (count) => spreadsOf(count, "Product", "id @skip(if: false)"),
      limits.directives,
    ],
    ["cost", tooCostly, costOf, limits.cost],
    ["imports", tooManyImports, (count) => `mutation { ${many(count, importAs)} }`, limits.imports],
    [
      "imports, with fragments",
      tooManyImports,
      (count) => `mutation { ${many(count - 1, () => "... { ...F }")} ...F } fragment F on Mutation { ${importAs(0)} }`,
      limits.imports,
    ],
  ])("%s", (_, message, text, limit) => {
    expect(problemsOf(text(limit))).toEqual([]);
    expect(problemsOf(text(limit + 1))).toEqual([message]);
  });

  test("tokens", async () => {
    const text = (images: number) =>
      `mutation { importProduct(product: { id: "a", images: [${many(images, () => '""')}] }) { message } }`;
    const others = parse(text(0)).tokenCount ?? 0;
    const [within, above] = [text(limits.tokens - others), text(limits.tokens + 1 - others)];
    const { errors } = await store.graphql(within);
    expect(errors).toContainEqual(
      expect.objectContaining({ message: `Field "ProductInput.sku" of required type "String!" was not provided.` }),
    );
    const message = "Syntax Error: Document contains more that 5000 tokens. Parsing aborted.";
    expect(await store.graphql(above)).toMatchObject({ errors: [graphqlError("BAD_REQUEST", message)] });
  });
});

describe("the cost of a page", () => {
  const page = (first: string, fields: number) =>
    problemsOf(
      `query ($n: Int) { products${first} { nodes { ${many(fields, () => "id")} } } __typename @skip(if: false) }`,
    );

  test.each([
    ["is its size", "(first: 50)", 396],
    ["is the largest for a variable", "(first: $n)", 197],
    ["is the largest for a size out of bounds", "(first: 1000000000000)", 197],
    ["is that of the default where it is left out", "", 993],
    ["is that of the default for null", "(first: null)", 993],
  ])("%s", (_, first, fields) => {
    expect(page(first, fields)).toEqual([]);
    expect(page(first, fields + 2)).toEqual([tooCostly]);
  });

  test("counts for fragments within it", () => {
    const text = (fields: number) =>
      `{ products(first: 100) { ...F } } fragment F on ProductConnection { nodes { ...G } } fragment G on Product { ${many(fields, () => "id")} }`;
    expect(problemsOf(text(198))).toEqual([]);
    expect(problemsOf(text(199))).toEqual([tooCostly]);
  });
});

test("an exceeded limit is a bad request with its location, however often it is sent", async () => {
  const text = `query Deep ${nested(limits.depth + 1)}`;
  for (let n = 0; n < 4; n += 1) expect(await store.graphql(text)).toEqual(refusedOperation(tooDeep, 1, 1));
  const response = await store.fetch(`/graphql?query=${encodeURIComponent(text)}`);
  expect(await response.json()).toEqual(refusedOperation(tooDeep, 1, 1));
});

test("full introspection is within the limits", async () => {
  const { data, errors } = await store.graphql(fullIntrospection);
  expect(errors).toBeUndefined();
  expect(data.__schema.queryType.name).toBe("Query");
});

// Where one of these takes exponential time, its test does not end.
describe("refused at once", () => {
  const bomb = (levels: number, leaf: string, on: string) =>
    `${many(levels, (i) => `fragment F${i} on ${on} { ...F${i + 1} ...F${i + 1} }`)} fragment F${levels} on ${on} { ${leaf} }`;
  const clique = many(12, (i) => `fragment F${i} on __Type { ${many(12, (j) => (i === j ? "name" : `...F${j}`))} }`);
  const cycle = (name: string) => `Cannot spread fragment "${name}" within itself.`;

  test.each([
    ["30 fragments that each spread the next twice", `{ ...F0 } ${bomb(30, "__typename", "Query")}`, tooManyRootFields],
    ["the same, below introspection", `{ __type(name: "Query") { ...F0 } } ${bomb(30, "name", "__Type")}`, tooCostly],
    [
      "the same, that no operation spreads",
      `{ __typename } fragment X on Query { __type(name: "Query") { ...F0 } } ${bomb(30, "name", "__Type")}`,
      tooCostly,
    ],
  ])("%s", async (_, text, message) => {
    expect(await store.graphql(text)).toMatchObject({ errors: [graphqlError("BAD_REQUEST", message)] });
  });

  test("fragments in cycles, with GraphQL's own error", async () => {
    const text = '{ product(productId: "a") { ...A } } fragment A on Product { id ...A }';
    expect(await store.graphql(text)).toMatchObject({ errors: [graphqlError("BAD_REQUEST", cycle("A"))] });
    const { errors } = await store.graphql(`{ __type(name: "Query") { ...F0 } } ${clique}`);
    expect(errors?.[0].message).toMatch(/^Cannot spread fragment "F0" within itself/u);
  });

  test("5,000 aliases, in one level or in far more by fragments", async () => {
    const { errors } = await store.graphql(`{ ${many(5_000, (i) => `a${i}: __typename`)} }`);
    expect(errors?.[0].message).toBe("Syntax Error: Document contains more that 5000 tokens. Parsing aborted.");
    const text = `{ product(productId: "a") { ${many(1_000, () => "...F")} } } fragment F on Product { ${many(900, (i) => `a${i}: id`)} }`;
    expect(problemsOf(text)).toEqual([tooManyAliases]);
  });

  test.each([
    ["fields", "{a".repeat(10_000) + "}".repeat(10_000)],
    ["inline fragments", `${"{...".repeat(10_000)}{__typename}${"}".repeat(10_000)}`],
    ["1,200 levels of fields", "{a".repeat(1_200) + "}".repeat(1_200)],
  ])("deep nesting of %s, without a report of an internal error", async (_, text) => {
    const { errors } = await store.graphql(text);
    expect(errors).toMatchObject([{ extensions: { code: "BAD_REQUEST" } }]);
    expect(errors?.[0].message).toMatch(/nested|tokens/u);
  });

  const inShow = (fields: string) => `{ liveStreamAnalytics(lsId: "a") { ${fields} } }`;
  const fragments = (length: number, on: string, fields: string, next = false) =>
    many(length, (i) => `fragment F${i} on ${on} { ${fields} ${next && i < length - 1 ? `...F${i + 1}` : ""} }`);
  const kpi = "kpis { conversionRate }";
  const pairwise: readonly (readonly [string, (count: number) => string, beyond: number])[] = [
    ["equal fields", (count) => inShow(many(count, () => kpi)), 1_200],
    ["equal fields in inline fragments", (count) => inShow(many(count, () => `... { ${kpi} }`)), 700],
    [
      "fragments that are spread in one place",
      (count) => `${inShow(many(count, (i) => `...F${i}`))} ${fragments(count, "LiveStreamAnalytics", kpi)}`,
      400,
    ],
    [
      "fragments that are spread within equal fields",
      (count) => `${inShow(many(count, (i) => `kpis { ...F${i} }`))} ${fragments(count, "Kpis", "conversionRate")}`,
      400,
    ],
    ["fragments in a chain", (count) => `{ ...F0 } ${fragments(count, "Query", "__typename", true)}`, 290],
    [
      "fragments in a chain that no operation spreads",
      (count) => `{ __typename } ${fragments(count, "Query", "__typename", true)}`,
      290,
    ],
    [
      "operations that spread the same fragments",
      (count) => `${many(count, (i) => `query Q${i} { ...F0 }`)} ${fragments(count, "Query", "__typename", true)}`,
      290,
    ],
  ];

  test.each(pairwise)("%s, which are compared in pairs, beyond a limit of comparisons", (_, text, beyond) => {
    const problems = (count: number) =>
      validateBounded(schema, parseBounded(text(count))).map(({ message, locations }) => ({
        message,
        line: locations?.[0]?.line,
      }));
    let most = 1;
    while (definitionBeyond(parse(text(most + 1)), limits.comparisons) === undefined) most += 1;
    expect(most).toBeLessThan(beyond);
    expect(problems(beyond)).toEqual([{ message: tooManyComparisons, line: 1 }]);
    expect(problems(most + 1)).toEqual([{ message: tooManyComparisons, line: 1 }]);
    expect(problems(most).map(({ message }) => message)).not.toContain(tooManyComparisons);
  });

  test("equal fields beyond the limit of comparisons", async () => {
    const text = inShow(many(600, () => kpi));
    expect(await store.graphql(text)).toMatchObject({ errors: [graphqlError("BAD_REQUEST", tooManyComparisons)] });
  });

  test("circular introspection, whose response would grow with each level", async () => {
    const around = "fields { type { ";
    const circles = (count: number) =>
      `{ __schema { types { ${around.repeat(count)} name ${"} } ".repeat(count)} } } }`;
    const tooManyCircles = graphqlError("BAD_REQUEST", "Maximum introspection depth exceeded");
    expect(await store.graphql(circles(3))).toMatchObject({ errors: [tooManyCircles] });
    expect(await store.graphql(circles(4))).toMatchObject({ errors: [graphqlError("BAD_REQUEST", tooCostly)] });
  });
});
