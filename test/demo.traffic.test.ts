import { expect, onTestFinished, test } from "vitest";
import { createLiveFeed } from "../src/analytics/feed.js";
import { readAnalytics } from "../src/analytics/kpis.read.js";
import { demoStore, prepareDemo, runningShow } from "../src/cli/demo.js";
import { startDemoTraffic } from "../src/cli/demo.traffic.js";
import { testDatabase } from "./support/app.js";
import { until } from "./support/process.js";

test("shoppers of the demo come until its show has as many events as it may have, also after a new start", async () => {
  const database = testDatabase();
  const db = database.client;
  const feed = createLiveFeed({ read: (storeId, lsId) => readAnalytics(db, storeId, lsId) });
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  await prepareDemo(db, "a-token-for-the-demo-store");
  const count = () => db.shopperEvent.count({ where: { storeId: demoStore, liveStreamId: runningShow } });
  const fillUpTo = async (eventsMax: number): Promise<void> => {
    expect(await count()).toBeLessThan(eventsMax);
    const stop = startDemoTraffic(db, feed, { intervalMs: 1, eventsMax });
    await until(async () => (await count()) >= eventsMax, "the show to be full", 100_000);
    await stop();
    expect(await count()).toBeLessThan(eventsMax + 10); // a visit is stored as a whole
  };
  await fillUpTo(700);
  await fillUpTo(760); // events of an earlier run count
}, 240_000);
