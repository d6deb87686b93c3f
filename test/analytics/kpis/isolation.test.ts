import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { order, view } from "../../support/events.js";
import { listShowsBySales, readPerformance, readStore } from "../../support/access/isolation.js";
import { readAnalytics, recorded, saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

test("of two stores with the same ids, each reads its own figures, whatever the other records", async () => {
  const [ours, theirs] = [await createTestStore(app), await createTestStore(app)];
  const recordAt = async (
    store: TestStore,
    minute: number,
    fields: { productId: string; device: string; amount: number },
  ) => {
    const { id: lsId } = await saved(store, { id: "the-show" });
    const common = { ...fields, occurredAt: `2026-05-04T18:${minute}:00.000Z` };
    await recorded(store, lsId, [
      view("e1", common),
      view("e2", { ...common, type: "ADD_TO_CART" }),
      order("e3", fields.amount, common),
    ]);
  };
  const read = () =>
    Promise.all([
      ours.graphql(readAnalytics, { lsId: "the-show" }),
      ...[readStore, readPerformance, listShowsBySales].map((query) => ours.graphql(query)),
    ]);
  await recordAt(ours, 40, { productId: "shirt", device: "mobile", amount: 20 });
  const before = await read();
  expect(before[0]?.data.liveStreamAnalytics).toMatchObject({
    timeline: [{ orders: 1 }],
    topProducts: [{ productId: "shirt" }],
  });
  await recordAt(theirs, 50, { productId: "scarf", device: "tv", amount: 500 });
  expect(await read()).toEqual(before);
});
