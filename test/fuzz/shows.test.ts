import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { checkRedirect, checkedGraphQL, checkedRest } from "../support/fuzz/fuzz.answers.js";
import { damaged, type Json, mutated, toJson, writeJson } from "../support/fuzz/fuzz.json.js";
import { harmDone, sendRaw } from "../support/fuzz/fuzz.js";
import { counts, events, ids, times } from "../support/fuzz/fuzz.shows.js";
import { shortTexts, texts } from "../support/fuzz/fuzz.values.js";
import { product, products } from "../support/products.js";
import { analyticsPath, readAnalytics, readShow, record, saveShow, saved } from "../support/shows.js";
import { digestOf } from "../support/stored.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
});
afterAll(() => app.close());

const json = { "content-type": "application/json" };
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u;

const shows = fc.record(
  {
    id: ids,
    name: texts,
    status: fc.constantFrom("SCHEDULED", "LIVE", "ENDED", "ARCHIVED"),
    startedAt: times,
    durationSeconds: fc.option(counts),
    host: fc.option(fc.record({ name: texts, email: fc.oneof(fc.constantFrom("a@b", "ä@b.example"), texts) })),
  },
  { requiredKeys: ["id", "name", "status", "startedAt"] },
);
const moments = fc.record(
  {
    id: ids,
    kind: fc.constantFrom("PIN", "HOST", "SEGMENT", "MARKER"),
    startedAt: times,
    endedAt: fc.option(times),
    productId: fc.option(ids),
    host: fc.option(fc.record({ name: texts, email: fc.oneof(fc.constantFrom("a@b"), texts) })),
    title: fc.option(texts),
  },
  { requiredKeys: ["id", "kind", "startedAt"] },
);
/** The operations with variables of some kind; `writes` names what a mutation answers with. */
const operations = {
  saveShow: { query: saveShow, variables: fc.record({ liveStream: shows }), writes: "saveLiveStream" },
  record: {
    query: record,
    variables: fc.record({ lsId: ids, events: fc.array(events, { maxLength: 3 }) }),
    writes: "recordShopperEvents",
  },
  moments: {
    query: `mutation ($lsId: String!, $moments: [MomentInput!]!) {
      saveMoments(lsId: $lsId, moments: $moments) { accepted created replaced } }`,
    variables: fc.record({ lsId: ids, moments: fc.array(moments, { maxLength: 3 }) }),
    writes: "saveMoments",
  },
  figures: {
    query: `query ($lsId: String!, $first: Int, $minutes: Int!, $from: DateTime!, $until: DateTime!) {
      liveStreamAnalytics(lsId: $lsId) { between(from: $from, until: $until) { sales peakViewers }
        moments(first: $first) { id figures { seconds netSales newViewers ofProduct { ordersWithin(minutes: $minutes) } } } } }`,
    variables: fc.record({ lsId: ids, first: counts, minutes: counts, from: times, until: times }),
    writes: undefined,
  },
  readShow: { query: readShow, variables: fc.record({ lsId: ids }), writes: undefined },
  analytics: {
    query: readAnalytics,
    variables: fc.record({ lsId: ids, bucketSeconds: fc.constantFrom(60, 86_400, 61, 0), first: counts }),
    writes: undefined,
  },
  products: {
    query: `query ($first: Int, $after: String, $search: String, $available: Boolean) {
      products(first: $first, after: $after, search: $search, available: $available) {
        edges { cursor node { id price } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
    variables: fc.record({ first: counts, after: texts, search: texts, available: fc.boolean() }, { requiredKeys: [] }),
    writes: undefined,
  },
  shows: {
    query: `query ($first: Int, $after: String, $status: LiveStreamStatus) {
      liveStreams(first: $first, after: $after, status: $status) { nodes { id endedAt } pageInfo { endCursor } } }`,
    variables: fc.record(
      { first: counts, after: texts, status: fc.constantFrom("LIVE", "ENDED", "lost") },
      { requiredKeys: [] },
    ),
    writes: undefined,
  },
} as const;

const calls = fc.oneof(
  ...Object.values(operations).map(({ query, variables, writes }) =>
    damaged(
      fc
        .oneof(
          {
            weight: 3,
            arbitrary: mutated(variables).map((sent): Json => ({
              members: [
                ["query", toJson(query)],
                ["variables", sent],
              ],
            })),
          },
          { weight: 1, arbitrary: mutated(variables.map((sent) => ({ query, variables: sent, operationName: null }))) },
        )
        .map(writeJson),
    ).map((body) => ({ body, writes })),
  ),
);

/** A store with products, and two shows with an event each. */
async function storeWithShows(): Promise<TestStore> {
  const store = await createTestStore(app);
  await store.post("/external/product/v1/bulk", { products: [...products(3), product("Größe", { title: "İıß" })] });
  for (const [id, status] of Object.entries({ show: "LIVE", other: "ENDED" })) {
    await saved(store, { id, status });
    await store.graphql(record, { lsId: id, events: [{ id: "0", type: "VIEW", channel: "LIVE", viewerId: "v0" }] });
  }
  return store;
}

function eventsOf({ id: storeId }: TestStore): Promise<number> {
  return app.db.showEvent.count({ where: { storeId } });
}

/** What was answered of a show says what was sent, and is what is stored. */
async function expectSaved(store: TestStore, sent: any, answered: any): Promise<void> {
  const { id, name, status, startedAt, durationSeconds, host } = sent;
  const duration = status === "LIVE" ? expect.any(Number) : status === "SCHEDULED" ? 0 : durationSeconds + 0;
  const start = new Date(startedAt).toISOString();
  const endedAt =
    status === "SCHEDULED" || status === "LIVE"
      ? null
      : new Date(Date.parse(startedAt) + duration * 1_000).toISOString();
  expect(answered).toEqual({
    id,
    name,
    status,
    startedAt: start,
    endedAt,
    durationSeconds: duration,
    host: host ?? null,
  });
  for (const time of [start, endedAt ?? start]) expect(time).toMatch(timestamp);
  const { data } = await store.graphql(readShow, { lsId: id });
  expect(data.liveStream).toEqual({ ...answered, durationSeconds: expect.any(Number) });
}

async function calling(
  store: TestStore,
  { body, writes }: { body: Buffer; writes: string | undefined },
): Promise<void> {
  const [before, eventsBefore] = [await digestOf(app, store), await eventsOf(store)];
  const { data } = checkedGraphQL(await sendRaw(app, store, { method: "POST", path: "/graphql", headers: json, body }));
  const result = writes === undefined ? undefined : data?.[writes];
  if (result === null || result === undefined) return expect(await digestOf(app, store)).toBe(before);
  const { variables } = JSON.parse(body.toString().replace(/^\uFEFF/u, ""));
  if (writes === "saveLiveStream") return expectSaved(store, variables.liveStream, result);
  if (writes === "saveMoments") {
    const { accepted, created, replaced } = result;
    return expect([accepted, created + replaced]).toEqual([1, 1].map(() => [variables.moments].flat().length));
  }
  const { accepted, duplicates } = result;
  expect(accepted + duplicates).toBe([variables.events].flat().length);
  expect(await eventsOf(store)).toBe(eventsBefore + accepted);
  if (accepted === 0) expect(await digestOf(app, store)).toBe(before);
  expect(await store.graphql(readAnalytics, { lsId: variables.lsId })).toEqual({ data: expect.any(Object) });
  expect(await store.get(analyticsPath(variables.lsId))).toMatchObject({ status: 200 });
}

test("whatever variables hold, shows and events are stored just as they were sent, or refused and nothing is stored", async () => {
  const store = await storeWithShows();
  const property = fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 2 }), async (list) => {
    for (const call of list) await calling(store, call);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});

test("whatever stands in the path of analytics, the figures of just that show are answered, or it is not found", async () => {
  const store = await storeWithShows();
  const before = await digestOf(app, store);
  const property = fc.asyncProperty(
    fc.oneof(fc.constantFrom("show", "other"), shortTexts),
    shortTexts,
    async (id, search) => {
      const [lsId, query] = [id.toWellFormed(), encodeURIComponent(search.toWellFormed())];
      const path = analyticsPath(lsId);
      const answer = await sendRaw(app, store, { path: `${path}?${query}` });
      if (lsId === "") return checkRedirect(answer, path, query); // to the path of all shows
      const body = checkedRest(answer);
      const found = lsId === "show" || lsId === "other";
      expect(found ? body.id : body.code).toBe(found ? lsId : "LIVE_STREAM_NOT_FOUND");
    },
  );
  await fc.assert(property);
  expect(await digestOf(app, store)).toBe(before);
  expect(harmDone(app)).toEqual([]);
});
