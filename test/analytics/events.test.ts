import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp, type TestApp } from "../support/app.js";
import { order, refused, refusedWith, storedEvents, storeWithShow, view } from "../support/events.js";
import {
  devicesByChannel,
  documentedKpis,
  kpis,
  peakViewers,
  type SentEvent,
  timeline,
  topProducts,
} from "../support/oracle.js";
import { graphqlError } from "../support/problems.js";
import { analyticsPath, readAnalytics, readKpis, record, recorded, saved, savedShow } from "../support/shows.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
});
afterAll(() => app.close());

describe("a show without any event", () => {
  const nothing = {
    sales: { live: 0, replay: 0, total: 0 },
    orders: { live: 0, replay: 0, total: 0 },
    viewers: { live: 0, replay: 0, total: 0 },
    addToCart: { live: 0, replay: 0, avg: 0 },
    avgViewTime: { live: 0, replay: 0, avg: 0 },
    devices: [],
  };

  test("has exactly the documented members in REST, in the documented order, all figures 0", async () => {
    const { store, lsId } = await storeWithShow(app);
    const response = await store.fetch(analyticsPath(lsId));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.text()).toBe(JSON.stringify({ ...savedShow({ id: lsId }), kpis: nothing }));
  });

  test("has figures of 0 and empty lists in GraphQL", async () => {
    const { store, lsId } = await storeWithShow(app);
    expect(await store.graphql(readAnalytics, { lsId })).toEqual({
      data: {
        liveStreamAnalytics: {
          ...savedShow({ id: lsId }),
          status: "ENDED",
          kpis: {
            ...nothing,
            sales: { live: 0, replay: 0, referral: 0, total: 0 },
            orders: { live: 0, replay: 0, referral: 0, total: 0 },
            viewers: { live: 0, replay: 0, total: 0, unique: 0 },
            conversionRate: 0,
            averageOrderValue: 0,
          },
          peakConcurrentViewers: 0,
          timeline: [],
          topProducts: [],
          devicesByChannel: [
            { channel: "LIVE", devices: [] },
            { channel: "REPLAY", devices: [] },
          ],
        },
      },
    });
  });
});

describe("a receipt", () => {
  test("counts what is new, and as duplicates what the show or the batch had before", async () => {
    const { store, lsId } = await storeWithShow(app);
    expect(await recorded(store, lsId, [view("a"), view("b"), view("a")])).toEqual({ accepted: 2, duplicates: 1 });
    expect(await recorded(store, lsId, [view("c"), view("b")])).toEqual({ accepted: 1, duplicates: 1 });
    expect(await recorded(store, lsId, [view("a"), view("b"), view("c")])).toEqual({ accepted: 0, duplicates: 3 });
    expect(await recorded(store, lsId, [])).toEqual({ accepted: 0, duplicates: 0 });
    expect(await storedEvents(app, store)).toBe(3);
  });

  test("takes ids as they are: case, spaces and composition tell them apart", async () => {
    const { store, lsId } = await storeWithShow(app);
    const ids = ["a", "A", " a", "a ", "é", "e\u0301", "NULL", "null", "{}", '"', "\\", "👗"];
    expect(
      await recorded(
        store,
        lsId,
        ids.map((id) => order(id, 1)),
      ),
    ).toEqual({ accepted: ids.length, duplicates: 0 });
    expect((await readKpis(store, lsId)).sales.total).toBe(ids.length);
  });
});

describe("the first event of an id counts", () => {
  test("and a later one with other content changes nothing, in the same batch or in another", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("o", 10), order("o", 99, { channel: "REPLAY" }), view("v", { device: "TV" })]);
    await recorded(store, lsId, [view("o", { viewerId: "other" }), view("v", { device: "mobile", seconds: 1 })]);
    expect(await readKpis(store, lsId)).toEqual({
      sales: { live: 10, replay: 0, total: 10 },
      orders: { live: 1, replay: 0, total: 1 },
      viewers: { live: 1, replay: 0, total: 1 },
      addToCart: { live: 0, replay: 0, avg: 0 },
      avgViewTime: { live: 60, replay: 0, avg: 60 },
      devices: [{ device: "tv", value: 100 }],
    });
  });

  test("a viewer's device is that of the first event of the batch, though a later one has a lesser id", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [view("z", { device: "Desktop" }), view("a", { device: "mobile" })]);
    await recorded(store, lsId, [view("0", { device: "mobile" }), view("r", { channel: "REPLAY", device: "mobile" })]);
    expect((await readKpis(store, lsId)).devices).toEqual([
      { device: "desktop", value: 50 },
      { device: "mobile", value: 50 },
    ]);
  });

  test("a viewer without a device stays unknown, whatever comes later", async () => {
    const { store, lsId } = await storeWithShow(app);
    const missing = [undefined, null, ""];
    for (const [index, device] of missing.entries()) {
      const viewerId = `v${index}`;
      await recorded(store, lsId, [view(viewerId, { viewerId, ...(device !== undefined && { device }) })]);
      await recorded(store, lsId, [view(`later ${viewerId}`, { viewerId, device: "mobile" })]);
    }
    expect((await readKpis(store, lsId)).devices).toEqual([{ device: "unknown", value: 100 }]);
  });
});

