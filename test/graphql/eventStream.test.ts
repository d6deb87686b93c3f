import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueToken } from "../../src/access/token.js";
import { revokeToken } from "../../src/access/token.replace.js";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "../support/app.js";
import { record, saved } from "../support/shows.js";
import { subscribe } from "../support/subscribe.js";
import { until } from "../support/process.js";

// Subscriptions wanted as server-sent events pass by Yoga. With a query string that GraphQL does not know, they do not:
// nobody may see a difference.

let app: TestApp;
let store: TestStore;
let lsId: string;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
  store = await createTestStore(app);
  ({ id: lsId } = await saved(store, { status: "LIVE" }));
});
afterAll(() => app.close());

const watchShow = `subscription Watch($lsId: String!, $from: DateTime, $until: DateTime) { show: liveStreamAnalytics(lsId: $lsId) {
  id name host { name } kpis { orders { total } devices { device } } timeline(from: $from, until: $until) { startsAt orders } } }`;

interface Asked {
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
  readonly accept?: string;
}

/** The answer up to the end of its first event, or all of it; pings come whenever they do. */
async function answerTo({ path, token = store.token, body, accept = "text/event-stream" }: Asked, whole = false) {
  const leaving = new AbortController();
  const response = await fetch(`${app.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "X-Service-Access-Token": token, "content-type": "application/json", accept },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: leaving.signal,
  });
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (!whole && /^event: next\n.*\n\n/mu.test(text)) break;
  }
  leaving.abort();
  const {
    "x-request-id": _,
    date: __,
    "retry-after": ___,
    ratelimit: ____,
    ...headers
  } = Object.fromEntries(response.headers);
  expect(text.startsWith(":\n\n")).toBe(true);
  return { status: response.status, headers, text: text.replaceAll(/^:\n\n/gmu, "") };
}

describe("the stream is the same as Yoga's, byte for byte,", () => {
  test.each<[string, () => object]>([
    ["for a show", () => ({ query: watchShow, variables: { lsId } })],
    ["for variables that it does not declare", () => ({ query: watchShow, variables: { lsId, more: [1] } })],
    [
      "for one of two operations",
      () => ({ query: `${watchShow} query Q { __typename }`, operationName: "Watch", variables: { lsId } }),
    ],
    [
      "where a part cannot be had",
      () => ({
        query: `subscription { liveStreamAnalytics(lsId: "${lsId}") { timeline(bucketSeconds: 1) { orders } } }`,
      }),
    ],
    ["for another store's show, and a missing one", () => ({ query: watchShow, variables: { lsId: "none" } })],
    ["for a variable that is missing", () => ({ query: watchShow })],
    ["for variables of wrong types", () => ({ query: watchShow, variables: { lsId: 5, from: "yesterday" } })],
    ["for no name of two operations", () => ({ query: `${watchShow} query Q { __typename }`, variables: { lsId } })],
    ["for a name of none", () => ({ query: watchShow, operationName: "None", variables: { lsId } })],
    ["for a query", () => ({ query: "query { __typename }" })],
    ["for what is no GraphQL", () => ({ query: "subscription {" })],
    ["for an unknown field", () => ({ query: "subscription { liveStreamAnalytics(lsId: 1) { nothing } }" })],
  ])("%s", async (_, body) => {
    const byYoga = await answerTo({ path: "/graphql?by=yoga", body: body() });
    for (let n = 0; n < 4; n += 1) expect(await answerTo({ path: "/graphql", body: body() })).toEqual(byYoga);
  });

  test("for a GET", async () => {
    const search = new URLSearchParams({ query: watchShow, variables: JSON.stringify({ lsId }) });
    const byYoga = await answerTo({ path: `/graphql?by=yoga&${search}` });
    expect(await answerTo({ path: `/graphql?${search}` })).toEqual(byYoga);
    expect(byYoga.text).toContain('"orders":{"total":0}');
  });

  test("to its end, when the token is revoked", async () => {
    const body = { query: watchShow, variables: { lsId } };
    const { id, token } = await issueToken(app.db, store.id);
    const before = app.feed.watchers;
    const both = Promise.all(
      ["?by=yoga", ""].map((search) => answerTo({ path: `/graphql${search}`, token, body }, true)),
    );
    await until(() => app.feed.watchers === before + 2, "both to watch");
    await revokeToken(app.db, store.id, id);
    const [byYoga, own] = await both;
    expect(own).toEqual(byYoga);
    expect(own?.text).toMatch(/^event: next\n.+\n\nevent: next\n.+UNAUTHENTICATED.+\n\nevent: complete\ndata:\n\n$/u);
  });

  test("if it exceeds the rate limit", async () => {
    const limited = await startApp({ analyticsRateLimit: 1 });
    const caller = await createTestStore(limited);
    const refused = async (search: string) => {
      const response = await caller.fetch(`/graphql${search}`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: watchShow, variables: { lsId } }),
      });
      const text = (await response.text()).replaceAll(/"retryAfterSeconds":\d+|in \d+ seconds?/gu, "");
      return {
        status: response.status,
        hasRetry: response.headers.has("retry-after"),
        limit: response.headers.get("ratelimit-policy"),
        text,
      };
    };
    await refused("");
    const own = await refused("");
    expect(own).toEqual(await refused("?by=yoga"));
    expect(own).toMatchObject({ status: 429, hasRetry: true });
    await limited.close();
  });
});

const orderOf = (id: string) => ({ id, type: "ORDER", channel: "LIVE", amount: 1 });
const minuteReads = (sql: string) => /json_agg\(json_build_array\("startsAt", viewers/u.test(sql);

/** A service that tells of each query, with a store and a show. */
async function startObserved() {
  const database = testDatabase();
  const watched = await startApp({ analyticsRateLimit: 0 }, database);
  const owner = await createTestStore(watched);
  const show = await saved(owner, { status: "LIVE" });
  return { database, watched, owner, show };
}

test("a value is executed once for all subscribers of the same operation, with Yoga and without", async () => {
  const { database, watched, owner, show } = await startObserved();
  const leaving = new AbortController();
  const body = { query: watchShow, variables: { lsId: show.id } };
  const own = [1, 2, 3].map(() => subscribe(watched, owner, body, leaving.signal));
  const byYoga = subscribe({ url: `${watched.url}/graphql?by=yoga&x=` }, owner, body, leaving.signal);
  const all = [...own, byYoga];
  for (const values of all) await values.next();
  const reads: string[] = [];
  database.probe.aroundQuery = (sql, send) => {
    if (minuteReads(sql)) reads.push(sql);
    return send();
  };
  await owner.graphql(record, { lsId: show.id, events: [orderOf("1")] });
  const seen = await Promise.all(all.map(async (values) => (await values.next()).value));
  expect(seen[0].data.show.kpis.orders).toEqual({ total: 1 });
  expect(new Set(seen.map((value) => JSON.stringify(value))).size).toBe(1);
  expect(reads).toHaveLength(1);
  leaving.abort();
  await watched.close();
});

test("of a store's distinct subscriptions, at most two are executed at a time, and all get their values", async () => {
  const { database, watched, owner, show } = await startObserved();
  const leaving = new AbortController();
  let [running, most] = [0, 0];
  database.probe.aroundQuery = async (sql, send) => {
    if (!minuteReads(sql)) return send();
    running += 1;
    most = Math.max(most, running);
    return send().finally(() => (running -= 1));
  };
  const all = Array.from({ length: 20 }, (_, minute) => {
    const end = new Date(Date.UTC(2100, 0, 1, 0, minute)).toISOString();
    return subscribe(watched, owner, { query: watchShow, variables: { lsId: show.id, until: end } }, leaving.signal);
  });
  await Promise.all(all.map((values) => values.next()));
  await owner.graphql(record, { lsId: show.id, events: [orderOf("1")] });
  const seen = await Promise.all(all.map(async (values) => (await values.next()).value));
  for (const { data } of seen) expect(data.show.kpis.orders).toEqual({ total: 1 });
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
  leaving.abort();
  await watched.close();
});

test("subscriptions whose timelines begin at different times share two reads", async () => {
  const { database, watched, owner, show } = await startObserved();
  const leaving = new AbortController();
  const all = [5, 4, 3, 2, 1, 0, 6].map((hours) => {
    const from = new Date(Date.now() - hours * 3_600_000).toISOString();
    return subscribe(watched, owner, { query: watchShow, variables: { lsId: show.id, from } }, leaving.signal);
  });
  await Promise.all(all.map((values) => values.next()));
  let reads = 0;
  database.probe.aroundQuery = (sql, send) => {
    if (minuteReads(sql)) reads += 1;
    return send();
  };
  await owner.graphql(record, { lsId: show.id, events: [orderOf("1")] });
  const seen = await Promise.all(all.map(async (values) => (await values.next()).value));
  for (const { data } of seen) expect(data.show.timeline).toMatchObject([{ orders: 1 }]);
  expect(reads).toBe(2);
  leaving.abort();
  await watched.close();
});

test("a batch of duplicates notifies subscribers too, because the call that stored it may not have", async () => {
  const events = [orderOf("twice")];
  const show = await saved(store, { status: "LIVE" });
  await store.graphql(record, { lsId: show.id, events });
  const leaving = new AbortController();
  const values = subscribe(app, store, { query: watchShow, variables: { lsId: show.id } }, leaving.signal);
  const first = (await values.next()).value;
  expect(first.data.show.kpis.orders).toEqual({ total: 1 });
  await store.graphql(record, { lsId: show.id, events });
  expect((await values.next()).value).toEqual(first);
  leaving.abort();
});
