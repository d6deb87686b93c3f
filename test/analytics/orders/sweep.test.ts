import { expect, test } from "vitest";
import { setAttribution } from "../../../src/analytics/orders/attribution/recount.js";
import { createOrderSweep } from "../../../src/analytics/orders/sweep.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { ago } from "../../support/clock.js";
import { view } from "../../support/events.js";
import { netOf, recordedOrders, sentOrder } from "../../support/figures/orders.js";
import { recorded, saved } from "../../support/shows.js";

const app = await openTestApp();

const agoMs = (ms: number) => ago(ms).toISOString();
/** A round. @returns the ids of the shows of which subscribers are notified */
const sweep = async () => {
  const changed: string[] = [];
  await createOrderSweep(app.db, (_, lsId) => void changed.push(lsId))(new AbortController().signal);
  return changed;
};

test("an order is attributed again after five minutes, by what its page reported after it", async () => {
  const store = await createTestStore(app);
  await setAttribution(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
  const { id } = await saved(store, { status: "LIVE", startedAt: agoMs(3_600_000), durationSeconds: null });
  await recordedOrders(store, [
    sentOrder("1", 10, { placedAt: agoMs(400_000), viewerId: "v1" }),
    sentOrder("2", 20, { placedAt: agoMs(100_000), viewerId: "v1" }),
  ]);
  await recorded(store, id, [view("late", { occurredAt: agoMs(500_000) })]);
  expect(await netOf(store, id)).toMatchObject({ sales: 0 });
  expect(await sweep()).toEqual([id]);
  expect(await netOf(store, id)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
  expect(await sweep()).toEqual([]);
  expect(await netOf(store, id)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
});

test("a change of rule and orders of events that a process has left are done", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await recorded(store, id, [view("a", { occurredAt: "2026-05-04T18:40:00.000Z" })]);
  await recordedOrders(store, [sentOrder("1", 10, { viewerId: "v1" }), sentOrder("2", 5, { viewerId: "v1" })]);
  await app.db.shopOrder.updateMany({ where: { storeId: store.id, id: "2" }, data: { isDue: true } });
  const data = { attributionRule: "LAST_SHOW", recountedTo: "1" };
  await app.db.store.updateMany({ where: { id: store.id }, data });
  await sweep();
  expect(await netOf(store, id)).toMatchObject({ sales: 5, orders: 1 });
  const { recountedTo } = await app.db.store.findFirstOrThrow({ where: { id: store.id } });
  expect(recountedTo).toBeNull();
});

test("claims of orders that never come are removed after 30 days", async () => {
  const { id: storeId } = await createTestStore(app);
  const claimOf = (orderId: string, days: number) => ({
    storeId,
    orderId,
    viewerId: Buffer.from("v"),
    claimedAt: agoMs(days * 86_400_000),
  });
  await app.db.orderClaim.createMany({ data: [claimOf("old", 31), claimOf("new", 29)] });
  await sweep();
  const left = await app.db.orderClaim.findMany({ where: { storeId } });
  expect(left.map(({ orderId }) => orderId)).toEqual(["new"]);
});
