import { beforeAll, describe, expect, test } from "vitest";
import { createTestStore, openTestApp, startApp } from "../../support/app.js";
import { importMany, importOne, product, products } from "../../support/products.js";
import { readAnalytics, readShow, record } from "../../support/shows.js";

// Ordinary POSTs of an operation that came before pass by Yoga, and from its third time on run compiled. With a query
// string, which means nothing here, they never do. Nobody may see a difference.

const app = await openTestApp({ analyticsRateLimit: 0, bulkProductsMax: 3 });
const store = await createTestStore(app);
beforeAll(async () => {
  await store.graphql(importMany, {
    products: products(3, (i) => ({ price: i / 3, images: ["//cdn.example/1.jpg"] })),
  });
  const show = { id: "show", name: "Show", status: "ENDED", startedAt: "2026-05-04T18:30:00Z", durationSeconds: 60 };
  await store.graphql("mutation ($show: LiveStreamInput!) { saveLiveStream(liveStream: $show) { id } }", { show });
});

type Body = Readonly<Record<string, unknown>> | string;

async function answerTo(path: string, body: Body, headers: Readonly<Record<string, string>> = {}) {
  const response = await store.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const {
    "x-request-id": _,
    date: __,
    connection: ___,
    "keep-alive": ____,
    ...kept
  } = Object.fromEntries(response.headers);
  return { status: response.status, headers: kept, text: await response.text() };
}

/** The answers of Yoga, and of the lane: often enough for the operation to become known, and be compiled. */
async function answersOfBoth(body: Body, headers?: Readonly<Record<string, string>>) {
  const yoga = await answerTo("/graphql?lane=yoga", body, headers);
  const lane: (typeof yoga)[] = [];
  for (let n = 0; n < 3; n += 1) lane.push(await answerTo("/graphql", body, headers));
  return { yoga, lane };
}

const readProduct = "query Read($id: String!) { product(productId: $id) { id sku price images createdAt } }";
const twoOperations = `${readProduct} query Other { liveStreams { nodes { id } } }`;
const blank = product("blank", { title: " " });
const byHash = { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } };

/** Where `a` is selected twice, once under a condition. */
const again = "a: product(productId: $id)";
const conditions = [
  `${again} @skip(if: $yes) { sku } }`,
  `${again} @skip(if: $yes) { ... { sku } } }`,
  `${again} @include(if: $yes) { ... { sku } } }`,
  `${again} @skip(if: $yes) { ...F } } fragment F on Product { sku }`,
  `... @skip(if: $yes) { ${again} { ... { sku } } } }`,
  `...Q @skip(if: $yes) } fragment Q on Query { ${again} { ...F } } fragment F on Product { sku }`,
];

describe("a request error, which leaves no data, over application/graphql-response+json", () => {
  test.each<[string, Body, number, number]>([
    ["is 400 for variables of a wrong type", { query: readProduct, variables: { id: 5 } }, 400, 200],
    ["is 400 for an import with an invalid product", { query: importOne, variables: { product: {} } }, 400, 200],
    ["is 400 for no operation of that name", { query: twoOperations, operationName: "None" }, 400, 400],
    ["is none where a field failed, and data is null", { query: readProduct, variables: { id: "none" } }, 200, 200],
    ["is none where there is data", { query: "{ __typename }" }, 200, 200],
  ])("%s, on either path; over application/json %s", async (_, body, status, overJson) => {
    const graphqlJson = await answersOfBoth(body, { accept: "application/graphql-response+json" });
    expect([graphqlJson.yoga, ...graphqlJson.lane].map((answer) => answer.status)).toEqual(Array(4).fill(status));
    expect(graphqlJson.yoga.text).not.toContain('"http"');
    const json = await answersOfBoth(body, { accept: "application/json" });
    expect([json.yoga, ...json.lane].map((answer) => answer.status)).toEqual(Array(4).fill(overJson));
    const { query, ...others } = body as Record<string, unknown>;
    if (String(query).trim().startsWith("mutation")) return;
    const params = new URLSearchParams({ query: String(query) });
    for (const [name, value] of Object.entries(others))
      params.set(name, typeof value === "string" ? value : JSON.stringify(value));
    const got = await store.fetch(`/graphql?${params}`, { headers: { accept: "application/graphql-response+json" } });
    expect(got.status).toBe(status);
  });
});

