import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
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
  storeWithShow,
} from "../support/access/rateLimit.js";

/** 100 analytics reads a minute, and as many others as there are. */
const app = await openTestApp();
const limited = await openTestApp({ productRateLimit: 6, analyticsRateLimit: 10, subscriptionRateLimit: 2 });
const unlimited = await openTestApp({ analyticsRateLimit: 0 });

const seconds = "(?:60|[1-5]?\\d)";
const granted = (left: number) => [
  '"analytics";q=10;w=60',
  expect.stringMatching(`^"analytics";r=${left};t=${seconds}$`),
  null,
];
const usedUp = "Rate limit exceeded: 100 analytics calls in 60 seconds.";
const tooMany = "Rate limit exceeded: 6 product calls in 60 seconds.";

describe("analytics reads", () => {
  test("of 200 aliases in one operation 100 are answered, unless configured otherwise, and the others are null", async () => {
    const store = await storeWithShow(app);
    const response = await readGraphQL(store, 200);
    expect(response.status).toBe(200);
    expect(limitHeaders(response)).toEqual([
      '"analytics";q=100;w=60',
      expect.stringMatching(`^"analytics";r=0;t=${seconds}$`),
      null,
    ]);
    const body: any = await response.json();
    const values = Object.values(body.data);
    expect([values.length, values.filter((value) => value === null).length, body.errors.length]).toEqual([
      200, 100, 100,
    ]);
    const { extensions, ...error } = graphqlError("RATE_LIMITED", usedUp);
    const details = { ...extensions, retryAfterSeconds: expect.any(Number) };
    expect(body.errors[0]).toEqual({ ...error, extensions: details, locations: expect.any(Array), path: ["a100"] });
    expect((await readRest(store)).status).toBe(429);
  });

  test("of 30 concurrent calls in both styles exactly as many as may be are served, and the others get Retry-After", async () => {
    const store = await storeWithShow(limited);
    const responses = await atOnce(30, (index) => (index % 3 === 0 ? readGraphQL(store) : readRest(store)));
    const left = responses.filter(({ ok }) => ok).map(({ headers }) => headers.get("ratelimit"));
    expect(left.map((value) => Number(/r=(\d+)/u.exec(value ?? "")?.[1])).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, index) => index),
    );
    for (const response of responses.filter(({ ok }) => !ok)) {
      expect(response.status).toBe(429);
      const [policy, limit, retryAfter] = limitHeaders(response);
      expect(policy).toBe('"analytics";q=10;w=60');
      expect(retryAfter).toMatch(new RegExp(`^${seconds}$`, "u"));
      expect(limit).toBe(`"analytics";r=0;t=${retryAfter}`);
    }
    const message = usedUp.replace("100", "10");
    expect(await readAnswer(await readRest(store))).toEqual(refusal("RATE_LIMITED", message));
  });

  test("each response has the remaining calls of its store, of which each alias takes one", async () => {
    const [store, other] = [await storeWithShow(limited), await storeWithShow(limited)];
    expect(limitHeaders(await readRest(store))).toEqual(granted(9));
    expect(limitHeaders(await readGraphQL(store))).toEqual(granted(8));
    expect(limitHeaders(await readGraphQL(store, 7))).toEqual(granted(1));
    expect(limitHeaders(await readRest(other))).toEqual(granted(9));
  });

  test("a missing show counts; an invalid token or invalid arguments do not", async () => {
    const store = await storeWithShow(limited);
    const missing = await readRest(store, undefined, "nothing");
    expect(missing.status).toBe(404);
    expect(limitHeaders(missing)).toEqual(granted(9));
    const unauthenticated = await store.fetch("/external/analytics/v1/live-streams/show", {
      headers: { "X-Service-Access-Token": "wrong" },
    });
    expect([unauthenticated.status, ...limitHeaders(unauthenticated)]).toEqual([401, ...noLimitHeaders]);
    const unreadable = await readRest(store, undefined, "%ff");
    expect([unreadable.status, ...limitHeaders(unreadable)]).toEqual([400, ...noLimitHeaders]);
    const invalid = await sendGraphQL(store, "{ liveStreamAnalytics(lsId: 1) { id } }");
    expect(limitHeaders(invalid)).toEqual(noLimitHeaders);
    expect(limitHeaders(await readRest(store))).toEqual(granted(8));
  });

  test("opening a subscription is none; beyond a limit of its own it gets 429", async () => {
    const store = await storeWithShow(limited);
    const leaving = new AbortController();
    const subscribe = () =>
      store.fetch("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: `subscription { liveStreamAnalytics(lsId: "show") { id } }` }),
        signal: leaving.signal,
      });
    await readGraphQL(store, 10);
    for (const left of [1, 0]) {
      const { status, headers } = await subscribe();
      expect([status, headers.get("ratelimit-policy")]).toEqual([200, '"subscription";q=2;w=60']);
      expect(headers.get("ratelimit")).toMatch(new RegExp(`^"subscription";r=${left};t=\\d+$`, "u"));
    }
    const late = await subscribe();
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/u)]);
    expect(await late.text()).toContain("Rate limit exceeded: 2 subscription calls in 60 seconds.");
    leaving.abort();
  });
});

test("where there is no limit, no response mentions one: product calls by default, and analytics reads with a limit of 0", async () => {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("shirt") });
  const shows = await storeWithShow(unlimited);
  for (const response of [await store.fetch(paths.of("shirt")), await readRest(shows), await readGraphQL(shows, 120)]) {
    expect([response.status, ...limitHeaders(response)]).toEqual([200, ...noLimitHeaders]);
  }
});

describe("product calls, where they are limited", () => {
  test("all six operations count together, in both styles, and a refused one changes nothing", async () => {
    const store = await createTestStore(limited);
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
    expect(await storedKeys(limited, store)).toEqual({ shirt: "sku-shirt" });
  });

  test("of a mutation with more aliases than remaining calls, the first ones are executed, in order", async () => {
    const store = await createTestStore(limited);
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
    expect(Object.keys(await storedKeys(limited, store))).toEqual(["a", "b", "c"]);
  });

  test("policies are counted separately, and an operation under both has the headers of both", async () => {
    const store = await storeWithShow(limited);
    const query = `{ products { nodes { id } } liveStreamAnalytics(lsId: "show") { id } }`;
    const response = await sendGraphQL(store, query);
    expect(response.headers.get("ratelimit-policy")).toBe('"product";q=6;w=60, "analytics";q=10;w=60');
    expect(response.headers.get("ratelimit")).toMatch(/^"product";r=5;t=\d\d, "analytics";r=9;t=\d\d$/u);
    expect(limitHeaders(await sendGraphQL(store, "{ products { nodes { id } } }"))).toEqual([
      '"product";q=6;w=60',
      expect.stringMatching(/^"product";r=4;t=\d\d$/u),
      null,
    ]);
  });
});
