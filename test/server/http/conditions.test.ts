// @engine both
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { problemBody } from "../../support/problems.js";
import { paths, product, storedKeys } from "../../support/products.js";

const app = await openTestApp({ analyticsRateLimit: 3 });

const show = (id = "show") => `/external/analytics/v1/live-streams/${id}`;
const liveStream = { name: "Show", startedAt: "2026-05-04T18:00:00Z", durationSeconds: 60, status: "ENDED" };

type Headers = Readonly<Record<string, string>>;

async function opened() {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("a") });
  expect((await put(store, {})).status).toBe(200);
  return store;
}

const put = async (store: TestStore, headers: Headers, fields: object = {}, id = "show") =>
  readAnswer(
    await store.fetch(show(id), {
      method: "PUT",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ liveStream: { ...liveStream, ...fields } }),
    }),
  );
const remove = async (store: TestStore, headers: Headers) =>
  readAnswer(await store.fetch(paths.of("a"), { method: "DELETE", headers }));
const tagOf = async (store: TestStore, path: string) => (await store.fetch(path)).headers.get("etag") ?? "";

const failing: [name: string, headers: Headers][] = [
  ["another tag", { "if-match": 'W/"another"' }],
  ["another tag, also with a time", { "if-match": '"another"', "if-unmodified-since": new Date().toUTCString() }],
  ["any state, where it must be new", { "if-none-match": "*" }],
  ["a time, which nothing has", { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }],
];

describe("a write whose condition does not hold is refused, and nothing is changed", () => {
  test.each(failing)("%s", async (_, headers) => {
    const store = await opened();
    const failed = { status: 412, body: { code: "PRECONDITION_FAILED", title: "Precondition failed" } };
    expect(await put(store, headers, { name: "Changed" })).toMatchObject(failed);
    expect(await remove(store, headers)).toMatchObject(failed);
    expect((await store.get(`${show()}/show`)).body.name).toBe("Show");
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
  });

  test("a state of a show that was read before another change", async () => {
    const store = await opened();
    const tag = await tagOf(store, show());
    await put(store, {}, { name: "Other" });
    expect((await put(store, { "if-match": tag }, { name: "Mine" })).status).toBe(412);
    expect((await put(store, { "if-none-match": tag }, { name: "Mine" })).status).toBe(200);
  });

  test("a state of a product that was read before another change", async () => {
    const store = await opened();
    const tag = await tagOf(store, paths.of("a"));
    await store.post(paths.one, { product: product("a", { title: "Other" }) });
    expect((await remove(store, { "if-match": tag })).status).toBe(412);
    expect((await remove(store, { "if-none-match": tag })).status).toBe(200);
  });

  test("one that must be there and is not; one that must not be there is made", async () => {
    const store = await opened();
    expect((await put(store, { "if-match": "*" }, {}, "new")).status).toBe(412);
    expect((await put(store, { "if-none-match": "*" }, {}, "new")).status).toBe(200);
    expect((await put(store, { "if-none-match": "*" }, {}, "new")).status).toBe(412);
  });
});

test("a write whose condition holds is done, behind a proxy that compresses too, and is no read of figures", async () => {
  const store = await opened();
  const tag = await tagOf(store, show());
  const suffixed = [`"x", ${tag}`, tag.replace(/"$/u, '-gzip"'), tag.replace(/"$/u, ';gzip"'), "*"];
  for (const sent of suffixed) expect(await put(store, { "if-match": sent })).toMatchObject({ status: 200 });
  expect((await put(store, { "if-none-match": tag })).status).toBe(412);
  expect((await remove(store, { "if-match": await tagOf(store, paths.of("a")) })).status).toBe(200);
});

test("of writers that have read the same state, one changes it", async () => {
  const store = await opened();
  const tag = await tagOf(store, show());
  const names = ["A", "B", "C", "D"];
  const answers = await Promise.all(names.map((name) => put(store, { "if-match": tag }, { name })));
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 412, 412, 412]);
  const winner = names[answers.findIndex(({ status }) => status === 200)];
  expect((await store.get(`${show()}/show`)).body.name).toBe(winner);
});

describe("a condition of a write that has no tag is refused", () => {
  const message =
    "If-Match, If-None-Match and If-Unmodified-Since are for PUT and DELETE of a path whose GET has an ETag; this one has none.";
  const bodies: Readonly<Record<string, unknown>> = {
    [paths.one]: { product: product("b") },
    [paths.bulk]: { products: [product("b")] },
    [paths.csv]: { csvContent: "" },
    [`${show()}/events`]: { events: [] },
    "/external/analytics/v1/orders": { orders: [] },
    "/collect/v1": {},
    "/hooks/v1/unknown": {},
  };
  test.each(Object.keys(bodies))("%s", async (path) => {
    const store = await createTestStore(app);
    for (const headers of [{ "if-match": "*" }, { "if-none-match": "*" }, { "if-unmodified-since": "x" }]) {
      const response = await store.fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(bodies[path]),
      });
      expect(await response.json()).toEqual(problemBody("BAD_REQUEST", message));
    }
    expect(await storedKeys(app, store)).toEqual({});
  });

  test("GraphQL", async () => {
    const store = await opened();
    const response = await store.fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", "if-match": "*" },
      body: JSON.stringify({ query: 'mutation { deleteProduct(productId: "a") { id } }' }),
    });
    expect([response.status, (await response.json()).errors[0].message]).toEqual([400, message]);
    expect(await storedKeys(app, store)).toEqual({ a: "sku-a" });
  });
});