describe("the response is the same as Yoga's, byte for byte,", () => {
  test.each<[string, Body]>([
    ["for a product", { query: readProduct, variables: { id: "p00001" } }],
    ["without variables", { query: `{ product(productId: "p00002") { title } }` }],
    ["with null for variables and name", { query: "{ __typename }", variables: null, operationName: null }],
    [
      "for names that every object has",
      {
        query: `query ($__proto__: String = "p00001", $constructor: String = "x") {
          __proto__: product(productId: $__proto__, siteType: $constructor) { constructor: id __proto__: sku } }`,
      },
    ],
    [
      "for a field under a name that every object has, alone and in a fragment",
      {
        query: `{ product(productId: "p00001") { __proto__: id } other: product(productId: "p00002") { ...F } }
          fragment F on Product { __proto__: images }`,
      },
    ],
    ...conditions.map((query): [string, Body] => [
      `for fields under conditions and without: ${query}`,
      {
        query: `query ($id: String!, $yes: Boolean!) { ${again} { id } ${query}`,
        variables: { id: "p00001", yes: true },
      },
    ]),
    ["for an unknown product", { query: readProduct, variables: { id: "none" } }],
    ["for a variable that is missing", { query: readProduct }],
    ["for a variable of a wrong type", { query: readProduct, variables: { id: 5 } }],
    ["for one of two operations", { query: twoOperations, operationName: "Other" }],
    ["for a name of none of two", { query: twoOperations, operationName: "None" }],
    ["for no name of two", { query: twoOperations }],
    [
      "for a list in pages",
      { query: "{ products(first: 2) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }" },
    ],
    ["for a page too large", { query: "{ products(first: 101) { nodes { id } } }" }],
    [
      "for aliases of which one fails",
      { query: `{ a: product(productId: "p00000") { id } b: product(productId: "x") { id } }` },
    ],
    [
      "for fragments and directives",
      {
        query: `query ($with: Boolean!) { product(productId: "p00000") { ...F sku @skip(if: $with) } }
        fragment F on Product { id @include(if: $with) title }`,
        variables: { with: true },
      },
    ],
    [
      "for introspection",
      { query: "{ __schema { queryType { name fields { name type { kind ofType { name } } } } } }" },
    ],
    ["for a show", { query: readShow, variables: { lsId: "show" } }],
    ["for analytics, whose variable has a default", { query: readAnalytics, variables: { lsId: "show" } }],
    ["for analytics of an unknown show", { query: readAnalytics, variables: { lsId: "none" } }],
    ["for an import that replaces", { query: importOne, variables: { product: product("p00000") } }],
    ["for an import that is refused", { query: importOne, variables: { product: blank } }],
    ["for one product in place of a list", { query: importMany, variables: { products: blank } }],
    ["for too many products", { query: importMany, variables: { products: products(4) } }],
    [
      "for a bad event",
      { query: record, variables: { lsId: "show", events: [{ id: "1", type: "ORDER", channel: "LIVE" }] } },
    ],
    [
      "for a bad enum",
      { query: record, variables: { lsId: "show", events: [{ id: "1", type: "GIFT", channel: "LIVE" }] } },
    ],
    ["for a syntax error", { query: "{ product(" }],
    ["for an invalid operation", { query: "{ nothing }" }],
    ["for an invalid operation with two mistakes", { query: "query ($id: Strin) {\n  products { nothing } }" }],
    ["for too many aliases", { query: `{ ${Array.from({ length: 301 }, (_, i) => `a${i}: __typename`).join(" ")} }` }],
    ["for an unknown member", { query: "{ __typename }", extra: 1 }],
    [
      "with extensions, as Apollo's clients send them",
      { query: readProduct, variables: { id: "p00001" }, extensions: { clientLibrary: { name: "x" } } },
    ],
    ["with the hash of an operation where none are persisted", { query: "{ __typename }", ...byHash }],
    ["for a hash alone", byHash],
    ["with null for extensions", { query: "{ __typename }", extensions: null }],
    ["for extensions that are a list", { query: "{ __typename }", extensions: [] }],
    ["for extensions that are text", { query: "{ __typename }", extensions: "{}" }],
    ["for an empty name", { query: "{ __typename }", operationName: "" }],
    ["for an empty name of one with a name", { query: readProduct, variables: { id: "p00001" }, operationName: "" }],
    ["for variables that are a list", { query: "{ __typename }", variables: [] }],
    ["for variables that are text", { query: "{ __typename }", variables: "{}" }],
    ["for a query that is no text", { query: 5 }],
    ["for a batch", "[{}]"],
    ["for invalid JSON", "{"],
    ["for a null body", "null"],
  ])("%s", async (_, body) => {
    const { yoga, lane } = await answersOfBoth(body);
    expect(lane).toEqual(Array(3).fill(yoga));
  });

  test.each(["*/*", "application/graphql-response+json", "text/event-stream, application/json", "text/html", ""])(
    "for Accept: %s",
    async (accept) => {
      const invalid = `{ nothing(accept: ${JSON.stringify(accept)}) }`;
      for (const body of [
        { query: readProduct, variables: { id: "none" } },
        { query: readProduct },
        { query: invalid },
      ]) {
        const { yoga, lane } = await answersOfBoth(body, { accept });
        expect(lane).toEqual(Array(3).fill(yoga));
      }
    },
  );

  test("for a large response, compressed", async () => {
    const query = "{ __schema { types { name description fields { name description } } } }";
    const { yoga, lane } = await answersOfBoth({ query }, { "accept-encoding": "gzip" });
    expect(lane).toEqual(Array(3).fill(yoga));
    expect(yoga.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
  });
});

test("a rate limit refuses in the same way", async () => {
  const limited = await startApp({ analyticsRateLimit: 4 });
  const caller = await createTestStore(limited);
  const body = JSON.stringify({ query: `{ liveStreamAnalytics(lsId: "x") { id } }` });
  const headers = { "content-type": "application/json" };
  const ask = (path: string) => caller.fetch(path, { method: "POST", headers, body });
  for (let n = 0; n < 4; n += 1) expect((await ask("/graphql")).status).toBe(200);
  const answers = [await ask("/graphql"), await ask("/graphql?lane=yoga")];
  for (const answer of answers) {
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.get("ratelimit")).toMatch(/r=0/u);
    expect(await answer.json()).toMatchObject({
      data: { liveStreamAnalytics: null },
      errors: [{ extensions: { code: "RATE_LIMITED" } }],
    });
  }
  await limited.close();
});

test("the same operation returns each caller the data of its own store", async () => {
  const other = await createTestStore(app);
  const query = `{ product(productId: "p00001") { id } }`;
  for (let n = 0; n < 4; n += 1) {
    expect(await store.graphql(query)).toEqual({ data: { product: { id: "p00001" } } });
    expect(await other.graphql(query)).toMatchObject({
      data: { product: null },
      errors: [{ extensions: { code: "PRODUCT_NOT_FOUND" } }],
    });
  }
});
