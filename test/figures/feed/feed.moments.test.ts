import { expect, test } from "vitest";
import { createTestStore, openTestApp, startApp, testDatabase } from "../../support/app.js";
import { ago } from "../../support/clock.js";
import { order } from "../../support/events.js";
import { pin, savedMoments, styles } from "../../support/figures/moments.js";
import { subscribe } from "../../support/http/subscribe.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

test("subscribers get a pin that is saved, its figures as they grow, and its deletion", async () => {
  const store = await createTestStore(app);
  const startedAt = ago(600_000).toISOString();
  const { id: lsId } = await saved(store, { status: "LIVE", startedAt, durationSeconds: null });
  const leaving = new AbortController();
  const query = `subscription ($lsId: String!) {
    liveStreamAnalytics(lsId: $lsId) { moments(kind: PIN) { id endedAt figures { sales orders ofProduct { orders } } } } }`;
  const values = subscribe(app, store, { query, variables: { lsId } }, leaving.signal);
  const next = async () => (await values.next()).value.data.liveStreamAnalytics.moments;
  const figures = (sales: number, orders: number) => ({ sales, orders, ofProduct: { orders } });
  expect(await next()).toEqual([]);
  await savedMoments(store, lsId, [pin("shirt", 0, { startedAt: ago(300_000).toISOString() })]);
  expect(await next()).toEqual([{ id: "shirt", endedAt: null, figures: figures(0, 0) }]);
  await recorded(store, lsId, [order("1", 12.5, { productId: "shirt", occurredAt: ago(60_000).toISOString() })]);
  expect(await next()).toEqual([{ id: "shirt", endedAt: null, figures: figures(12.5, 1) }]);
  const endedAt = ago(120_000).toISOString();
  await savedMoments(store, lsId, [pin("shirt", 0, { startedAt: ago(300_000).toISOString(), endedAt })]);
  const whole = endedAt.replace(/\.\d+Z/u, ".000Z");
  expect(await next()).toEqual([{ id: "shirt", endedAt: whole, figures: figures(0, 0) }]);
  await styles.GraphQL.delete(store, lsId, "shirt");
  expect(await next()).toEqual([]);
  leaving.abort();
  await expect(values.next()).rejects.toThrow("aborted");
});

test("moments and their figures are read once for all subscribers of a show", async () => {
  const database = testDatabase();
  const watched = await startApp({ analyticsRateLimit: 0 }, database);
  const store = await createTestStore(watched);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  await savedMoments(store, lsId, [pin("shirt", 0), pin("mug", 60)]);
  const query = `subscription ($lsId: String!) {
    liveStreamAnalytics(lsId: $lsId) { moments { figures { sales netSales peakViewers ofProduct { orders ordersWithin } } } } }`;
  const leaving = new AbortController();
  const watchers = Array.from({ length: 30 }, () =>
    subscribe(watched, store, { query, variables: { lsId } }, leaving.signal),
  );
  for (const values of watchers) await values.next();
  let [moments, figures] = [0, 0];
  database.probe.aroundQuery = (sql, send) => {
    if (/FROM .*"ShowMoment"/u.test(sql)) moments += 1;
    if (/FROM "ShowEvent" AS e\s+WHERE/u.test(sql)) figures += 1;
    return send();
  };
  await recorded(store, lsId, [order("1", 12.5, { productId: "shirt" })]);
  for (const values of watchers) await values.next();
  expect([moments, figures]).toEqual([1, 3]); // sums, viewers, and orders after carts
  leaving.abort();
  await watched.close();
});
