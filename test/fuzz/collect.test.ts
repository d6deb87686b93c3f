import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { issueKey } from "../../src/stores/publicKey.js";
import { foldDue } from "../../src/events/record/fold.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { keyTitles } from "../../src/server/http/routes/collect.route.js";
import { checkedRest } from "../support/fuzz/fuzz.answers.js";
import { damaged, mutated, toJson, writeJson } from "../support/fuzz/fuzz.json.js";
import { harmDone, type RawAnswer, sendRaw } from "../support/fuzz/fuzz.js";
import { events, ids } from "../support/fuzz/fuzz.shows.js";
import { texts } from "../support/fuzz/fuzz.values.js";
import { analyticsPath, saved } from "../support/shows.js";
import { digestOf } from "../support/stored.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0, collectRateLimit: 0 });
});
afterAll(() => app.close());

const origin = "https://shop.example";
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

async function storeWithShows() {
  const store = await createTestStore(app);
  for (const [id, status] of Object.entries({ show: "LIVE", other: "ENDED" })) await saved(store, { id, status });
  const { key } = await issueKey(app.db, store.id, { origins: [origin] });
  return { store, key };
}

/** What a request must leave as it is where it is refused. Totals that the service would fold meanwhile are folded before. */
async function stateOf(store: TestStore) {
  await foldDue(app.db, new AbortController().signal);
  return { digest: await digestOf(app, store), events: await eventsOf(store) };
}

const eventsOf = ({ id: storeId }: TestStore) => app.db.showEvent.count({ where: { storeId } });

/** Either as many events as were accepted are new, of as many as were sent, or it is a problem and nothing has changed. */
async function expectWhole(
  store: TestStore,
  answer: RawAnswer,
  stored: 200 | 202,
  before: { readonly digest: string; readonly events: number },
): Promise<void> {
  if (answer.status !== stored) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    checkedRest(answer, stored === 202 ? keyTitles : {});
    return expect(await digestOf(app, store)).toBe(before.digest);
  }
  const { accepted, duplicates, ...others } = JSON.parse(answer.text ?? "");
  expect([duplicates >= 0, others]).toEqual([true, {}]);
  expect(await eventsOf(store)).toBe(before.events + accepted);
  if (accepted === 0) expect(await digestOf(app, store)).toBe(before.digest);
  for (const id of ["show", "other"]) expect(await store.get(analyticsPath(id))).toMatchObject({ status: 200 });
}

const headers = fc.record(
  {
    "content-type": fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom("text/plain;charset=UTF-8", "text/plain", "application/json; charset=utf-8"),
      },
      { weight: 1, arbitrary: fc.constantFrom("text/html", "application/json; charset=latin1", ";") },
    ),
    "content-encoding": fc.oneof(
      { weight: 9, arbitrary: fc.constant("identity") },
      { weight: 1, arbitrary: fc.constant("gzip") },
    ),
    origin: fc.oneof(
      { weight: 8, arbitrary: fc.constant(origin) },
      { weight: 1, arbitrary: fc.constantFrom("null", "https://shop.example.evil.example", "") },
    ),
    "user-agent": fc.oneof(
      { weight: 5, arbitrary: fc.constant(browser) },
      { weight: 1, arbitrary: fc.constant("Googlebot") },
    ),
  },
  { requiredKeys: ["content-type"] },
);

/** What is stored unless something is done to it. */
const views = fc.record(
  {
    id: fc.nat().map(String),
    type: fc.constantFrom("VIEW", "ADD_TO_CART"),
    channel: fc.constantFrom("LIVE", "REPLAY"),
    viewerId: fc.constantFrom("v1", "v2", "v3"),
    seconds: fc.nat(60),
  },
  { requiredKeys: ["id", "type", "channel", "viewerId"] },
);
const mixed = fc.oneof({ weight: 9, arbitrary: views }, { weight: 1, arbitrary: events });

test("whatever a page sends, it is stored as a whole, or refused and nothing is stored", async () => {
  const { store, key } = await storeWithShows();
  const body = fc.record(
    {
      key: fc.constantFrom(key, key, key, "vp_unknown"),
      show: ids,
      channel: fc.constantFrom("LIVE", "REPLAY", "LIVE", "REPLAY", "REFERRAL"),
      viewer: fc.oneof(fc.constantFrom("v1", "v2"), texts),
      events: fc.array(mixed, { maxLength: 4 }),
    },
    { requiredKeys: ["key", "show", "events"] },
  );
  const example = { key, show: "show", events: [{ id: "-", type: "VIEW", channel: "LIVE", viewerId: "v1" }] };
  expect(await store.post("/collect/v1", example)).toMatchObject({ status: 202, body: { accepted: 1 } });
  const sent = fc.record({ headers, body: damaged(fc.oneof(body.map(toJson), mutated(body)).map(writeJson)) });
  const property = fc.asyncProperty(sent, async (given) => {
    const before = await stateOf(store);
    const call = { method: "POST", path: "/collect/v1", ...given };
    await expectWhole(store, await sendRaw(app, store, call), 202, before);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});

test("whatever the lines of a body hold, they are stored as a whole, or refused and nothing is stored", async () => {
  const { store } = await storeWithShows();
  const example = { id: "-", type: "VIEW", channel: "LIVE", viewerId: "v1" };
  expect(await store.post(`${analyticsPath("show")}/events`, { events: [example] })).toMatchObject({ status: 200 });
  const breaks = fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\r", "");
  const lines = fc.array(
    fc.tuple(
      fc.oneof({ weight: 4, arbitrary: views.map(toJson) }, { weight: 1, arbitrary: mutated(mixed) }).map(writeJson),
      breaks,
    ),
    { maxLength: 5 },
  );
  const body = damaged(lines.map((list) => list.flat().join("")));
  const property = fc.asyncProperty(ids, body, async (id, sent) => {
    const before = await stateOf(store);
    const answer = await sendRaw(app, store, {
      method: "POST",
      path: `${analyticsPath(encodeURIComponent(id.toWellFormed()))}/events`,
      headers: { "content-type": "application/x-ndjson" },
      body: sent,
    });
    await expectWhole(store, answer, 200, before);
  });
  await fc.assert(property);
  expect(harmDone(app)).toEqual([]);
});
