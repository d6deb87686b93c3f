import { expect, test } from "vitest";
import { previewAttribution } from "../../src/orders/attribution/preview.js";
import { claimOrders } from "../../src/orders/state/order.record.js";
import { createOrderSweep } from "../../src/orders/attribution/attributePending.js";
import { deleteLiveStream } from "../../src/shows/liveStream.delete.js";
import { pruneEvents } from "../../src/figures/totals/prune.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { ago, stopClock } from "../support/clock.js";
import { view } from "../support/events.js";
import { attributionOf, countedBy, netOf, recordedOrders, sentOrder, sweptOrders } from "../support/figures/orders.js";
import { recorded, saved } from "../support/shows.js";

const app = await openTestApp();

const agoMs = (ms: number) => ago(ms).toISOString();
const sweep = () => createOrderSweep(app.db, () => undefined)(new AbortController().signal);
const dueOf = (storeId: string) => app.db.shopOrder.count({ where: { storeId, dueAt: { not: null } } });

async function storeWithShow(rule: "LAST_SHOW" | "CART") {
  const store = await createTestStore(app);
  await countedBy(app.db, store.id, { rule, windowHours: 168 });
  return { store, id: (await saved(store, { status: "LIVE", startedAt: agoMs(7_200_000), durationSeconds: null })).id };
}

test("an order is attributed again after five minutes, by what its page reported after it", async () => {
  const clock = stopClock();
  const { store, id } = await storeWithShow("LAST_SHOW");
  await recordedOrders(store, [
    sentOrder("1", 10, { placedAt: agoMs(200_000), viewerId: "v1" }),
    sentOrder("2", 20, { placedAt: agoMs(10_000), viewerId: "v1" }),
  ]);
  await recorded(store, id, [view("after", { occurredAt: agoMs(100_000), seconds: 120 })]);
  expect(await netOf(store, id)).toMatchObject({ sales: 0 });
  clock.pass(120_000);
  await sweep();
  expect(await netOf(store, id)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
  clock.pass(180_000);
  await sweep();
  expect(await netOf(store, id)).toEqual({ sales: 30, refunds: 0, net: 30, orders: 2 });
  expect(await dueOf(store.id)).toBe(0);
});

test("a VIEW and a cart that are stored late make the orders due that they may be evidence of, and only by rules of what was watched", async () => {
  const { store, id } = await storeWithShow("LAST_SHOW");
  const placed = (orderId: string, minutesAgo: number, fields: object = {}) =>
    sentOrder(orderId, 10, { placedAt: agoMs(minutesAgo * 60_000), viewerId: "v1", ...fields });
  const lines = [{ productId: "mug", quantity: 1, amount: 10 }];
  await recordedOrders(store, [
    placed("before", 70),
    placed("during", 60, { lines }),
    placed("after", 20, { lines }),
    placed("of another", 20, { viewerId: "v2" }),
  ]);
  await recorded(store, id, [view("late", { occurredAt: agoMs(59 * 60_000), seconds: 120 })]);
  await sweptOrders(app.db, store.id);
  expect(await netOf(store, id)).toMatchObject({ sales: 20, orders: 2 });
  for (const of of ["during", "after"]) expect((await attributionOf(store, of))[0].show.id).toBe(id);
  await countedBy(app.db, store.id, { rule: "CART", windowHours: 168 });
  expect(await netOf(store, id)).toMatchObject({ sales: 0, orders: 0 });
  const cart = { type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId: "mug" } as const;
  await recorded(store, id, [{ ...cart, id: "cart", occurredAt: agoMs(30 * 60_000) }]);
  await sweptOrders(app.db, store.id);
  expect(await netOf(store, id)).toMatchObject({ sales: 10, orders: 1 });
  await countedBy(app.db, store.id, { rule: "AS_SENT", windowHours: 168 });
  await recorded(store, id, [view("later", { occurredAt: agoMs(59 * 60_000) })]);
  expect(await app.db.lateEvent.count({ where: { storeId: store.id } })).toBe(0);
  await countedBy(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
  await recorded(store, id, [view("now", { occurredAt: agoMs(60_000) }), view("untimed")]);
  expect(await app.db.lateEvent.count({ where: { storeId: store.id } })).toBe(0);
});

test("a claimed order is found by a late event, and one of a viewer with an event of a deleted show is attributed again", async () => {
  const { store, id } = await storeWithShow("LAST_SHOW");
  const other = (await saved(store, { status: "LIVE", startedAt: agoMs(7_200_000), durationSeconds: null })).id;
  await recordedOrders(store, [sentOrder("1", 10, { placedAt: agoMs(600_000) })]);
  await claimOrders(app.db, store.id, new Map([["1", "v1"]]));
  await recorded(store, id, [view("late", { occurredAt: agoMs(900_000) })]);
  await recorded(store, other, [view("later", { occurredAt: agoMs(700_000) })]);
  await sweptOrders(app.db, store.id);
  expect((await attributionOf(store, "1"))[0].show.id).toBe(other);
  await deleteLiveStream(app.db, store.id, other, { force: true });
  await sweptOrders(app.db, store.id);
  expect((await attributionOf(store, "1"))[0].show.id).toBe(id);
});

test("what a show's removed events said of an order stays, also in a dry run and where the rule is set anew", async () => {
  const store = await createTestStore(app);
  const rule = { rule: "LAST_SHOW", windowHours: 168 } as const;
  await countedBy(app.db, store.id, rule);
  const { id } = await saved(store);
  await recorded(store, id, [view("a", { occurredAt: "2026-05-04T18:40:00.000Z" })]);
  await recordedOrders(store, [sentOrder("1", 10, { viewerId: "v1", placedAt: "2026-05-04T22:00:00.000Z" })]);
  await saved(store, { id, status: "ARCHIVED" });
  await pruneEvents(app.db, store.id, { before: new Date() });
  expect((await previewAttribution(app.db, store.id, rule)).changes).toEqual([]);
  await countedBy(app.db, store.id, rule);
  expect(await netOf(store, id)).toMatchObject({ sales: 10, orders: 1 });
  await countedBy(app.db, store.id, { ...rule, windowHours: 1 });
  expect(await netOf(store, id)).toMatchObject({ sales: 0, orders: 0 });
});

test("orders of events that a process has left are attributed", async () => {
  const { store, id } = await storeWithShow("LAST_SHOW");
  await recorded(store, id, [view("a", { occurredAt: agoMs(900_000) })]);
  await sweptOrders(app.db, store.id);
  await app.db.store.updateMany({ where: { id: store.id }, data: { attributionRule: "AS_SENT" } });
  await recordedOrders(store, [sentOrder("1", 10, { placedAt: agoMs(600_000), viewerId: "v1" })]);
  await app.db.store.updateMany({ where: { id: store.id }, data: { attributionRule: "LAST_SHOW" } });
  await app.db.shopOrder.updateMany({ where: { storeId: store.id }, data: { dueAt: new Date() } });
  await sweptOrders(app.db, store.id);
  expect(await netOf(store, id)).toMatchObject({ sales: 10, orders: 1 });
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
