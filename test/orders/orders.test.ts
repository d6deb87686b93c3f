import { expect, test } from "vitest";
import { setStore } from "../../src/stores/store.js";
import { lockOrders } from "../../src/orders/state/order.rows.js";
import { inTransaction } from "../../src/database/transaction.js";
import { ofTest } from "../support/citus/recording.js";
import { exportEvents } from "../../src/events/files/events.export.js";
import { openTestApp } from "../support/app.js";
import { fromNow } from "../support/clock.js";
import { order, storeWithShow } from "../support/events.js";
import { netOf, ordersPath, readOrder, recordedOrders, sentOrder, unattributedOf } from "../support/figures/orders.js";
import { bulk, paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";

const app = await openTestApp();

test("an order counts for the show and the channel that its sender named, and says so", async () => {
  const { store, lsId } = await storeWithShow(app);
  const sent = sentOrder("1001", 120.5, {
    lsId,
    channel: "REPLAY",
    lines: [{ productId: "shirt", quantity: 2, amount: 100 }],
    refunds: [{ at: "2026-05-05T10:00:00.000Z", amount: 20.5 }],
  });
  expect(await recordedOrders(store, [sent])).toEqual({ accepted: 1, duplicates: 0 });
  expect(await recordedOrders(store, [sent])).toEqual({ accepted: 0, duplicates: 1 });
  expect(await netOf(store, lsId)).toEqual({ sales: 120.5, refunds: 20.5, net: 100, orders: 1 });
  expect(await readOrder(store, "1001")).toEqual({
    id: "1001",
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 120.5,
    refunded: 20.5,
    viewerId: null,
    isAttributed: true,
    refunds: [{ at: "2026-05-05T10:00:00.000Z", amount: 20.5, lines: [] }],
    lines: [{ productId: "shirt", quantity: 2, amount: 100 }],
    attributions: [
      {
        show: { id: lsId, name: "Spring collection" },
        channel: "REPLAY",
        amount: 120.5,
        refunded: 20.5,
        rule: "AS_SENT",
        because: "Sent for Spring collection by the shop.",
        evidence: null,
      },
    ],
  });
});

test("the newer state of an order corrects its time and its viewer, and nothing is new the second time", async () => {
  const { store } = await storeWithShow(app);
  await recordedOrders(store, [sentOrder("1", 100, { viewerId: "v1" })]);
  const corrected = sentOrder("1", 100, { viewerId: "v2", placedAt: "2026-05-01T10:00:00.000Z" });
  expect(await recordedOrders(store, [corrected])).toEqual({ accepted: 1, duplicates: 0 });
  expect(await recordedOrders(store, [corrected])).toEqual({ accepted: 0, duplicates: 1 });
  expect(await readOrder(store, "1")).toMatchObject({ viewerId: "v2", placedAt: "2026-05-01T10:00:00.000Z" });
});

test("codes of currencies are compared without case", async () => {
  const { store } = await storeWithShow(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  expect(await recordedOrders(store, [sentOrder("1", 10, { currency: "eur" })])).toMatchObject({ accepted: 1 });
});

test("a line is of the product with its sku as id or as sku, trimmed; one without a name of a product is refused", async () => {
  const { store } = await storeWithShow(app);
  await store.post(paths.bulk, bulk([product("12", { sku: "small" }), product("small", { sku: "other" })]));
  const names = [
    { sku: " 12 " },
    { sku: "small" },
    { sku: " other" },
    { sku: " none " },
    { productId: "as given", sku: "12" },
  ];
  const lines = names.map((name) => ({ ...name, quantity: 1, amount: 10 }));
  await recordedOrders(store, [sentOrder("1", 100, { lines, refunds: [{ amount: 10, lines: lines.slice(3, 4) }] })]);
  const { lines: read, refunds } = await readOrder(store, "1");
  const productsOf = (of: { productId: string }[]) => of.map(({ productId }) => productId);
  expect(productsOf(read)).toEqual(["12", "small", "small", "none", "as given"]);
  expect(productsOf(refunds[0].lines)).toEqual(["none"]);
  const required = "A line needs a productId or a sku.";
  for (const [sku, message] of [
    [" ", "sku must not be blank."],
    ["0", required],
    ["", required],
  ] as const) {
    const wrong = sentOrder("2", 100, { lines: [{ sku, quantity: 1, amount: 10 }] });
    const { status, body } = await store.post(ordersPath, { orders: [wrong] });
    expect([status, body.errors?.[0]?.message]).toEqual([400, message]);
  }
});

test("a refund of the future and two refunds of one id are refused", async () => {
  const { store } = await storeWithShow(app);
  const at = fromNow(400_000).toISOString();
  const refunds = [
    { id: "r", amount: 1, at },
    { id: "r", amount: 2 },
  ];
  const { status, body } = await store.post(ordersPath, { orders: [sentOrder("1", 100, { refunds })] });
  expect([status, body.errors]).toEqual([
    400,
    [
      expect.objectContaining({ path: ["orders", 0, "refunds", 0, "at"] }),
      expect.objectContaining({ path: ["orders", 0, "refunds", 1, "id"] }),
    ],
  ]);
});

test("an ORDER event with an orderId and the order are one, whichever comes first", async () => {
  const { store, lsId } = await storeWithShow(app);
  const other = (await saved(store)).id;
  const ofEvent = (id: string, orderId: string) => order(id, 50, { orderId, occurredAt: "2026-05-04T19:00:00.000Z" });
  expect(await recorded(store, lsId, [ofEvent("a", "1"), ofEvent("b", "1"), order("c", 7)])).toEqual({
    accepted: 2,
    duplicates: 1,
  });
  expect(await recorded(store, other, [ofEvent("a", "1")])).toEqual({ accepted: 0, duplicates: 1 });
  await recordedOrders(store, [sentOrder("1", 50), sentOrder("2", 20)]);
  expect(await netOf(store, lsId)).toEqual({ sales: 57, refunds: 0, net: 57, orders: 2 });
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 20, refunds: 0 });
  await recorded(store, other, [order("d", 20, { orderId: "2" })]);
  expect(await netOf(store, other)).toEqual({ sales: 20, refunds: 0, net: 20, orders: 1 });
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("the orders of a deleted show stay in the shop's total", async () => {
  const { store, lsId } = await storeWithShow(app);
  await recordedOrders(store, [sentOrder("1", 100, { lsId }), sentOrder("2", 1)]);
  await store.graphql(`mutation ($lsId: String!) { deleteLiveStream(lsId: $lsId, force: true) { message } }`, { lsId });
  expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 101, refunds: 0 });
  expect((await readOrder(store, "1")).attributions[0].because).toBe("The show for which it counted was deleted.");
});