describe("a batch", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => order(`o${index}`, 1));

  test("of 10,000 events is recorded", async () => {
    const { store, lsId } = await storeWithShow(app);
    expect(await recorded(store, lsId, many(10_000))).toEqual({ accepted: 10_000, duplicates: 0 });
    expect((await readKpis(store, lsId)).sales.total).toBe(10_000);
  });

  test("of 10,001 events is refused with the limit named, and nothing of it is stored", async () => {
    const { store, lsId } = await storeWithShow(app);
    const message = "A batch may have at most 10000 events.";
    expect(await store.graphql(record, { lsId, events: many(10_001) })).toEqual(
      refused({ code: "VALIDATION_FAILED", message, path: ["events"] }),
    );
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("takes the values at the limits", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = [view("v", { seconds: 86_400 }), view("w", { seconds: 0 }), order("o", 1e9), order("p", 0)];
    expect(await recorded(store, lsId, events)).toEqual({ accepted: 4, duplicates: 0 });
    expect(await readKpis(store, lsId)).toMatchObject({
      sales: { live: 1e9, replay: 0, total: 1e9 },
      avgViewTime: { live: 86_400, replay: 0, avg: 86_400 },
    });
  });

  test.for(["LIVE", "ENDED"])("of a show that is %s is recorded", async (status) => {
    const { store, lsId } = await storeWithShow(app, status);
    expect(await recorded(store, lsId, [view("a")])).toEqual({ accepted: 1, duplicates: 0 });
  });

  test("of an archived show is refused, even if it was recorded before", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 5)]);
    await saved(store, { id: lsId, status: "ARCHIVED" });
    const message = "The show is archived and takes no more events.";
    const expected = refused({ code: "VALIDATION_FAILED", message, path: ["lsId"] });
    for (const events of [[order("a", 5)], [order("b", 5)]]) {
      expect(await store.graphql(record, { lsId, events })).toEqual(expected);
    }
    expect(await storedEvents(app, store)).toBe(1);
    expect((await readKpis(store, lsId)).sales).toEqual({ live: 5, replay: 0, total: 5 });
  });

  test("of an unknown show, or another store's, is refused alike, and nothing is stored", async () => {
    const [{ lsId: theirs, store: owner }, { store }] = [await storeWithShow(app), await storeWithShow(app)];
    const message = "The store has no live stream with this id.";
    const error = { code: "LIVE_STREAM_NOT_FOUND", message, path: ["lsId"] };
    const notFound = refusedWith(graphqlError("LIVE_STREAM_NOT_FOUND", message, [error]));
    for (const lsId of ["unknown", theirs, "a\0b", "\ud800"]) {
      for (const events of [[], [view("a")]]) expect(await store.graphql(record, { lsId, events })).toEqual(notFound);
    }
    expect([await storedEvents(app, store), await storedEvents(app, owner)]).toEqual([0, 0]);
  });
});

describe("what counts", () => {
  test("seconds of a VIEW, the amount of an ORDER, and products put into carts; nothing else of other events", async () => {
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

  test("averages are weighted by viewers, referral is a channel of sales and orders only, rates have 2 decimals", async () => {
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
    expect(data.liveStreamAnalytics.kpis).toEqual({
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

  test("an event without a time occurred when it arrived", async () => {
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
    "events of a show that started at %s stand in the timeline",
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

describe("many writers", () => {
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

  test("with batches of 1,000 that overlap, in other orders: every event counts once, sums are exact", async () => {
    const { store, lsId } = await storeWithShow(app);
    // Writer w sends events w × 250 to w × 250 + 2,999, so each is sent by several; every other writer backwards.
    const batchesOf = (writer: number) => {
      const indexes = Array.from({ length: 3_000 }, (_, n) => writer * 250 + n);
      const events = (writer % 2 === 0 ? indexes : indexes.toReversed()).map(eventAt);
      return [events.slice(0, 1_000), events.slice(1_000, 2_000), events.slice(2_000)];
    };
    const receipts = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const own = [];
        for (const events of batchesOf(writer)) own.push(await recorded(store, lsId, events));
        return own;
      }),
    );
    const all = Array.from({ length: 7 * 250 + 3_000 }, (_, index) => eventAt(index));
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
