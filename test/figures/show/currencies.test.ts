import { describe, expect, test } from "vitest";
import { setStore } from "../../../src/stores/store.js";
import { openTestApp } from "../../support/app.js";
import { order, refused, storeWithShow } from "../../support/events.js";
import { record, recorded } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

async function storeIn(currency: string) {
  const made = await storeWithShow(app);
  await setStore(app.db, made.store.id, { currency });
  return made;
}

const at = { occurredAt: "2026-05-04T18:31:00Z", productId: "oud" };
const may = `from: "2026-05-01T00:00:00Z", until: "2026-06-01T00:00:00Z"`;
const everywhere = (lsId: string) => `{
  liveStreamAnalytics(lsId: "${lsId}") {
    kpis { sales { live total } refunds { total } netSales { total } averageOrderValue sources { sales } }
    timeline { sales } topProducts(by: SALES) { sales }
  }
  storeAnalytics(${may}) { currency kpis { sales { total currency } averageOrderValue } timeline { sales } }
  productPerformance(${may}) { nodes { sales refunds } }
}`;

describe("amounts are exact in the decimals of the store's currency, everywhere", () => {
  test.each([
    ["KWD", [234.923, 0.002, 100.001], 0.001, 334.926, 111.642],
    ["EUR", [234.92, 0.02, 100.01], 0.01, 334.95, 111.65],
    ["JPY", [234, 1, 100], 1, 335, 112],
  ])("%s", async (currency, amounts, refund, total, average) => {
    const { store, lsId } = await storeIn(currency);
    await recorded(store, lsId, [
      ...amounts.map((amount, index) => order(`o${index}`, amount, at)),
      { ...order("r", refund, at), type: "REFUND" },
    ]);
    const { data, errors } = await store.graphql(everywhere(lsId));
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      liveStreamAnalytics: {
        kpis: {
          sales: { live: total, total },
          refunds: { total: refund },
          netSales: { total: Number((total - refund).toFixed(3)) },
          averageOrderValue: average,
          sources: [{ sales: total }],
        },
        timeline: [{ sales: total }],
        topProducts: [{ sales: total }],
      },
      storeAnalytics: {
        currency,
        kpis: { sales: { total, currency }, averageOrderValue: average },
        timeline: [{ sales: total }],
      },
      productPerformance: { nodes: [{ sales: total, refunds: refund }] },
    });
    const path = "/external/analytics/v1/live-streams.csv?from=2026-05-01T00:00:00Z&until=2026-06-01T00:00:00Z";
    const [header = "", row = ""] = (await (await store.fetch(path)).text()).split("\n");
    const names = header.split(",");
    const cell = (name: string) => row.split(",")[names.indexOf(name)];
    expect([cell("sales_total"), cell("average_order_value")]).toEqual([String(total), String(average)]);
  });
});

describe("more decimals than the currency has are refused", () => {
  test.each([
    ["KWD", 1.0005, "an amount of KWD, with at most 3 decimals"],
    ["EUR", 19.999, "an amount of EUR, with at most 2 decimals"],
    ["EUR", 1e-7, "an amount of EUR, with at most 2 decimals"],
    ["JPY", 100.5, "an amount of JPY, with no decimals"],
  ])("of %s: %d", async (currency, amount, rule) => {
    const { store, lsId } = await storeIn(currency);
    const lines = [{ productId: "oud", quantity: 1, amount }];
    const events = [
      order("a", 1),
      order("b", amount),
      { ...order("c", amount), type: "REFUND" },
      order("d", 200, { lines }),
    ];
    const message = `amount must be ${rule}, not ${amount}.`;
    const problem = (...path: readonly (string | number)[]) => ({
      code: "INVALID_VALUE",
      message,
      path: ["events", ...path],
    });
    expect(await store.graphql(record, { lsId, events })).toEqual(
      refused(problem(1, "amount"), problem(2, "amount"), problem(3, "lines", 0, "amount")),
    );
    const answer = await store.fetch(`/external/analytics/v1/live-streams/${lsId}/events`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: `${JSON.stringify(order("a", 1))}\n${JSON.stringify(order("b", amount))}\n`,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { errors: [{ message, path: ["amount"], line: 2 }] },
    ]);
  });

  test("of none, any are taken", async () => {
    const { store, lsId } = await storeWithShow(app);
    await recorded(store, lsId, [order("a", 234.923)]);
    const { data } = await store.graphql(`{ liveStreamAnalytics(lsId: "${lsId}") { kpis { sales { total } } } }`);
    expect(data.liveStreamAnalytics.kpis.sales.total).toBe(234.92);
  });
});