test("REST has the same, and refuses what GraphQL refuses", async () => {
  const { store, lsId } = await storeWithShow(app);
  const one = sentOrder("a/1", 10, { lsId, viewerId: "v1" });
  expect(await store.post(ordersPath, { orders: [one] })).toMatchObject({ status: 200, body: { accepted: 1 } });
  expect((await store.get(`${ordersPath}/${encodeURIComponent("a/1")}`)).body).toMatchObject({
    id: "a/1",
    viewerId: "v1",
  });
  expect((await store.get(`${ordersPath}?isAttributed=true&lsId=${lsId}`)).body).toMatchObject({ totalCount: 1 });
  expect((await store.get(`${ordersPath}/none`)).status).toBe(404);
  const lines = [{ productId: "p", quantity: 1, amount: 10.02 }];
  const wrong = await store.post(ordersPath, {
    orders: [one, { ...one, id: "b", amount: 10, lines, currency: "EUR" }],
  });
  expect(wrong.body).toMatchObject({
    status: 400,
    errors: [
      { path: ["orders", 1, "currency"] },
      { path: ["orders", 1, "lines"], message: "The lines add up to 10.02, more than the amount of 10." },
    ],
  });
});

test("an export of events has those that were sent, and none of the entries of orders", async () => {
  const { store, lsId } = await storeWithShow(app);
  await recorded(store, lsId, [order("a", 50, { orderId: "1" })]);
  await recordedOrders(store, [sentOrder("1", 60), sentOrder("2", 20, { lsId })]);
  expect(await netOf(store, lsId)).toMatchObject({ sales: 80, orders: 2 });
  const lines: string[] = [];
  for await (const piece of exportEvents(app.db, store.id, lsId)) lines.push(...piece.toString().trim().split("\n"));
  const sent = lines.map((line) => JSON.parse(line) as { id: string; type: string; amount: number });
  expect(sent.map(({ id, type, amount }) => [id, type, amount])).toEqual([["a", "ORDER", 50]]);
});

test("a call of many orders does not fill the server's table of locks", async () => {
  const { store } = await storeWithShow(app);
  const ids = Array.from({ length: 5_000 }, (_, index) => String(index)).toSorted();
  const locks = await inTransaction(app.db, { timeoutMs: 10_000 }, async (transaction) => {
    await lockOrders(transaction, store.id, ids, "any");
    const held = ofTest(
      "SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
    );
    const [row] = await transaction.$queryRawUnsafe<{ count: number }[]>(held);
    return row?.count;
  });
  expect(locks, "with those of others in the embedded engine's only session").toBeLessThan(300);
});
