import { afterAll, beforeAll, expect, test } from "vitest";
import { hashSecret } from "../../../src/stores/token.js";
import { createLiveFeed } from "../../../src/figures/feed/feed.js";
import { readAnalytics } from "../../../src/figures/show/kpis.read.js";
import { demoStore, prepareDemo, runningShow, startDemoTraffic } from "../../../src/cli/demo/demo.js";
import { showExample } from "../../../src/api/rest/routes/exampleData.js";
import { examples } from "../../../src/server/pages/graphiql/graphiql.examples.js";
import { openTestApp, storeAt } from "../../support/app.js";
import { fromNow } from "../../support/clock.js";
import { rowsOfShow } from "../../support/figures/storedEvents.js";
import { subscribe } from "../../support/http/subscribe.js";
import { until } from "../../support/until.js";

// One after the other: each test goes on with the store as the one before has left it. No other file changes it.

const app = await openTestApp();
const { db, url } = app;
const where = { storeId: demoStore };
const eventsOf = async (lsId: string) => rowsOfShow(db, { storeId: demoStore, lsId });

async function removeDemo(): Promise<void> {
  await db.showEvent.deleteMany({ where });
  await db.showMoment.deleteMany({ where });
  await db.liveStream.deleteMany({ where });
  await db.product.deleteMany({ where });
  await db.accessToken.deleteMany({ where });
  await db.store.deleteMany({ where: { id: demoStore } });
}

beforeAll(async () => {
  await removeDemo();
  await db.store.create({ data: { id: demoStore, name: "Demo store", currency: "EUR" } }); // as if interrupted: other tests have stores
});
afterAll(removeDemo);

const counted = () =>
  Promise.all([db.product.count({ where }), db.liveStream.count({ where }), db.site.count({ where })]);

test("before the first start the running show had 60 visits a minute for 20 minutes, as many as the traffic makes", async () => {
  expect((await prepareDemo(db, undefined, url))?.token).toMatch(/^vt_/u);
  expect(await counted()).toEqual([12, 14, 1]);
  expect(await db.showEvent.count({ where: { ...(await eventsOf(runningShow)), type: 1 } })).toBe(20 * 60);
});

test("past shows have a pin every two minutes and two hosts, and the running show has pins", async () => {
  const shows = await db.liveStream.findMany({ where });
  const rows = await db.showMoment.findMany({ where, orderBy: { startedAt: "asc" } });
  for (const { id, number, startedAt, durationSeconds } of shows) {
    const ofShow = rows.filter(({ show }) => show === number);
    const pins = ofShow.filter(({ kind }) => kind === "PIN");
    expect([id, pins.length]).toEqual([id, Math.ceil((durationSeconds ?? 20 * 60) / 120)]);
    const start = Math.floor(startedAt.getTime() / 1_000);
    const since = pins.map((pin) => pin.startedAt.getTime() / 1_000 - start);
    expect(since).toEqual(pins.map((_, index) => index * 120));
    const hosts = ofShow.filter(({ kind }) => kind === "HOST").map(({ hostName }) => hostName);
    expect(new Set(hosts).size).toBe(id === runningShow ? 0 : 2);
  }
  const ended = shows.find(({ id }) => id === "summer-sale");
  expect(ended?.startedAt.toISOString(), "as in the examples of the API").toBe(showExample.startedAt);
});

test("an interrupted creation is completed from any step, and nothing counts twice", async () => {
  const events = await db.showEvent.count({ where });
  await db.accessToken.deleteMany({ where });
  await db.showEvent.deleteMany({ where: await eventsOf("summer-sale") });
  await db.liveStream.delete({ where: { storeId_id: { storeId: demoStore, id: "summer-sale" } } });
  expect((await prepareDemo(db, undefined, url))?.token).toMatch(/^vt_/u);
  expect(await counted()).toEqual([12, 14, 1]);
  expect(await db.showEvent.count({ where })).toBeLessThan(events * 1.5);
  const show = { storeId_id: { storeId: demoStore, id: runningShow } };
  expect(await db.liveStream.findUnique({ where: show })).toMatchObject({ status: "LIVE" });

  const stored = await db.showEvent.count({ where });
  const again = await prepareDemo(db, undefined, url);
  expect(again?.token, "each start shows a token").toMatch(/^vt_/u);
  expect(await db.showEvent.count({ where }), "it is complete now").toBe(stored);
  const tokens = await db.accessToken.findMany({ where });
  const shown = [again?.token, again?.readOnlyToken].map((token) => hashSecret(token ?? ""));
  expect(tokens.map(({ hash }) => hash).toSorted()).toEqual(shown.toSorted());
  expect(tokens.find(({ hash }) => hash === shown[1])?.scopes).toEqual(["catalog:read", "analytics:read"]);
});

