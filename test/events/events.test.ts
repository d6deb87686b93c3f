import { describe, expect, test } from "vitest";
import { pruneEvents } from "../../src/figures/totals/prune.js";
import { openTestApp } from "../support/app.js";
import { fromNow, stopClock } from "../support/clock.js";
import { order, refused, refusedWith, storedEvents, storeWithShow, view } from "../support/events.js";
import { kpis } from "../support/oracle.js";
import { netOf } from "../support/figures/orders.js";
import { graphqlError } from "../support/problems.js";
import {
  analyticsPath,
  documentedKpis,
  readAnalytics,
  readKpis,
  record,
  recorded,
  saved,
  savedShow,
} from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

describe("a show without any event", () => {
  test("has exactly the documented members in REST, in the documented order, all figures 0", async () => {
    const { store, lsId } = await storeWithShow(app);
    const response = await store.fetch(analyticsPath(lsId));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.text()).toBe(JSON.stringify({ ...savedShow({ id: lsId }), kpis: documentedKpis([]) }));
  });

  test("has figures of 0 and empty lists in GraphQL", async () => {
    const { store, lsId } = await storeWithShow(app);
    expect(await store.graphql(readAnalytics, { lsId })).toEqual({
      data: {
        liveStreamAnalytics: {
          ...savedShow({ id: lsId }),
          status: "ENDED",
          kpis: kpis([]),
          peakConcurrentViewers: 0,
          timeline: [],
          topProducts: [],
          devicesByChannel: ["LIVE", "REPLAY"].map((channel) => ({ channel, devices: [] })),
        },
      },
    });
  });
});

describe("the first event of an id counts", () => {
  test("and a later one with different content changes nothing, in the same batch or another", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("o", 10), order("o", 99, { channel: "REPLAY" }), view("v", { device: "TV" })]);
    await recorded(store, lsId, [view("o", { viewerId: "other" }), view("v", { device: "mobile", seconds: 1 })]);
    expect(await readKpis(store, lsId)).toMatchObject({
      sales: { live: 10, replay: 0, total: 10 },
      viewers: { live: 1, replay: 0, total: 1 },
      avgViewTime: { live: 60, replay: 0, avg: 60 },
      devices: [{ device: "tv", value: 100 }],
    });
  });
});

describe("a batch", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => order(`o${index}`, 1));

  test("of 10,000 events is recorded", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = many(10_000).map((event, index) => ({ ...event, id: `${index % 100}` })); // of a few ids, which is faster
    expect(await recorded(store, lsId, events)).toEqual({ accepted: 100, duplicates: 9_900 });
    expect((await readKpis(store, lsId)).sales.total).toBe(100);
  });

  test("of 10,001 events is refused with the limit named, and nothing of it is stored", async () => {
    const { store, lsId } = await storeWithShow(app);
    const message = "A batch may have at most 10000 events.";
    expect(await store.graphql(record, { lsId, events: many(10_001) })).toEqual(
      refused({ code: "VALIDATION_FAILED", message, path: ["events"] }),
    );
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("accepts values at the limits", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = [view("v", { seconds: 86_400 }), view("w", { seconds: 0 }), order("o", 1e9), order("p", 0)];
    expect(await recorded(store, lsId, events)).toEqual({ accepted: 4, duplicates: 0 });
    expect(await readKpis(store, lsId)).toMatchObject({
      sales: { live: 1e9, replay: 0, total: 1e9 },
      avgViewTime: { live: 86_400, replay: 0, avg: 86_400 },
    });
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

  test("of an archived show is recorded where it consists of refunds, also after its events were removed", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 50)]);
    await saved(store, { id: lsId, status: "ARCHIVED" });
    const refund = (id: string, fields: object = {}) => ({ ...order(id, 5, fields), type: "REFUND" }) as const;
    const line = { productId: "new", quantity: 1, amount: 5 };
    expect(await recorded(store, lsId, [refund("b", { lines: [line] })])).toEqual({ accepted: 1, duplicates: 0 });
    expect(await recorded(store, lsId, [refund("b")])).toEqual({ accepted: 0, duplicates: 1 });
    const mixed = await store.graphql(record, { lsId, events: [refund("c"), order("d", 5)] });
    expect(mixed.errors?.[0]?.message).toBe("The show is archived and takes no more events.");
    const clock = stopClock();
    const occurredAt = fromNow(0).toISOString();
    expect(await recorded(store, lsId, [refund("e", { occurredAt })])).toEqual({ accepted: 1, duplicates: 0 });
    clock.pass(1);
    await pruneEvents(app.db, store.id, { before: fromNow(1), lsId });
    const again = await store.graphql(record, { lsId, events: [refund("e", { occurredAt })] });
    expect(again.errors?.[0]?.message).toMatch(
      /^occurredAt must be at least .*, before which the events of the show were removed/u,
    );
    expect(await recorded(store, lsId, [refund("f")])).toEqual({ accepted: 1, duplicates: 0 });
    expect(await netOf(store, lsId)).toEqual({ sales: 50, refunds: 15, net: 35, orders: 1 });
  });

  test("of another store's show is refused like that of a missing one, and nothing is stored", async () => {
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
