// @engine both
import { expect, test } from "vitest";
import { previewAttribution } from "../../src/orders/attribution/preview.js";
import { attributionState, recountPage, setAttribution } from "../../src/orders/attribution/recount.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { view } from "../support/events.js";
import { countedBy, netOf, recordedOrders, sentOrder, sweptOrders, unattributedOf } from "../support/figures/orders.js";
import { recorded, saved } from "../support/shows.js";

// The servers of other tests on the database may count a part of the orders.

const app = await openTestApp({ analyticsRateLimit: 0 });
const rule = { rule: "LAST_SHOW", windowHours: 168 } as const;
const orders = 350;

/** A store with orders of one viewer, each a second later, who has watched a show before. */
async function storeWithOrders() {
  const store = await createTestStore(app);
  const { id } = await saved(store);
  await recorded(store, id, [view("a", { occurredAt: "2026-05-04T18:40:00.000Z" })]);
  const placedAt = (n: number) => new Date(Date.parse("2026-05-04T19:00:00.000Z") + n * 1_000).toISOString();
  const all = Array.from({ length: orders }, (_, n) =>
    sentOrder(String((n * 7_919) % orders), 1, { viewerId: "v1", placedAt: placedAt(n) }),
  );
  await recordedOrders(store, all);
  return { store, id };
}

/** Rules of all orders, the latest first, as a text of the rules that follow each other; and how many count by LAST_SHOW. */
async function rulesOf({ id: storeId }: TestStore) {
  const parts = await app.db.orderPart.findMany({
    where: { storeId },
    orderBy: [{ placedAt: "desc" }, { orderId: "desc" }],
  });
  const codes = parts.map(({ rule: code }) => code);
  const runs = codes.filter((code, index) => code !== codes[index - 1]).join(" ");
  return { runs, parts: parts.length, now: codes.filter((code) => code === 1).length };
}

test("a change of rule is stored at once, and pages count all orders anew: the latest first, each once, with their progress", async () => {
  const { store, id } = await storeWithOrders();
  expect(await setAttribution(app.db, store.id, rule)).toBe(orders);
  const seen: number[] = [];
  for (let isRest = true; isRest;) {
    const { recount } = await attributionState(app.db, store.id);
    const { runs, parts, now } = await rulesOf(store);
    expect(parts).toBe(orders);
    expect(["0", "1 0", "1"]).toContain(runs);
    if (recount !== null) {
      expect(recount.orders).toBe(orders);
      expect(recount.done).toBeLessThanOrEqual(now);
      seen.push(recount.done);
    }
    const [ofShow, ofNone] = [await netOf(store, id), await unattributedOf(store)];
    if (now === (await rulesOf(store)).now) expect([ofShow.sales, ofNone.sales]).toEqual([now, orders - now]);
    isRest =
      (await recountPage(app.db, store.id, 100)).isRest || (await attributionState(app.db, store.id)).recount !== null;
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
  expect(seen.some((done) => done > 0 && done < orders)).toBe(true);
  expect(await netOf(store, id)).toEqual({ sales: orders, refunds: 0, net: orders, orders });
  expect(await attributionState(app.db, store.id)).toEqual({ ...rule, recount: null });
});

test("orders that come meanwhile count by the new rule, and a second change begins anew", async () => {
  const { store, id } = await storeWithOrders();
  await setAttribution(app.db, store.id, rule);
  await recountPage(app.db, store.id, 100);
  await recordedOrders(store, [
    sentOrder("new", 5, { viewerId: "v1", placedAt: "2026-05-04T22:00:00.000Z" }),
    sentOrder("old", 5, { viewerId: "v1", placedAt: "2026-05-04T18:50:00.000Z" }),
  ]);
  const meanwhile = await app.db.orderPart.findMany({ where: { storeId: store.id, orderId: { in: ["new", "old"] } } });
  expect(meanwhile.map(({ rule: code }) => code)).toEqual([1, 1]);
  expect(await setAttribution(app.db, store.id, { rule: "CART", windowHours: 168 })).toBe(orders + 2);
  await recountPage(app.db, store.id, 100);
  await setAttribution(app.db, store.id, { ...rule, windowHours: 1 });
  await sweptOrders(app.db, store.id);
  expect(await rulesOf(store)).toEqual({ runs: "1", parts: orders + 2, now: orders + 2 });
  expect(await netOf(store, id)).toMatchObject({ sales: orders + 5, orders: orders + 1 });
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 5, refunds: 0 });
});

test("the figures of a store say how far its orders are counted anew", async () => {
  const { store } = await storeWithOrders();
  const read = async (until: string) => {
    const query = `{ storeAnalytics(from: "2026-01-01T00:00:00Z", until: "${until}") {
      attribution { rule windowHours recount { orders done } } } }`;
    return (await store.graphql(query)).data.storeAnalytics.attribution;
  };
  await setAttribution(app.db, store.id, rule);
  const { recount, ...set } = await read("2027-01-01T00:00:00Z");
  expect(set).toEqual(rule);
  if (recount !== null) expect(recount).toEqual({ orders, done: expect.any(Number) });
  await sweptOrders(app.db, store.id);
  expect(await read("2027-01-02T00:00:00Z")).toEqual({ ...rule, recount: null });
});

test("a preview looks at the latest orders, and says at how many of all", async () => {
  const { store, id } = await storeWithOrders();
  const { changes, ...counts } = await previewAttribution(app.db, store.id, rule, { ordersMax: 120 });
  expect(counts).toEqual({ orders, previewed: 120 });
  expect(changes.map(({ show, after }) => [show?.id, after.orders])).toContainEqual([id, 120]);
  await countedBy(app.db, store.id, rule);
  expect(await previewAttribution(app.db, store.id, rule)).toEqual({ orders, previewed: orders, changes: [] });
});
