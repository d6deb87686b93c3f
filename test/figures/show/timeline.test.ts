import { expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { readTimeline } from "../../../src/figures/show/timeline.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { order, storeWithShow, view } from "../../support/events.js";
import { newShow } from "../../support/figures.js";
import type { SentEvent } from "../../support/oracle.js";
import { importOne, product } from "../../support/products.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const readSpan = `query ($lsId: String!, $bucketSeconds: Int! = 60, $from: DateTime, $until: DateTime) {
  liveStreamAnalytics(lsId: $lsId) {
    timeline(bucketSeconds: $bucketSeconds, from: $from, until: $until) { startsAt orders }
  }
}`;

test("a timeline covers whole minutes from one moment until another", async () => {
  const { store, lsId } = await storeWithShow(app);
  const minutes = ["18:29:59", "18:30:00", "18:31:59.999", "18:32:00", "23:00:00"];
  const events = minutes.map((time) => order(time, 1, { occurredAt: `2026-05-04T${time}Z` }));
  await recorded(store, lsId, events);
  const startsOf = async (span: object) => {
    const { data } = await store.graphql(readSpan, { lsId, ...span });
    return data.liveStreamAnalytics.timeline.map(({ startsAt }: { startsAt: string }) => startsAt.slice(11, 16));
  };
  const at = (time: string) => `2026-05-04T${time}Z`;
  expect(await startsOf({})).toEqual(["18:29", "18:30", "18:31", "18:32", "23:00"]);
  expect(await startsOf({ from: at("18:30:00"), until: at("18:32:00") })).toEqual(["18:30", "18:31"]);
  expect(await startsOf({ from: at("18:30:59"), until: at("18:32:01") })).toEqual(["18:30", "18:31", "18:32"]);
  expect(await startsOf({ from: at("18:32:00"), until: null })).toEqual(["18:32", "23:00"]);
  expect(await startsOf({ from: at("19:00:00"), until: at("18:00:00") })).toEqual([]);
  expect(await startsOf({ from: "0001-01-01T00:00:00Z", until: at("18:30:00") })).toEqual(["18:29"]);
});

test.each([60, 900, 86_400])("a timeline in buckets of %i seconds has the latest 1,500", async (bucketSeconds) => {
  const { storeId, lsId } = await newShow(app.db);
  const startedAt = new Date("2020-01-01T00:00:00Z");
  await app.db.liveStream.updateMany({ where: { storeId }, data: { startedAt } });
  const starts = Array.from({ length: 1_501 }, (_, n) => new Date(startedAt.getTime() + n * bucketSeconds * 1_000));
  const events = starts.map((occurredAt, n) => ({ ...order(`${n}`, 1), occurredAt }));
  await recordEvents(app.db, storeId, lsId, events);
  const buckets = await readTimeline(app.db, storeId, lsId, bucketSeconds);
  expect(buckets.map((bucket) => bucket.startsAt)).toEqual(starts.slice(1));
});

test.each([60, 900, 3_600])(
  "timelines in buckets of %i s that begin at different times are as each alone",
  async (bucketSeconds) => {
    const { store, lsId } = await storeWithShow(app);
    const startedAt = Date.parse("2026-05-04T18:00:00Z");
    const at = (minute: number) => new Date(startedAt + minute * 60_000).toISOString();
    const minutes = Array.from({ length: 1_600 }, (_, n) => n);
    await recorded(
      store,
      lsId,
      minutes.map((n) => order(`${n}`, 1, { occurredAt: at(n) })),
    );
    const spanOf = (minute: number | null, until: string | null) => ({
      from: minute === null ? null : at(minute),
      until,
    });
    const spans = [
      ...[60, 0, 1_590, 59.5, null, -5, 2_000].map((from) => spanOf(from, null)),
      ...[1_200, 15].map((from) => spanOf(from, at(1_300))),
    ];
    const fields = spans.map(
      ({ from, until }, n) =>
        `t${n}: timeline(bucketSeconds: ${bucketSeconds}, from: ${JSON.stringify(from)}, until: ${JSON.stringify(until)}) { startsAt orders }`,
    );
    const { data } = await store.graphql(
      `query ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { ${fields.join(" ")} } }`,
      { lsId },
    );
    const alone = [];
    for (const span of spans) {
      const answer = await store.graphql(readSpan, { lsId, bucketSeconds, ...span });
      alone.push(answer.data.liveStreamAnalytics.timeline);
    }
    expect(Object.values(data.liveStreamAnalytics)).toEqual(alone);
    expect(alone[0]).toHaveLength(Math.min(1_500, Math.ceil((1_600 - 60) / (bucketSeconds / 60))));
  },
);

test("top products are of the store's own catalog; missing ones are null", async () => {
  const store = await createTestStore(app);
  const other = await createTestStore(app);
  const show = await saved(store);
  await store.graphql(importOne, { product: product("mug", { title: "Mug" }) });
  await other.graphql(importOne, { product: product("cup", { title: "Cup of another store" }) });
  const cart = (id: string, productId: string): SentEvent => view(id, { type: "ADD_TO_CART", viewerId: id, productId });
  await recorded(store, show.id, [cart("a", "mug"), cart("b", "mug"), cart("c", "cup")]);
  const { data, errors } = await store.graphql(
    `query ($lsId: String!) {
      liveStreamAnalytics(lsId: $lsId) { topProducts(first: 5) { productId carts product { id title } } }
    }`,
    { lsId: show.id },
  );
  expect(errors).toBeUndefined();
  expect(data.liveStreamAnalytics.topProducts).toEqual([
    { productId: "mug", carts: 2, product: { id: "mug", title: "Mug" } },
    { productId: "cup", carts: 1, product: null },
  ]);
});
