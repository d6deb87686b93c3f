import { describe, expect, test } from "vitest";
import { setStore } from "../../src/stores/store.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { order, refused, storeWithShow } from "../support/events.js";
import type { SentEvent } from "../support/oracle.js";
import { record, recorded } from "../support/shows.js";

const app = await openTestApp();

const lines = [
  { productId: "shirt", quantity: 2, amount: 70 },
  { productId: "scarf", quantity: 1, amount: 10.5 },
  { productId: "shirt", quantity: 1, amount: 30 },
];
const refund = (id: string, amount: number, fields: Partial<SentEvent> = {}): SentEvent => ({
  ...order(id, amount, fields),
  type: "REFUND",
});
const amounts = "live replay referral total currency";

async function figuresOf(store: TestStore, lsId: string, by = "CARTS") {
  const query = `query ($lsId: String!, $by: TopProductOrder!) { liveStreamAnalytics(lsId: $lsId) {
    kpis { sales { ${amounts} } refunds { ${amounts} } netSales { ${amounts} } orders { __typename total } }
    topProducts(by: $by) { productId carts orders quantity sales } } }`;
  return (await store.graphql(query, { lsId, by })).data.liveStreamAnalytics;
}

test("counts order lines by product, an order without lines as one of its product, and sales by the amount of the event", async () => {
  const { store, lsId } = await storeWithShow(app);
  await recorded(store, lsId, [
    order("a", 110.5, { lines, productId: "ignored" }),
    order("b", 5, { productId: "scarf" }),
    order("c", 1),
    { id: "d", type: "ADD_TO_CART", channel: "LIVE", viewerId: "v", productId: "scarf" },
  ]);
  const shirt = { productId: "shirt", carts: 0, orders: 1, quantity: 3, sales: 100 };
  const scarf = { productId: "scarf", carts: 1, orders: 2, quantity: 2, sales: 15.5 };
  expect((await figuresOf(store, lsId)).topProducts).toEqual([scarf]);
  expect((await figuresOf(store, lsId, "ORDERS")).topProducts).toEqual([scarf, shirt]);
  expect((await figuresOf(store, lsId, "QUANTITY")).topProducts).toEqual([shirt, scarf]);
  expect((await figuresOf(store, lsId, "SALES")).topProducts).toEqual([shirt, scarf]);
  expect((await figuresOf(store, lsId)).kpis.sales.total).toBe(116.5);
});

describe("the currency of an event", () => {
  const path = (index: number, ...rest: readonly (string | number)[]) => ["events", index, ...rest];

  test("is refused if the store has none or another one", async () => {
    const { store, lsId } = await storeWithShow(app);
    const send = (currency: string) =>
      store.graphql(record, { lsId, events: [order("a", 1), order("b", 1, { currency })] });
    const none = "The store has no currency yet: an operator sets it by vitrine store set STORE --currency.";
    expect(await send("EUR")).toEqual(refused({ code: "INVALID_VALUE", message: none, path: path(1, "currency") }));
    await setStore(app.db, store.id, { currency: "EUR" });
    const other = 'currency must be EUR, the currency of the store, not "USD".';
    expect(await send("USD")).toEqual(refused({ code: "INVALID_VALUE", message: other, path: path(1, "currency") }));
    expect((await send("EUR")).data.recordShopperEvents.accepted).toBe(2);
    expect((await figuresOf(store, lsId)).kpis).toMatchObject({
      sales: { total: 2, currency: "EUR" },
      netSales: { currency: "EUR" },
      orders: { __typename: "ChannelCounts", total: 2 },
    });
  });

  test("must be an existing currency code", async () => {
    const { id } = await createTestStore(app);
    await expect(setStore(app.db, id, { currency: "EURO" })).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
  });
});

test("reports invalid order lines with their path, and refuses lines of a VIEW", async () => {
  const { store, lsId } = await storeWithShow(app);
  const bad = [{ productId: "", quantity: 0, amount: -1 }];
  const { errors } = await store.graphql(record, {
    lsId,
    events: [
      order("a", 1, { lines: bad }),
      { id: "b", type: "VIEW", channel: "LIVE", viewerId: "v", orderId: "1", lines },
    ],
  });
  expect(errors?.[0]?.extensions.errors.map(({ path }: { path: unknown[] }) => path.join("."))).toEqual([
    "events.0.lines.0.productId",
    "events.0.lines.0.amount",
    "events.0.lines.0.quantity",
    "events.1.orderId",
    "events.1.lines",
  ]);
  const many = Array.from({ length: 101 }, () => ({ productId: "p", quantity: 1, amount: 1 }));
  const tooMany = await store.graphql(record, { lsId, events: [order("a", 101, { lines: many })] });
  expect(tooMany.errors?.[0]?.message).toBe("lines must have at most 100 products.");
});

test("lines that add up to more than their order or refund are refused; a cent is rounding", async () => {
  const { store, lsId } = await storeWithShow(app);
  const lineOf = (amount: number) => [
    { productId: "shirt", quantity: 1, amount },
    { productId: "scarf", quantity: 1, amount: 10.1 },
  ];
  await recorded(store, lsId, [order("a", 30.2, { lines: lineOf(20.11) }), order("b", 100, { lines: lineOf(20) })]);
  const events = [order("c", 30.2, { lines: lineOf(20.12) }), refund("d", 5, { lines: lineOf(0) })];
  const problem = (index: number, sum: string, amount: string) => ({
    code: "INVALID_VALUE",
    message: `The lines add up to ${sum}, more than the amount of ${amount}.`,
    path: ["events", index, "lines"],
  });
  expect(await store.graphql(record, { lsId, events })).toEqual(
    refused(problem(0, "30.22", "30.2"), problem(1, "10.1", "5")),
  );
});
