import { describe, expect, test } from "vitest";
import { type ChannelTotals, kpisOf, showTotals } from "../../../src/figures/show/kpis.js";
import { openTestApp } from "../../support/app.js";
import { order, storeWithShow, view } from "../../support/events.js";
import { readAnalytics, readKpis, recorded } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

describe("money", () => {
  test("is exact: 0.1 and 0.2 give 0.3", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 0.1), order("b", 0.2)]);
    expect((await readKpis(store, lsId)).sales).toEqual({ live: 0.3, replay: 0, total: 0.3 });
  });

  test("is exact over channels, batches and slots: three hundred cents are three", async () => {
    const { store, lsId } = await storeWithShow(app);
    for (const channel of ["LIVE", "REPLAY", "REFERRAL"] as const) {
      const events = Array.from({ length: 100 }, (_, n) => order(`${channel} ${n}`, 0.01, { channel }));
      await recorded(store, lsId, events);
    }
    expect((await readKpis(store, lsId)).sales).toEqual({ live: 1, replay: 1, total: 3 });
  });

  test.for([
    ["half a cent is rounded up", [0.005], 0.01],
    ["less than half a cent is not", [0.004999999999999999], 0],
    ["nothing is rounded before the sum", [0.004, 0.004, 0.004], 0.01],
    ["nor after it: a billion and less than half a cent is a billion", [1e9, 0.004999999999999999], 1e9],
    ["the least and the greatest amounts", [5e-324, 1e9, 0], 1e9],
    ["1.005 is what it says", [1.005], 1.01],
    ["a large sum to the cent", Array.from({ length: 100 }, () => 999_999_999.99), 99_999_999_999],
  ] as const)("%s", async ([, amounts, total]) => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(
      store,
      lsId,
      amounts.map((amount, index) => order(`o${index}`, amount)),
    );
    expect((await readKpis(store, lsId)).sales).toEqual({ live: total, replay: 0, total });
  });

  test("sums over channels are rounded once", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 1e9), order("b", 0.004999999999999999, { channel: "REFERRAL" })]);
    expect((await readKpis(store, lsId)).sales).toEqual({ live: 1e9, replay: 0, total: 1e9 });
  });
});

describe("rates", () => {
  test("are rounded once, though the exact quotient is long", async () => {
    const { store, lsId } = await storeWithShow(app);
    // Just below half a cent, and half a hundredth of a second, by a digit far behind.
    const amounts = [1e9, 1e9, 1e9, 0.0199999999999999];
    await recorded(
      store,
      lsId,
      amounts.map((amount, index) => order(`o${index}`, amount)),
    );
    const times = [86_400, 86_400, 86_400, 0.01999999999999999];
    const views = times.map((seconds, index) => view(`v${index}`, { viewerId: `v${index}`, seconds }));
    await recorded(store, lsId, views);
    const { data } = await store.graphql(readAnalytics, { lsId });
    expect(data.liveStreamAnalytics.kpis).toMatchObject({
      averageOrderValue: 750_000_000,
      avgViewTime: { live: 64_800, replay: 0, avg: 64_800 },
    });
  });
});

const nothing = {
  orders: 0,
  viewers: 0,
  cartViewers: 0,
  viewSeconds: "0",
  buyers: 0,
  engagedViewers: 0,
  ordersWithoutViewer: 0,
};
const totals = (channel: "LIVE" | "REFERRAL", sales: string, refunds: string): ChannelTotals => ({
  ...nothing,
  channel,
  sales,
  refunds,
});

test("net sales are rounded once: amounts far below a cent decide whether half a cent counts", () => {
  const tiny = (digits: number) => `0.${"0".repeat(digits)}1`;
  const half = `10.005${"0".repeat(100)}1`;
  const net = (...channels: ChannelTotals[]) => kpisOf(showTotals(channels, [])).netSales.total;
  expect(net(totals("REFERRAL", half, "0"), totals("LIVE", "0", tiny(200)))).toBe(10.01);
  expect(net(totals("REFERRAL", "10.005", "0"), totals("LIVE", "0", tiny(200)))).toBe(10);
  expect(net(totals("LIVE", "0", tiny(200)))).toBe(0);
});
