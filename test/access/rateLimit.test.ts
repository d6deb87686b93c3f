import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { graphqlError, refusal } from "../support/problems.js";
import { documented, importedAnswer, paths, product, storedKeys } from "../support/products.js";
import {
  atOnce,
  limitHeaders,
  noLimitHeaders,
  readGraphQL,
  readRest,
  sendGraphQL,
  wasGranted,
  outcomes,
  storeWithShow,
} from "../support/access/rateLimit.js";

const usedUp = "Rate limit exceeded: 100 analytics calls in 60 seconds.";
const seconds = "(?:60|[1-5]?\\d)";
const granted = (left: number) => [
  '"analytics";q=100;w=60',
  expect.stringMatching(`^"analytics";r=${left};t=${seconds}$`),
  null,
];
const refused = [
  '"analytics";q=100;w=60',
  expect.stringMatching(`^"analytics";r=0;t=${seconds}$`),
  expect.stringMatching(`^${seconds}$`),
];

describe("analytics reads, 100 a minute unless configured otherwise", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  test("of 300 concurrent REST calls exactly 100 are served, and the others get Retry-After", async () => {
    const store = await storeWithShow(app);
    const responses = await atOnce(300, () => readRest(store));
    expect(outcomes(responses)).toEqual({ granted: 100, refused: 200 });
    const refusals = responses.filter(({ status }) => status === 429);
    for (const response of refusals) {
      expect(limitHeaders(response)).toEqual(refused);
      const [, , retryAfter] = limitHeaders(response);
      expect(response.headers.get("ratelimit")).toBe(`"analytics";r=0;t=${retryAfter}`);
      expect(await readAnswer(response)).toEqual(refusal("RATE_LIMITED", usedUp));
    }
    const left = responses.filter(wasGranted).map(({ headers }) => headers.get("ratelimit"));
    expect(left.map((value) => Number(/r=(\d+)/u.exec(value ?? "")?.[1])).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  test("REST and GraphQL count together, and each response has the remaining calls", async () => {
    const store = await storeWithShow(app);
    expect(limitHeaders(await readRest(store))).toEqual(granted(99));
    expect(limitHeaders(await readGraphQL(store))).toEqual(granted(98));
    expect(limitHeaders(await readGraphQL(store, 97))).toEqual(granted(1));
    const responses = await atOnce(20, (index) => (index % 2 === 0 ? readRest(store) : readGraphQL(store)));
    expect(outcomes(responses)).toEqual({ granted: 1, refused: 19 });
  });

  test("100 aliases in one operation are answered and use up the limit", async () => {
    const store = await storeWithShow(app);
    const response = await readGraphQL(store, 100);
    expect(response.status).toBe(200);
    expect(limitHeaders(response)).toEqual(granted(0));
    const { data } = (await response.json()) as { data: object };
    expect(Object.keys(data)).toHaveLength(100);
    expect((await readRest(store)).status).toBe(429);
  });

  test("of 200 aliases in one operation 100 are answered, and the others are null", async () => {
    const store = await storeWithShow(app);
    const response = await readGraphQL(store, 200);
    expect(response.status).toBe(200);
    expect(limitHeaders(response)).toEqual(granted(0));
    const body: any = await response.json();
    const values = Object.values(body.data);
    expect([values.length, values.filter((value) => value === null).length, body.errors.length]).toEqual([
      200, 100, 100,
    ]);
    const [error] = body.errors;
    expect(error).toEqual({
      ...graphqlError("RATE_LIMITED", usedUp),
      extensions: {
        ...graphqlError("RATE_LIMITED", usedUp).extensions,
        retryAfterSeconds: expect.any(Number),
      },
      locations: expect.any(Array),
      path: ["a100"],
    });
    expect((await readRest(store)).status).toBe(429);
  });

  test("each store has its own limit", async () => {
    const [greedy, other] = [await storeWithShow(app), await storeWithShow(app)];
    await atOnce(150, () => readRest(greedy));
    expect(limitHeaders(await readRest(other))).toEqual(granted(99));
    expect((await readRest(greedy)).status).toBe(429);
  });

  test("a missing show counts; an invalid token or invalid arguments do not", async () => {
    const store = await storeWithShow(app);
    const missing = await readRest(store, undefined, "nothing");
    expect(missing.status).toBe(404);
    expect(limitHeaders(missing)).toEqual(granted(99));
    const unauthenticated = await store.fetch("/external/analytics/v1/live-streams/show", {
      headers: { "X-Service-Access-Token": "wrong" },
    });
    expect([unauthenticated.status, ...limitHeaders(unauthenticated)]).toEqual([401, ...noLimitHeaders]);
    const unreadable = await readRest(store, undefined, "%ff");
    expect([unreadable.status, ...limitHeaders(unreadable)]).toEqual([400, ...noLimitHeaders]);
    const invalid = await sendGraphQL(store, "{ liveStreamAnalytics(lsId: 1) { id } }");
    expect(limitHeaders(invalid)).toEqual(noLimitHeaders);
    expect(limitHeaders(await readRest(store))).toEqual(granted(98));
  });

  test("opening a subscription is no analytics read; beyond a limit of its own it gets 429", async () => {
    const own = await startApp({ subscriptionRateLimit: 2 });
    const store = await storeWithShow(own);
    const leaving = new AbortController();
    const subscribe = () =>
      store.fetch("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "show") { id } }` }),
        signal: leaving.signal,
      });
    await readGraphQL(store, 100);
    for (const left of [1, 0]) {
      const { status, headers } = await subscribe();
      expect([status, headers.get("ratelimit-policy")]).toEqual([200, '"subscription";q=2;w=60']);
      expect(headers.get("ratelimit")).toMatch(new RegExp(`^"subscription";r=${left};t=\\d+$`, "u"));
    }
    const late = await subscribe();
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/u)]);
    expect(await late.text()).toContain("Rate limit exceeded: 2 subscription calls in 60 seconds.");
    leaving.abort();
    await own.close();
  });

  test("product calls are not limited by default, and have no rate limit headers", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("shirt") });
    const responses = await atOnce(150, () => store.fetch(paths.of("shirt")));
    expect(outcomes(responses)).toEqual({ granted: 150 });
    expectNoLimits(responses);
  });
});

