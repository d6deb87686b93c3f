import { expect, test } from "vitest";
import { type ChannelTotals, kpisOf } from "../../../src/analytics/kpis/kpis.js";

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
  const net = (...channels: ChannelTotals[]) => kpisOf(channels, []).netSales.total;
  expect(net(totals("REFERRAL", half, "0"), totals("LIVE", "0", tiny(200)))).toBe(10.01);
  expect(net(totals("REFERRAL", "10.005", "0"), totals("LIVE", "0", tiny(200)))).toBe(10);
  expect(net(totals("LIVE", "0", tiny(200)))).toBe(0);
});
