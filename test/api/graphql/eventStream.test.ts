import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueToken } from "../../../src/stores/token.js";
import { revokeToken } from "../../../src/stores/token.replace.js";
import { ago } from "../../support/clock.js";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "../../support/app.js";
import { record, saved } from "../../support/shows.js";
import { subscribe } from "../../support/http/subscribe.js";
import { until } from "../../support/until.js";

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

const complete = "event: complete\ndata:\n\n";
const next = (json: string) => `event: next\ndata: ${json}\n\n`;
const empty = { kpis: { orders: { total: 0 }, devices: [] }, timeline: [] };

/** What the only event says, and its end. */
function refusalIn(text: string) {
  const [, json = "", end] = /^event: next\ndata: (.*?)\n\n(.*)$/su.exec(text) ?? [];
  return { ...JSON.parse(json), end };
}

describe("a subscription is answered with server-sent events:", () => {
  const sseHeaders = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "content-encoding": "none",
  };

  test.each<[string, () => object]>([
    ["for a show", () => ({ query: watchShow, variables: { lsId } })],
    ["for variables that it does not declare", () => ({ query: watchShow, variables: { lsId, more: [1] } })],
    [
      "for one of two operations",
      () => ({ query: `${watchShow} query Q { __typename }`, operationName: "Watch", variables: { lsId } }),
    ],
  ])("the figures %s, at each use", async (_, body) => {
    for (let use = 0; use < 3; use += 1) {
      const { status, headers, text } = await answerTo({ path: "/graphql", body: body() });
      expect(headers).toMatchObject(sseHeaders);
      const show = { id: lsId, name: expect.any(String), host: { name: "Robin Host" }, ...empty };
      expect([status, JSON.parse(text.split("data: ")[1] ?? "")]).toEqual([200, { data: { show } }]);
    }
  });

  test("the data that can be had where a part cannot", async () => {
    const query = `subscription { liveStreamAnalytics(lsId: "${lsId}") { timeline(bucketSeconds: 1) { orders } } }`;
    const { text } = await answerTo({ path: "/graphql", body: { query } });
    expect(JSON.parse(text.split("data: ")[1] ?? "")).toMatchObject({
      data: null,
      errors: [{ path: ["liveStreamAnalytics", "timeline"], extensions: { code: "VALIDATION_FAILED" } }],
    });
  });

  test.each<[string, () => object, number, string]>([
    [
      "for another store's show, and a missing one",
      () => ({ query: watchShow, variables: { lsId: "none" } }),
      200,
      "LIVE_STREAM_NOT_FOUND",
    ],
    ["for a variable that is missing", () => ({ query: watchShow }), 200, "BAD_REQUEST"],
    ["for variables of wrong types", () => ({ query: watchShow, variables: { lsId: 5 } }), 200, "BAD_REQUEST"],
    ["for what is no GraphQL", () => ({ query: "subscription {" }), 200, "BAD_REQUEST"],
    [
      "for an unknown field",
      () => ({ query: "subscription { liveStreamAnalytics(lsId: 1) { nothing } }" }),
      200,
      "BAD_REQUEST",
    ],
  ])("an error %s, at each use", async (_, body, status, code) => {
    for (let use = 0; use < 3; use += 1) {
      const answer = await answerTo({ path: "/graphql", body: body() }, true);
      expect([answer.status, answer.headers["content-type"]]).toEqual([status, "text/event-stream"]);
      const { errors, data, end } = refusalIn(answer.text);
      expect([errors[0].extensions.code, data, end]).toEqual([code, undefined, complete]);
    }
  });

  test("a query's result", async () => {
    const { text } = await answerTo({ path: "/graphql", body: { query: "query { __typename }" } }, true);
    expect(text).toBe(next('{"data":{"__typename":"Query"}}') + complete);
  });

  test("the figures for a GET", async () => {
    const search = new URLSearchParams({ query: watchShow, variables: JSON.stringify({ lsId }), more: "ignored" });
    expect((await answerTo({ path: `/graphql?${search}` })).text).toContain('"orders":{"total":0}');
  });

  test("the end, when the token is revoked", async () => {
    const body = { query: watchShow, variables: { lsId } };
    const { id, token } = await issueToken(app.db, store.id);
    const before = app.feed.watchers;
    const watching = answerTo({ path: "/graphql", token, body }, true);
    await until(() => app.feed.watchers === before + 1, "it to watch");
    await revokeToken(app.db, store.id, id);
    expect((await watching).text).toMatch(
      /^event: next\n.+\n\nevent: next\n.+UNAUTHENTICATED.+\n\nevent: complete\ndata:\n\n$/u,
    );
  });
});

test("a stream is cut where the server stops, and cannot be opened then", async () => {
  const stopping = await startApp();
  const owner = await createTestStore(stopping);
  const show = await saved(owner, { status: "LIVE" });
  const open = (query: string) =>
    owner.fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ query, variables: { lsId: show.id } }),
    });
  const withErrors = watchShow.replace("timeline(", "bad: timeline(bucketSeconds: 1) { orders } timeline(");
  const streams = await Promise.all([watchShow, withErrors].map(open));
  await stopping.feed.close();
  for (const stream of streams) {
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const end = async () => {
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) text += part.value;
    };
    await expect(end()).rejects.toThrow("terminated");
    expect(text).not.toContain("complete");
  }
  const late = await open(watchShow);
  expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(refusalIn((await late.text()).replaceAll(/^:\n\n/gmu, ""))).toMatchObject({
    errors: [{ message: "The server is stopping.", extensions: { code: "UNAVAILABLE" } }],
  });
  await stopping.close();
});

test("HEAD opens no subscription", async () => {
  const search = new URLSearchParams({ query: watchShow, variables: JSON.stringify({ lsId }) });
  const before = app.feed.watchers;
  const response = await store.fetch(`/graphql?${search}`, {
    method: "HEAD",
    headers: { accept: "text/event-stream" },
  });
  expect([response.ok, app.feed.watchers]).toEqual([false, before]);
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

test("a value is executed once for all subscribers of the same operation", async () => {
  const { database, watched, owner, show } = await startObserved();
  const leaving = new AbortController();
  const body = { query: watchShow, variables: { lsId: show.id } };
  const all = [1, 2, 3].map(() => subscribe(watched, owner, body, leaving.signal));
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

test("subscriptions whose timelines begin at different times share two reads", async () => {
  const { database, watched, owner, show } = await startObserved();
  const leaving = new AbortController();
  const all = [5, 4, 3, 2, 1, 0, 6].map((hours) => {
    const from = ago(hours * 3_600_000).toISOString();
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
