import { hashSecret } from "../../src/access/token.js";
import { expect, onTestFinished, test } from "vitest";
import { createLiveFeed } from "../../src/analytics/feed/feed.js";
import { readAnalytics } from "../../src/analytics/kpis/kpis.read.js";
import { demoStore, prepareDemo, runningShow } from "../../src/cli/demo/demo.js";
import { startDemoTraffic } from "../../src/cli/demo/traffic.js";
import type { RootDatabase } from "../../src/database/client.js";
import { within } from "../support/busy.js";
import { openConnections, testDatabase } from "../support/app.js";
import { until } from "../support/until.js";
import { rowsOfShow } from "../support/figures/storedEvents.js";

test("demo traffic ends once its show has the maximum of events, also after a restart", async () => {
  const database = testDatabase();
  const db = database.client;
  const feed = createLiveFeed({ read: (storeId, lsId) => readAnalytics(db, storeId, lsId) });
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  await prepareDemo(db, "a-token-for-the-demo-store", url);
  const where = await rowsOfShow(db, { storeId: demoStore, lsId: runningShow });
  const count = () => db.showEvent.count({ where });
  const fillUpTo = async (eventsMax: number): Promise<void> => {
    expect(await count()).toBeLessThan(eventsMax);
    const stop = startDemoTraffic(db, feed, { intervalMs: 1, eventsMax });
    await until(async () => (await count()) >= eventsMax, "the show to be full", within(25_000));
    await stop();
    expect(await count()).toBeLessThan(eventsMax + 10); // a visit is stored as a whole
  };
  const stored = await count();
  await fillUpTo(stored + 60);
  await fillUpTo(stored + 120); // events of an earlier run count
});

const url = "http://127.0.0.1:4000";

async function removeDemo(db: RootDatabase): Promise<void> {
  const where = { storeId: demoStore };
  await db.showEvent.deleteMany({ where });
  await db.liveStream.deleteMany({ where });
  await db.product.deleteMany({ where });
  await db.accessToken.deleteMany({ where });
  await db.store.deleteMany({ where: { id: demoStore } });
}

test("an interrupted creation of the demo store is completed from any step, and nothing counts twice", async () => {
  const database = openConnections();
  const db = database.client;
  const [where, show] = [{ storeId: demoStore }, { storeId_id: { storeId: demoStore, id: runningShow } }];
  const counted = () =>
    Promise.all([db.product.count({ where }), db.liveStream.count({ where }), db.site.count({ where })]);
  await removeDemo(db);
  await db.store.create({ data: { id: demoStore, name: "Demo store" } });
  const first = await prepareDemo(db, undefined, url);
  expect(first?.token).toMatch(/^vt_/u);
  expect(await counted()).toEqual([12, 14, 1]);

  const events = await db.showEvent.count({ where });
  await db.accessToken.deleteMany({ where });
  await db.showEvent.deleteMany({ where: await rowsOfShow(db, { storeId: demoStore, lsId: "summer-sale" }) });
  await db.liveStream.delete({ where: { storeId_id: { storeId: demoStore, id: "summer-sale" } } });
  expect((await prepareDemo(db, undefined, url))?.token).toMatch(/^vt_/u);
  expect(await counted()).toEqual([12, 14, 1]);
  expect(await db.showEvent.count({ where })).toBeLessThan(events * 1.5);
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
  const db = openConnections().client;
  await removeDemo(db);
  await db.store.create({ data: { id: demoStore, name: "Demo store" } }); // other tests have stores
  await prepareDemo(db, undefined, url);
  const chosen = { storeId_id: { storeId: demoStore, id: "tote-bag" } };
  await db.product.update({ where: chosen, data: { featuredImage: "https://cdn.example/bag.jpg" } });
  await prepareDemo(db, undefined, "http://127.0.0.1:4001");
  const found = await db.product.findMany({ where: { storeId: demoStore }, orderBy: { id: "asc" } });
  const others = found.filter(({ id }) => id !== "tote-bag").map(({ id, featuredImage }) => [id, featuredImage]);
  expect(others).toHaveLength(11);
  for (const [id, picture] of others) expect(picture).toBe(`http://127.0.0.1:4001/demo/${id}.svg`);
  expect(found.find(({ id }) => id === "tote-bag")?.featuredImage).toBe("https://cdn.example/bag.jpg");
});

test("before the first start the running show had 60 visits a minute for 20 minutes, as many as the traffic makes", async () => {
  const database = openConnections();
  const db = database.client;
  await removeDemo(db);
  await db.store.create({ data: { id: demoStore, name: "Demo store" } }); // other tests have stores
  await prepareDemo(db, undefined, url);
  const views = { ...(await rowsOfShow(db, { storeId: demoStore, lsId: runningShow })), type: 1 };
  expect(await db.showEvent.count({ where: views })).toBe(20 * 60);
});

test("an operator's own store with the id demo is left unchanged", async () => {
  const database = openConnections();
  const db = database.client;
  await removeDemo(db);
  await db.store.create({ data: { id: demoStore, name: demoStore } });
  expect(await prepareDemo(db, undefined, url)).toMatchObject({ token: undefined });
  expect(await db.product.count({ where: { storeId: demoStore } })).toBe(0);
});