test("pictures of the demo's products are at the server's address, also at another one, and those of an operator stay", async () => {
  const chosen = { storeId_id: { storeId: demoStore, id: "tote-bag" } };
  await db.product.update({ where: chosen, data: { featuredImage: "https://cdn.example/bag.jpg" } });
  for (const at of [url, "http://127.0.0.1:4001"]) {
    await prepareDemo(db, undefined, at);
    const found = await db.product.findMany({ where });
    const pictures = new Map(found.map(({ id, featuredImage }) => [id, featuredImage]));
    expect(pictures.get("tote-bag")).toBe("https://cdn.example/bag.jpg");
    pictures.delete("tote-bag");
    expect(pictures.size).toBe(11);
    for (const [id, picture] of pictures) expect(picture).toBe(`${at}/demo/${id}.svg`);
  }
});

test("demo traffic ends once its show has the maximum of events, also after a restart", async () => {
  const feed = createLiveFeed({ read: (storeId, lsId) => readAnalytics(db, storeId, lsId) });
  const ofShow = await eventsOf(runningShow);
  const count = () => db.showEvent.count({ where: ofShow });
  const stored = await count();
  for (const eventsMax of [stored + 30, stored + 60]) {
    expect(await count(), "events of an earlier run count").toBeLessThan(eventsMax);
    const stop = startDemoTraffic(db, feed, { intervalMs: 1, eventsMax });
    await until(async () => (await count()) >= eventsMax, "the show to be full");
    await stop();
    expect(await count()).toBeLessThan(eventsMax + 10); // a visit is stored as a whole
  }
  expect(await db.showMoment.count({ where: ofShow }), "the traffic pins products, too").toBeGreaterThan(10);
  await feed.close();
});

/** What answers of the demo store have at least, for the question of each tab. */
const answers: Readonly<Record<string, object>> = {
  BestProducts: {
    liveStreamAnalytics: {
      name: "Summer sale",
      topProducts: [{ product: { title: expect.any(String) }, sales: expect.any(Number) }, {}, {}],
    },
    liveStreams: { nodes: [{ name: "Denim night" }, {}, {}] },
  },
  WeekAgainstLast: {
    storeAnalytics: { showCount: 1, currency: "EUR", previous: { showCount: 1 }, timeline: expect.any(Array) },
  },
  LiveFigures: { liveStreamAnalytics: { kpis: { viewers: { total: expect.any(Number) } } } },
  ImportProduct: { importProduct: { message: "1 product was imported.", created: 1 } },
  ExportProducts: { products: { nodes: expect.any(Array), pageInfo: { hasNextPage: false } } },
};

test("each tab of GraphiQL answers its question on the demo store", async () => {
  const token = "a-token-for-the-demo-store";
  await prepareDemo(db, token, url);
  const demo = storeAt(url, { id: demoStore, token });
  const later = fromNow(60_000).getTime(); // the page is opened after the store was made
  const fill = (text: string) =>
    text.replaceAll(/\{(\d+) days ago\}/gu, (_, days) => new Date(later - Number(days) * 86_400_000).toISOString());
  const names: string[] = [];
  for (const { query, variables: unfilled } of examples) {
    const [, kind, name = ""] = /^(query|mutation|subscription) (\w+)/mu.exec(query) ?? [];
    names.push(name);
    const variables = JSON.parse(fill(JSON.stringify(unfilled)));
    const leaving = new AbortController();
    const answer =
      kind === "subscription"
        ? (await subscribe(app, demo, { query, variables }, leaving.signal).next()).value
        : await demo.graphql(query, variables);
    leaving.abort();
    expect(answer.errors, name).toBeUndefined();
    expect(answer.data, name).toMatchObject(answers[name] ?? {});
  }
  expect(names).toEqual(Object.keys(answers));
});

test("an operator's own store with the id demo is left unchanged", async () => {
  await removeDemo();
  await db.store.create({ data: { id: demoStore, name: demoStore } });
  expect(await prepareDemo(db, undefined, url)).toMatchObject({ token: undefined });
  expect(await db.product.count({ where })).toBe(0);
});