test("with a limit of 0 there is no limit, and no response mentions one", async () => {
  const app = await startApp({ analyticsRateLimit: 0 });
  const store = await storeWithShow(app);
  const responses = [...(await atOnce(120, () => readRest(store))), await readGraphQL(store, 120)];
  await app.close();
  expect(outcomes(responses)).toEqual({ granted: 121 });
  expectNoLimits(responses);
});

describe("product calls, where they are limited", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ productRateLimit: 6, analyticsRateLimit: 2 });
  });
  afterAll(() => app.close());

  const tooMany = "Rate limit exceeded: 6 product calls in 60 seconds.";

  test("all six operations count together, in both styles, and a refused one changes nothing", async () => {
    const store = await createTestStore(app);
    const shirt = product("shirt");
    const header = "id,sku,title,available,featured_image,url";
    const calls = [
      () => store.post(paths.one, { product: shirt }),
      () => store.post(paths.bulk, { products: [shirt] }),
      () => store.post(paths.csv, { csvContent: `${header}\nscarf,S,Scarf,true,//a.example/a.jpg,//a.example/a` }),
      () => store.get(paths.of("shirt")),
      () => store.graphql("{ products { nodes { id } } }"),
      () => store.delete(paths.of("scarf")),
    ];
    const answers = [];
    for (const call of calls) answers.push(await call());
    expect(answers).toMatchObject([
      importedAnswer(1),
      importedAnswer(0, 1),
      importedAnswer(1),
      { status: 200, body: documented(shirt) },
      { data: { products: { nodes: [{ id: "scarf" }, { id: "shirt" }] } } },
      { status: 200 },
    ]);
    const refusedCalls = [
      () => store.post(paths.one, { product: product("late") }),
      () => store.post(paths.bulk, { products: [product("late")] }),
      () => store.post(paths.csv, { csvContent: `${header}\nlate,L,Late,true,//a.example/a.jpg,//a.example/a` }),
      () => store.get(paths.of("shirt")),
      () => store.delete(paths.of("shirt")),
    ];
    for (const call of refusedCalls) expect(await call()).toEqual(refusal("RATE_LIMITED", tooMany));
    const mutation = await sendGraphQL(store, `mutation { deleteProduct(productId: "shirt") { message } }`);
    expect([mutation.status, await mutation.json()]).toMatchObject([
      429,
      {
        data: { deleteProduct: null },
        errors: [{ message: tooMany, path: ["deleteProduct"], extensions: { code: "RATE_LIMITED" } }],
      },
    ]);
    expect(await storedKeys(app, store)).toEqual({ shirt: "sku-shirt" });
  });

  test("of a mutation with more aliases than remaining calls, the first ones are executed, in order", async () => {
    const store = await createTestStore(app);
    for (let call = 0; call < 3; call += 1) await sendGraphQL(store, "{ products { nodes { id } } }");
    const fields = ["a", "b", "c", "d", "e"].map((id) => {
      const input = `id: "${id}", sku: "sku-${id}", title: "T", available: true, featured_image: "//a.example/a", url: "//a.example/a"`;
      return `${id}: importProduct(product: { ${input} }) { message }`;
    });
    const response = await sendGraphQL(store, `mutation { ${fields.join(" ")} }`);
    const message = "1 product was imported.";
    expect([response.status, await response.json()]).toMatchObject([
      200,
      {
        data: { a: { message }, b: { message }, c: { message }, d: null, e: null },
        errors: [{ path: ["d"] }, { path: ["e"] }],
      },
    ]);
    expect(Object.keys(await storedKeys(app, store))).toEqual(["a", "b", "c"]);
  });

  test("policies are counted separately, and an operation under both has the headers of both", async () => {
    const store = await storeWithShow(app);
    const query = `{ products { nodes { id } } liveStreamAnalytics(lsId: "show") { id } }`;
    const response = await sendGraphQL(store, query);
    expect(response.headers.get("ratelimit-policy")).toBe('"product";q=6;w=60, "analytics";q=2;w=60');
    expect(response.headers.get("ratelimit")).toMatch(/^"product";r=5;t=\d\d, "analytics";r=1;t=\d\d$/u);
    expect(outcomes(await atOnce(5, () => readRest(store)))).toEqual({ granted: 1, refused: 4 });
    expect(limitHeaders(await sendGraphQL(store, "{ products { nodes { id } } }"))).toEqual([
      '"product";q=6;w=60',
      expect.stringMatching(/^"product";r=4;t=\d\d$/u),
      null,
    ]);
  });
});

/** What a busy server refuses with 503 has no headers of limits to look for. */
function expectNoLimits(responses: readonly Response[]): void {
  const answered = responses.filter(({ ok }) => ok);
  expect(answered).not.toHaveLength(0);
  for (const response of answered) expect(limitHeaders(response)).toEqual(noLimitHeaders);
}
