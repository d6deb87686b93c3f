import { expect, onTestFinished, test } from "vitest";
import { createRetentionSweep } from "../../../src/analytics/totals/retention.js";
import { startApp, testDatabase, type TestApp, type TestStore } from "../../support/app.js";
import { storeWithShow, view } from "../../support/events.js";
import { recorded, saved, show } from "../../support/shows.js";
import { rowsOfShow } from "../../support/storedEvents.js";

async function slots(app: TestApp, store: TestStore): Promise<number> {
  const where = { storeId: store.id, slot: { gte: 0 } };
  return (await app.db.liveStreamMinute.count({ where })) + (await app.db.liveStreamDevice.count({ where }));
}

test("a server folds the totals of shows within seconds, without further events", async () => {
  const app = await startApp();
  onTestFinished(() => app.close());
  const { store, lsId } = await storeWithShow(app);
  await recorded(store, lsId, [view("a")]);
  await recorded(store, lsId, [view("b", { viewerId: "v2" })]);
  expect(await slots(app, store)).toBeGreaterThan(0);
  await expect.poll(() => slots(app, store)).toBe(0);
});

test("a round of the retention sweep removes what is older than the days given, and the next does nothing for an hour", async () => {
  const database = testDatabase();
  onTestFinished(() => database.close());
  const app = await startApp({ eventRetentionDays: 36_500 });
  onTestFinished(() => app.close());
  const { store, lsId } = await storeWithShow(app);
  const rows = async () => app.db.showEvent.count({ where: await rowsOfShow(app.db, { storeId: store.id, lsId }) });
  const longAgo = new Date(Date.parse(show().startedAt) + 60_000).toISOString();
  await recorded(store, lsId, [
    view("old", { occurredAt: longAgo }),
    view("new", { occurredAt: new Date().toISOString() }),
  ]);
  const sweep = createRetentionSweep(database.client, 30);
  await sweep(new AbortController().signal);
  expect(await rows()).toBe(1);
  const { id: later } = await saved(store);
  await recorded(store, later, [view("old", { occurredAt: longAgo })]);
  await sweep(new AbortController().signal);
  expect(await app.db.showEvent.count({ where: { storeId: store.id } })).toBe(2);
});
