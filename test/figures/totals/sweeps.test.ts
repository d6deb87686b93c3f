import { expect, onTestFinished, test } from "vitest";
import { createRetentionSweep } from "../../../src/figures/totals/retention.js";
import { openConnections, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { fromNow } from "../../support/clock.js";
import { storeWithShow, view } from "../../support/events.js";
import { oldShow, onlyOldShows, type ShowKey } from "../../support/figures.js";
import { recorded } from "../../support/shows.js";

async function slots(app: TestApp, store: TestStore): Promise<number> {
  const where = { storeId: store.id, slot: { gte: 0 } };
  return (await app.db.liveStreamMinute.count({ where })) + (await app.db.liveStreamGroup.count({ where }));
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
  const database = openConnections();
  const db = database.client;
  const rows = async ({ storeId }: ShowKey) => db.showEvent.count({ where: { storeId } });
  await onlyOldShows();
  const [first, second] = [await oldShow(db, 50), await oldShow(db, 50)];
  const days = (fromNow(0).getTime() - Date.parse("2021-01-01T00:00:00Z")) / 86_400_000; // only shows of this test are so old
  const sweep = createRetentionSweep(db, days);
  await sweep(new AbortController().signal);
  expect(await rows(first.show)).toBe(0);
  const third = await oldShow(db, 50);
  await sweep(new AbortController().signal);
  expect([await rows(second.show), await rows(third.show)]).toEqual([0, 50]);
});
