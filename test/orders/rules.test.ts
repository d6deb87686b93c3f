import { expect, test } from "vitest";
import { issueKey } from "../../src/stores/publicKey.js";
import { eraseViewer } from "../../src/events/erase.js";
import { attributeOrders } from "../../src/orders/state/order.record.js";
import { attributeDue } from "../../src/orders/attribution/pendingAttribution.js";
import { deleteLiveStream } from "../../src/shows/liveStream.delete.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { order, view } from "../support/events.js";
import {
  countedBy,
  attributionOf,
  netOf,
  readOrder,
  recordedOrders,
  sentOrder,
  unattributedOf,
} from "../support/figures/orders.js";
import { recorded, saved } from "../support/shows.js";

const app = await openTestApp({ collectRateLimit: 0 });

const ordered = "2026-05-04T22:00:00.000Z";

/** Two shows: one of 18:30 to 19:30, and one of 20:00 to 21:00. */
async function storeWithTwoShows(rule: "LAST_SHOW" | "CART", windowHours = 168) {
  const store = await createTestStore(app);
  await countedBy(app.db, store.id, { rule, windowHours });
  const first = (await saved(store, { name: "First" })).id;
  const second = (await saved(store, { name: "Second", startedAt: "2026-05-04T20:00:00.000Z" })).id;
  return { store, first, second };
}

const watched = (id: string, occurredAt: string, fields: object = {}) => view(id, { occurredAt, ...fields });
const carted = (id: string, productId: string, occurredAt: string) =>
  ({ id, type: "ADD_TO_CART", channel: "LIVE", viewerId: "v1", productId, occurredAt }) as const;

