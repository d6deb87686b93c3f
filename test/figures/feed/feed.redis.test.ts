// @tier all
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { order } from "../../support/events.js";
import { pin, savedMoments, styles } from "../../support/figures/moments.js";
import { subscribe } from "../../support/http/subscribe.js";
import { needed } from "../../support/run/programs.js";
import { recorded, saved } from "../../support/shows.js";

const shared = { analyticsRateLimit: 0, redisUrl: needed("TEST_REDIS_URL") };
const [here, there] = [await openTestApp(shared), await openTestApp(shared)];

test("a saved moment reaches the clients of another process over Redis, as does its deletion", async () => {
  const store = await createTestStore(here);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const leaving = new AbortController();
  const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { moments { id } } }";
  const values = subscribe(there, store, { query, variables: { lsId } }, leaving.signal);
  const ids = async () => (await values.next()).value.data.liveStreamAnalytics.moments.map(({ id }: any) => id);
  expect(await ids()).toEqual([]);
  await savedMoments(store, lsId, [pin("shirt", 0)]);
  await expect.poll(ids).toEqual(["shirt"]);
  await styles.REST.delete(store, lsId, "shirt");
  await expect.poll(ids).toEqual([]);
  leaving.abort();
  await expect(values.next()).rejects.toThrow("aborted");
});

test("the subscription reaches the clients of another process over Redis", async () => {
  const store = await createTestStore(here);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const leaving = new AbortController();
  const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";
  const values = subscribe(there, store, { query, variables: { lsId } }, leaving.signal);
  const orders = async () => (await values.next()).value.data.liveStreamAnalytics.kpis.orders.total as number;
  expect(await orders()).toBe(0);
  await recorded(store, lsId, [order("1", 1)]);
  await expect.poll(orders).toBe(1); // what Redis was told of the show's start may arrive before
  leaving.abort();
  await expect(values.next()).rejects.toThrow("aborted");
});
