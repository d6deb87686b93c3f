import { describe, expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import { order, storedEvents, storeWithShow, view } from "../../support/events.js";
import {
  devicesByChannel,
  documentedKpis,
  kpis,
  peakViewers,
  type SentEvent,
  timeline,
  topProducts,
} from "../../support/oracle.js";
import { readAnalytics, readKpis, recorded, saved, savedShow } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

describe("figures", () => {
  test("count the seconds of a VIEW, the amount of an ORDER and products added to carts, and nothing else of other events", async () => {
    const { store, lsId } = await storeWithShow(app);
    const occurredAt = "2026-05-04T18:30:10.000Z";
    await recorded(store, lsId, [
      view("a", { amount: 7, productId: "shirt", occurredAt }),
      view("b", { type: "ADD_TO_CART", seconds: 500, amount: 7, productId: "scarf", occurredAt }),
      order("c", 1, { viewerId: "buyer", device: "tv", seconds: 500, productId: "shirt", occurredAt }),
    ]);
    expect(await readKpis(store, lsId)).toEqual({
      sales: { live: 1, replay: 0, total: 1 },
      orders: { live: 1, replay: 0, total: 1 },
      viewers: { live: 1, replay: 0, total: 1 },
      addToCart: { live: 100, replay: 0, avg: 100 },
      avgViewTime: { live: 60, replay: 0, avg: 60 },
      devices: [{ device: "unknown", value: 100 }],
    });
    const { data } = await store.graphql(readAnalytics, { lsId });
    expect(data.liveStreamAnalytics).toMatchObject({
      peakConcurrentViewers: 1,
      timeline: [{ startsAt: "2026-05-04T18:30:00.000Z", viewers: 1, carts: 1, orders: 1, sales: 1 }],
      topProducts: [{ productId: "scarf", carts: 1 }],
    });
  });

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

  test("use the time of arrival for an event without occurredAt", async () => {
    const { store, lsId } = await storeWithShow(app);
    const before = Date.now();
    await recorded(store, lsId, [order("a", 1), order("b", 1, { occurredAt: "2026-05-04T20:59:59.999+02:00" })]);
    const { data } = await store.graphql(readAnalytics, { lsId });
    const [past, now] = data.liveStreamAnalytics.timeline;
    expect(past.startsAt).toBe("2026-05-04T18:59:00.000Z");
    expect(Date.parse(now.startsAt)).toBeGreaterThan(before - 60_000);
    expect(Date.parse(now.startsAt)).toBeLessThanOrEqual(Date.now());
  });

  test.each(["0001-01-02T00:00:00.000Z", "1970-01-01T00:00:00.000Z"])(
    "have a timeline with the events of a show that started at %s",
    async (startedAt) => {
      const { store, lsId } = await storeWithShow(app);
      await saved(store, { id: lsId, startedAt });
      const moments = [-86_400_000, -1, 0].map((ms) => new Date(Date.parse(startedAt) + ms).toISOString());
      await recorded(
        store,
        lsId,
        moments.map((occurredAt) => order(occurredAt, 1, { occurredAt })),
      );
      const { data } = await store.graphql(readAnalytics, { lsId });
      const bucket = { viewers: 0, carts: 0, orders: 1, sales: 1 };
      const starts = moments.map((moment) => `${moment.slice(0, 17)}00.000Z`);
      expect(data.liveStreamAnalytics.timeline).toEqual(starts.map((startsAt) => ({ startsAt, ...bucket })));
    },
  );
});

describe("concurrent batches", () => {
  /** Events of one content for each id, with one device for each viewer. */
  function eventAt(index: number): SentEvent {
    const viewerId = `v${index % 700}`;
    const occurredAt = new Date(Date.parse("2026-05-04T18:30:00.000Z") + (index % 90) * 60_000).toISOString();
    const common = { id: `e${index}`, viewerId, occurredAt, device: ["mobile", "Desktop"][(index % 700) % 2] ?? "" };
    if (index % 10 === 0) return { ...common, type: "ORDER", channel: "REFERRAL", amount: 0.1 };
    if (index % 10 === 1) return { ...common, type: "ORDER", channel: "LIVE", amount: 19.99 };
    if (index % 10 === 2) return { ...common, type: "ADD_TO_CART", channel: "LIVE", productId: `p${index % 7}` };
    return { ...common, type: "VIEW", channel: index % 2 === 0 ? "LIVE" : "REPLAY", seconds: 0.1 };
  }

  test("of 500 overlapping events in different orders count every event once, with exact sums", async () => {
    const { store, lsId } = await storeWithShow(app);
    // Writer w sends events w × 250 to w × 250 + 1,499, so each is sent by several; every other writer backwards.
    const batchesOf = (writer: number) => {
      const indexes = Array.from({ length: 1_500 }, (_, n) => writer * 250 + n);
      const events = (writer % 2 === 0 ? indexes : indexes.toReversed()).map(eventAt);
      return [events.slice(0, 500), events.slice(500, 1_000), events.slice(1_000)];
    };
    const receipts = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const own = [];
        for (const events of batchesOf(writer)) own.push(await recorded(store, lsId, events));
        return own;
      }),
    );
    const all = Array.from({ length: 7 * 250 + 1_500 }, (_, index) => eventAt(index));
    const accepted = receipts.flat().reduce((sum, receipt) => sum + receipt.accepted, 0);
    expect(accepted).toBe(all.length);
    expect(await storedEvents(app, store)).toBe(all.length);
    const { data } = await store.graphql(readAnalytics, { lsId, bucketSeconds: 300, first: 3 });
    expect(data.liveStreamAnalytics).toEqual({
      ...savedShow({ id: lsId }),
      status: "ENDED",
      kpis: kpis(all),
      peakConcurrentViewers: peakViewers(all),
      timeline: timeline(all, 300),
      topProducts: topProducts(all, 3),
      devicesByChannel: devicesByChannel(all),
    });
    expect(await readKpis(store, lsId)).toEqual(documentedKpis(all));
    expect(app.logged.filter((line) => line.includes("deadlock"))).toEqual([]);
  });
});