async function claim(store: TestStore, orderId: unknown, viewerId: unknown, formerId?: unknown) {
  const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
  const body = JSON.stringify({ key, events: [{ id: "c", type: "CLAIM", orderId, viewerId, formerId }] });
  const answer = await fetch(`${app.url}/collect/v1`, { method: "POST", body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test("LAST_SHOW: the last show that the viewer watched for 3 seconds within the window, live if it ran then", async () => {
  const { store, first, second } = await storeWithTwoShows("LAST_SHOW");
  await recorded(store, first, [
    watched("a", "2026-05-04T18:53:00.000Z", { seconds: 300 }),
    watched("b", "2026-05-04T19:00:00.000Z", { seconds: 120 }),
  ]);
  await recorded(store, second, [watched("c", "2026-05-04T20:10:00.000Z", { seconds: 2.9 })]);
  await recordedOrders(store, [sentOrder("1", 80, { placedAt: ordered, viewerId: "v1" })]);
  expect(await attributionOf(store, "1")).toEqual([
    {
      show: { id: first, name: "First" },
      channel: "LIVE",
      amount: 80,
      refunded: 0,
      rule: "LAST_SHOW",
      because: "Watched First live for 7 min until 3 hours before the order.",
      evidence: { kind: "VIEW", at: "2026-05-04T19:00:00.000Z", seconds: 420, productId: null },
    },
  ]);
  expect(await netOf(store, first)).toMatchObject({ sales: 80, orders: 1 });
  await recorded(store, second, [watched("d", "2026-05-04T21:30:00.000Z", { channel: "REPLAY", seconds: 3 })]);
  await recordedOrders(store, [sentOrder("2", 20, { placedAt: ordered, viewerId: "v1" })]);
  expect(await attributionOf(store, "2")).toMatchObject([
    {
      show: { id: second },
      channel: "REPLAY",
      because: "Watched the replay of Second for 6 s until 30 min before the order.",
    },
  ]);
});

test("LAST_SHOW: nothing counts after the order or before the window, and without a viewer", async () => {
  const { store, first } = await storeWithTwoShows("LAST_SHOW", 2);
  await recorded(store, first, [
    watched("a", "2026-05-04T19:59:59.999Z"),
    watched("b", "2026-05-04T22:01:00.000Z"),
    watched("c", "2026-05-04T20:00:03.000Z", { viewerId: "v2" }),
  ]);
  const placed = (id: string, viewerId?: string) =>
    sentOrder(id, 10, { placedAt: ordered, ...(viewerId && { viewerId }) });
  await recordedOrders(store, [placed("1", "v1"), placed("2", "v2"), placed("3")]);
  expect((await attributionOf(store, "1"))[0].because).toBe("No show was watched within 2 hours before it.");
  expect((await attributionOf(store, "2"))[0].show.id).toBe(first);
  expect((await attributionOf(store, "3"))[0].because).toBe("Neither the shop nor a page said which viewer placed it.");
  expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 20, refunds: 0 });
});

test("CART: each line counts for the last show in which its product was put into the cart, and the rest for none", async () => {
  const { store, first, second } = await storeWithTwoShows("CART");
  await recorded(store, first, [
    carted("a", "shirt", "2026-05-04T18:40:00.000Z"),
    carted("b", "scarf", "2026-05-04T18:41:00.000Z"),
  ]);
  await recorded(store, second, [carted("a", "shirt", "2026-05-04T20:40:00.000Z")]);
  const lines = [
    { productId: "shirt", quantity: 1, amount: 60 },
    { productId: "scarf", quantity: 2, amount: 30 },
    { productId: "hat", quantity: 1, amount: 5 },
  ];
  const refunds = [{ amount: 35, lines: [{ productId: "scarf", quantity: 2, amount: 30 }] }];
  await recordedOrders(store, [sentOrder("1", 100, { placedAt: ordered, viewerId: "v1", lines, refunds })]);
  const parts = await attributionOf(store, "1");
  expect(parts).toMatchObject([
    {
      show: { id: first },
      amount: 30,
      refunded: 30,
      because: "Put scarf into the cart in First 3 hours before the order.",
    },
    { show: { id: second }, amount: 60, evidence: { kind: "ADD_TO_CART", productId: "shirt", seconds: null } },
    { show: null, amount: 10 },
  ]);
  expect(parts.map(({ refunded }: { refunded: number }) => refunded).reduce((a: number, b: number) => a + b)).toBe(35);
  expect(await netOf(store, first)).toEqual({ sales: 30, refunds: 30, net: 0, orders: 1 });
  expect(await unattributedOf(store)).toMatchObject({ orders: 0, sales: 10 });
});

test("CART: cents that a shop loses or gains by rounding each line count with the lines", async () => {
  const { store, first } = await storeWithTwoShows("CART");
  await recorded(store, first, [carted("a", "mug", "2026-05-04T18:40:00.000Z")]);
  const lines = [{ productId: "mug", quantity: 1, amount: 2.67 }];
  const placed = { placedAt: ordered, viewerId: "v1", lines };
  await recordedOrders(store, [sentOrder("1", 2.69, placed), sentOrder("2", 2.7, placed)]);
  expect(await attributionOf(store, "1")).toMatchObject([{ show: { id: first }, amount: 2.69 }]);
  expect(await attributionOf(store, "2")).toMatchObject([
    { show: { id: first }, amount: 2.67 },
    { show: null, amount: 0.03 },
  ]);
});

test("an order of a viewer who was erased counts as before, also where a rule is set anew", async () => {
  const { store, first } = await storeWithTwoShows("LAST_SHOW");
  await recorded(store, first, [
    watched("a", "2026-05-04T19:00:00.000Z"),
    carted("b", "mug", "2026-05-04T18:40:00.000Z"),
  ]);
  const lines = [{ productId: "mug", quantity: 1, amount: 10 }];
  await recordedOrders(store, [
    sentOrder("1", 10, { placedAt: ordered, viewerId: "v1", lines }),
    sentOrder("2", 5, { placedAt: ordered }),
  ]);
  await claim(store, "2", "v1");
  await eraseViewer(app.db, store.id, "v1");
  for (const rule of ["AS_SENT", "LAST_SHOW", "CART"] as const) {
    await countedBy(app.db, store.id, { rule, windowHours: 168 });
    const [one, two] = { AS_SENT: [0, 0], LAST_SHOW: [10, 5], CART: [10, 0] }[rule];
    expect(await netOf(store, first)).toMatchObject({ sales: (one ?? 0) + (two ?? 0) });
  }
});

test("a claim of the thank-you page may come before the order or after it, and the shop's viewer beats it", async () => {
  const { store, first, second } = await storeWithTwoShows("LAST_SHOW");
  await recorded(store, first, [watched("a", "2026-05-04T19:00:00.000Z")]);
  await recorded(store, second, [watched("b", "2026-05-04T20:30:00.000Z", { viewerId: "v2" })]);
  expect(await claim(store, "1", "v1")).toEqual({ status: 202, body: { accepted: 1, duplicates: 0 } });
  const placed = (id: string, fields: object = {}) => sentOrder(id, 10, { placedAt: ordered, ...fields });
  await recordedOrders(store, [placed("1"), placed("2")]);
  expect((await attributionOf(store, "1"))[0].show.id).toBe(first);
  expect((await attributionOf(store, "2"))[0].show).toBeNull();
  await claim(store, "2", "v1");
  await claim(store, "2", "v2");
  expect((await attributionOf(store, "2"))[0].show.id).toBe(first);
  await recordedOrders(store, [placed("2", { viewerId: "v2" })]);
  expect((await attributionOf(store, "2"))[0].show.id).toBe(second);
  expect(await netOf(store, first)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
  expect(await netOf(store, second)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
  expect((await claim(store, "3", "guest")).status).toBe(400);
  expect((await claim(store, undefined, "v1")).status).toBe(400);
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("of two ids of one viewer that a page claims an order for, the one with the later evidence counts, whatever comes first", async () => {
  const { store, first, second } = await storeWithTwoShows("LAST_SHOW");
  const placed = (id: string) =>
    sentOrder(id, 10, { placedAt: ordered, lines: [{ productId: "shirt", quantity: 1, amount: 10 }] });
  const shownBy = async (id: string) => {
    const { viewerId, attributions } = await readOrder(store, id);
    return [viewerId, attributions[0].show?.id];
  };
  await recorded(store, first, [
    watched("a", "2026-05-04T19:00:00.000Z", { viewerId: "anonymous-1" }),
    { ...carted("b", "shirt", "2026-05-04T18:40:00.000Z"), viewerId: "customer-1" },
  ]);
  await claim(store, "1", "customer-1", "anonymous-1");
  await recordedOrders(store, [placed("1"), placed("2"), placed("3")]);
  await claim(store, "2", "customer-1", "anonymous-1");
  await claim(store, "3", "customer-1", "guest");
  await recorded(store, second, [order("4", 10, { orderId: "4", occurredAt: ordered })]);
  await claim(store, "4", "customer-1", "anonymous-1");
  await attributeDue(app.db, store.id);
  for (const id of ["1", "2", "4"]) expect([id, ...(await shownBy(id))]).toEqual([id, "anonymous-1", first]);
  expect(await shownBy("3")).toEqual(["customer-1", undefined]);
  expect(await netOf(store, first)).toMatchObject({ sales: 30, orders: 3 });

  await recorded(store, second, [watched("c", "2026-05-04T20:30:00.000Z", { viewerId: "customer-1" })]);
  await recordedOrders(store, [placed("1")]);
  await attributeOrders(app.db, store.id, ["1", "2", "3", "4"]);
  for (const id of ["1", "2", "3", "4"]) expect([id, ...(await shownBy(id))]).toEqual([id, "customer-1", second]);

  const preview = `{ attributionPreview(rule: CART, windowHours: 168) { changes { show { id } after { sales } } } }`;
  const { changes } = (await store.graphql(preview)).data.attributionPreview;
  expect(changes).toEqual(expect.arrayContaining([{ show: { id: first }, after: { sales: 30 } }]));
  await countedBy(app.db, store.id, { rule: "CART", windowHours: 168 });
  expect(await netOf(store, first)).toMatchObject({ sales: 30 });
  await eraseViewer(app.db, store.id, "anonymous-1");
  await countedBy(app.db, store.id, { rule: "LAST_SHOW", windowHours: 2 });
  expect(await netOf(store, second)).toMatchObject({ sales: 40, orders: 4 });
  expect((await claim(store, "5", "customer-1", 7)).status).toBe(400);
});

test("two ids of a viewer are known to a rule that is set after the claim", async () => {
  const { store, first } = await storeWithTwoShows("LAST_SHOW");
  await countedBy(app.db, store.id, { rule: "AS_SENT", windowHours: 168 });
  await recorded(store, first, [watched("a", "2026-05-04T19:00:00.000Z", { viewerId: "anonymous-1" })]);
  await claim(store, "1", "customer-1", "anonymous-1");
  await recordedOrders(store, [sentOrder("1", 10, { placedAt: ordered })]);
  expect(await netOf(store, first)).toMatchObject({ sales: 0 });
  await countedBy(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
  expect(await netOf(store, first)).toMatchObject({ sales: 10 });
  const preview = `{ attributionPreview(rule: LAST_SHOW, windowHours: 168) { changes { show { id } } } }`;
  expect((await store.graphql(preview)).data.attributionPreview.changes).toEqual([]);
});

test("an ORDER event with an orderId counts by the store's rule", async () => {
  const { store, first, second } = await storeWithTwoShows("LAST_SHOW");
  await recorded(store, first, [watched("a", "2026-05-04T19:00:00.000Z")]);
  await recorded(store, second, [order("o", 44, { orderId: "9", viewerId: "v1", occurredAt: ordered })]);
  await attributeDue(app.db, store.id);
  expect(await netOf(store, first)).toEqual({ sales: 44, refunds: 0, net: 44, orders: 1 });
  expect(await netOf(store, second)).toEqual({ sales: 0, refunds: 0, net: 0, orders: 0 });
});

test("a change of rule recounts all orders, and its preview says before what it changes", async () => {
  const { store, first, second } = await storeWithTwoShows("LAST_SHOW");
  await countedBy(app.db, store.id, { rule: "AS_SENT", windowHours: 168 });
  await recorded(store, first, [watched("a", "2026-05-04T19:00:00.000Z")]);
  await recordedOrders(store, [
    sentOrder("1", 10, { placedAt: ordered, viewerId: "v1", lsId: second, channel: "REFERRAL" }),
    sentOrder("2", 5.5, { placedAt: ordered, refunds: [{ amount: 0.5 }] }),
  ]);
  const preview = `query ($windowHours: Int!) { attributionPreview(rule: LAST_SHOW, windowHours: $windowHours) {
    orders changes { show { id } before { orders sales refunds } after { orders sales refunds } } } }`;
  const { attributionPreview } = (await store.graphql(preview, { windowHours: 24 })).data;
  const [none, ten] = [
    { orders: 0, sales: 0, refunds: 0 },
    { orders: 1, sales: 10, refunds: 0 },
  ];
  expect(attributionPreview.orders).toBe(2);
  expect(attributionPreview.changes).toHaveLength(2);
  expect(attributionPreview.changes).toEqual(
    expect.arrayContaining([
      { show: { id: second }, before: ten, after: none },
      { show: { id: first }, before: none, after: ten },
    ]),
  );
  expect(await netOf(store, second)).toMatchObject({ sales: 10 });
  await countedBy(app.db, store.id, { rule: "LAST_SHOW", windowHours: 24 });
  expect(await netOf(store, first)).toEqual({ sales: 10, refunds: 0, net: 10, orders: 1 });
  expect(await netOf(store, second)).toEqual({ sales: 0, refunds: 0, net: 0, orders: 0 });
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 5.5, refunds: 0.5 });
  expect((await store.graphql(preview, { windowHours: 25 })).data.attributionPreview.changes).toEqual([]);
});

test("after a change of rule, orders that count for no show say so by the new rule, however they did before", async () => {
  const { store, first } = await storeWithTwoShows("LAST_SHOW");
  await countedBy(app.db, store.id, { rule: "AS_SENT", windowHours: 168 });
  const lines = [{ sku: "mug", quantity: 1, amount: 10 }];
  await recordedOrders(store, [
    sentOrder("known", 10, { viewerId: "v1", lines }),
    sentOrder("unknown", 10, { lines, refunds: [{ amount: 2, lines: [{ sku: "mug", quantity: 1, amount: 2 }] }] }),
    sentOrder("deleted", 10, { lsId: first, channel: "LIVE", lines }),
  ]);
  await deleteLiveStream(app.db, store.id, first, { force: true });
  const noViewer = "Neither the shop nor a page said which viewer placed it.";
  const sentences = {
    AS_SENT: ["The shop named no show.", "The shop named no show.", "The show for which it counted was deleted."],
    LAST_SHOW: ["No show was watched within 7 days before it.", noViewer, noViewer],
    CART: ["None of these products was put into the cart in a show within 7 days before it.", noViewer, noViewer],
  };
  for (const rule of ["AS_SENT", "LAST_SHOW", "CART", "AS_SENT", "CART", "LAST_SHOW", "AS_SENT"] as const) {
    await countedBy(app.db, store.id, { rule, windowHours: 168 });
    const parts = await Promise.all(["known", "unknown", "deleted"].map((id) => attributionOf(store, id)));
    expect(parts.map(([{ because }]) => because)).toEqual(sentences[rule]);
    expect(parts.map(([part]) => part.rule)).toEqual([rule, rule, rule]);
    expect(await unattributedOf(store)).toEqual({ orders: 3, sales: 30, refunds: 2 });
  }
});

test("an order whose viewer becomes known later counts for a buyer, also after a rebuild", async () => {
  const store = await createTestStore(app);
  const lsId = (await saved(store)).id;
  const buyersOf = async () => {
    const query = `{ liveStreamAnalytics(lsId: "${lsId}") { kpis {
      buyers { live } ordersWithoutViewer { live } sales { live } orders { live } } } }`;
    const { kpis } = (await store.graphql(query)).data.liveStreamAnalytics;
    return [kpis.buyers.live, kpis.ordersWithoutViewer.live, kpis.sales.live, kpis.orders.live];
  };
  await recordedOrders(store, [sentOrder("1", 10, { lsId, channel: "LIVE" })]);
  expect(await buyersOf()).toEqual([0, 1, 10, 1]);
  await claim(store, "1", "v1");
  expect(await buyersOf()).toEqual([1, 0, 10, 1]);
  await rebuildAnalytics(app.db, store.id);
  expect(await buyersOf()).toEqual([1, 0, 10, 1]);
});

test("orders count by the source of their viewer, or as unknown, also after a rebuild", async () => {
  const store = await createTestStore(app);
  const lsId = (await saved(store)).id;
  const sourcesOf = async () => {
    const query = `{ liveStreamAnalytics(lsId: "${lsId}") { kpis { sources { source viewers orders sales } } } }`;
    return (await store.graphql(query)).data.liveStreamAnalytics.kpis.sources;
  };
  await recordedOrders(store, [sentOrder("1", 10, { lsId }), sentOrder("2", 5, { lsId, viewerId: "v2" })]);
  const expected = [{ source: "unknown", viewers: 0, orders: 2, sales: 15 }];
  expect(await sourcesOf()).toEqual(expected);
  await rebuildAnalytics(app.db, store.id);
  expect(await sourcesOf()).toEqual(expected);
});
