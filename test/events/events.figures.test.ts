// @engine both
import { describe, expect, test } from "vitest";
import { openTestApp } from "../support/app.js";
import { fromNow, stopClock } from "../support/clock.js";
import { order, storeWithShow, view } from "../support/events.js";
import { someEvents } from "../support/figures.js";
import { kpis, type SentEvent, timeline } from "../support/oracle.js";
import { documentedKpis, readAnalytics, readKpis, recorded, saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

describe("figures", () => {
  test("weight averages by viewers, have the channel REFERRAL for sales and orders only, and round rates to 2 decimals", async () => {
    const { store, lsId } = await storeWithShow(app);
    const viewers = ["a", "b", "c"].map((viewerId) => view(viewerId, { viewerId, seconds: 10, device: "mobile" }));
    const replay = { channel: "REPLAY", viewerId: "a" } as const;
    await recorded(store, lsId, [
      ...viewers,
      view("d", { type: "ADD_TO_CART", viewerId: "a" }),
      view("e", { ...replay, seconds: 100, device: "Desktop" }),
      view("f", { ...replay, type: "ADD_TO_CART" }),
      order("g", 20, { channel: "REPLAY" }),
      order("h", 5.5, { channel: "REFERRAL" }),
    ]);
    const { data } = await store.graphql(readAnalytics, { lsId });
    expect(data.liveStreamAnalytics.kpis).toMatchObject({
      sales: { live: 0, replay: 20, referral: 5.5, total: 25.5 },
      orders: { live: 0, replay: 1, referral: 1, total: 2 },
      viewers: { live: 3, replay: 1, total: 4, unique: 3 },
      addToCart: { live: 33.33, replay: 100, avg: 50 },
      avgViewTime: { live: 10, replay: 100, avg: 32.5 },
      devices: [
        { device: "mobile", value: 75 },
        { device: "desktop", value: 25 },
      ],
      conversionRate: 66.67,
      averageOrderValue: 12.75,
    });
  });

  test("count buyers by the channel of their orders, once each, orders of nobody, and who watched for three seconds", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [
      view("1", { viewerId: "a", seconds: 2.99 }),
      view("2", { viewerId: "b", seconds: 3 }),
      view("3", { viewerId: "c", seconds: 0 }),
      view("4", { viewerId: "b", channel: "REPLAY", seconds: 40 }),
      order("5", 10, { viewerId: "a" }),
      order("6", 10, { viewerId: "a" }),
      order("7", 10, { viewerId: "a", channel: "REFERRAL" }),
      order("8", 10, { viewerId: "never seen", channel: "REPLAY" }),
      order("9", 10),
      { ...order("10", 5, { viewerId: "b" }), type: "REFUND" },
    ]);
    await recorded(store, lsId, [order("11", 1, { viewerId: "a" }), view("12", { viewerId: "a", seconds: 5 })]);
    const { data } = await store.graphql(readAnalytics, { lsId });
    expect(data.liveStreamAnalytics.kpis).toMatchObject({
      viewers: { live: 3, replay: 1, total: 4, unique: 3 },
      buyers: { live: 1, replay: 1, referral: 1, total: 3, unique: 2 },
      buyerRate: { live: 33.33, replay: 100, total: 66.67 },
      ordersWithoutViewer: { live: 1, replay: 0, referral: 0, total: 1 },
      engagedViewers: { live: 2, replay: 1, total: 3, unique: 2 },
    });
  });

  test("add up over more batches than there are rows that batches write to side by side", async () => {
    const { store, lsId } = await storeWithShow(app);
    for (let batch = 1; batch <= 17; batch += 1) {
      const viewerId = `viewer ${batch}`;
      const cart = { id: `c${batch}`, type: "ADD_TO_CART", channel: "LIVE", viewerId } as const;
      await recorded(store, lsId, [
        view(`v${batch}`, { viewerId, seconds: 5 }),
        cart,
        order(`o${batch}`, 2, { viewerId }),
      ]);
    }
    const { data } = await store.graphql(readAnalytics, { lsId });
    expect(data.liveStreamAnalytics.kpis).toMatchObject({
      sales: { live: 34 },
      orders: { live: 17 },
      viewers: { live: 17 },
      addToCart: { live: 100 },
      avgViewTime: { live: 5 },
      buyers: { live: 17, unique: 17 },
      engagedViewers: { live: 17 },
    });
  });

  test("use the time of arrival for an event without occurredAt", async () => {
    stopClock();
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 1), order("b", 1, { occurredAt: "2026-05-04T20:59:59.999+02:00" })]);
    const { data } = await store.graphql(readAnalytics, { lsId });
    const minute = fromNow(0).toISOString().slice(0, 17);
    expect(data.liveStreamAnalytics.timeline).toMatchObject([
      { startsAt: "2026-05-04T18:59:00.000Z" },
      { startsAt: `${minute}00.000Z` },
    ]);
  });

  test("have a timeline with the events of a show that started long ago", async () => {
    const { store, lsId } = await storeWithShow(app);
    for (const startedAt of ["1970-01-01T00:00:00.000Z", "0001-01-02T00:00:00.000Z"]) {
      await saved(store, { id: lsId, startedAt });
      const moments = [-86_400_000, -1, 0].map((ms) => new Date(Date.parse(startedAt) + ms).toISOString());
      const events = moments.map((occurredAt) => order(occurredAt, 1, { occurredAt }));
      await recorded(store, lsId, events);
      const { data } = await store.graphql(readAnalytics, { lsId });
      expect(data.liveStreamAnalytics.timeline.slice(0, 3)).toEqual(timeline(events, 60));
    }
  });
});

test("concurrent batches of overlapping events in different orders count every event once, without deadlocks", async () => {
  const { store, lsId } = await storeWithShow(app);
  const all = someEvents(320).map((event): SentEvent => ({ ...event, device: "mobile" })); // whichever comes first
  // Each event is sent by several writers; every other writer sends them backwards.
  const batches = [0, 40, 80, 120].map((first, writer) => {
    const events = all.slice(first, first + 200);
    return writer % 2 === 0 ? events : events.toReversed();
  });
  const receipts = await Promise.all(batches.map((events) => recorded(store, lsId, events)));
  expect(receipts.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(all.length);
  const { data } = await store.graphql(readAnalytics, { lsId });
  expect(data.liveStreamAnalytics).toMatchObject({ kpis: kpis(all), timeline: timeline(all, 60) });
  expect(await readKpis(store, lsId)).toEqual(documentedKpis(all));
  expect(app.logged.filter((line) => line.includes("deadlock"))).toEqual([]);
});
