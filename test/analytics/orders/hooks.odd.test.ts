import { expect, test } from "vitest";
import { listHooks } from "../../../src/analytics/hooks/hook.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { hookOf, shopifyOrder, woocommerceOrder } from "../../support/figures/hooks.js";
import { readOrder } from "../../support/figures/orders.js";

const app = await openTestApp();

const line = { product_id: 1, title: "Shirt", price: "1.00", quantity: 1 };
const odd: readonly [string, Record<string, unknown>][] = [
  ["a NUL in a title", { line_items: [{ title: "a\0b", price: "1.00" }] }],
  ["a NUL in a sku", { line_items: [{ ...line, sku: "a\0b" }] }],
  ["a lone surrogate", { line_items: [{ title: "\ud800", price: "1.00" }] }],
  ["a NUL in the viewer's id", { note_attributes: [{ name: "vitrine_viewer", value: "v\0" }] }],
  ["a title of 100,000 characters", { line_items: [{ title: "x".repeat(100_000), price: "1.00" }] }],
  ["a year of five digits", { processed_at: "+012026-05-04T19:00:00Z", created_at: "+012026-05-04T19:00:00Z" }],
  ["a year before Christ", { processed_at: "-002026-05-04T19:00:00Z" }],
  ["a time in a century", { processed_at: "2126-05-04T19:00:00Z" }],
  ["a negative total", { total_price: "-5.00" }],
  ["a price beyond all bounds", { line_items: [{ ...line, price: "999999999", quantity: 1_000_000 }] }],
  ["a refund that is negative", { refunds: [{ id: 1, transactions: [{ kind: "refund", amount: "-3.00" }] }] }],
  ["a thousand refunds", { refunds: Array.from({ length: 1_000 }, (_, n) => ({ id: n, transactions: [] })) }],
  ["an id that is an object", { id: { a: 1 } }],
];

test.each(odd)("%s does not keep the shop's other orders from being stored", async (_, fields) => {
  const store = await createTestStore(app);
  const { deliver } = await hookOf(app, store, "shopify");
  const bad = () => deliver("orders/paid", shopifyOrder("5", fields));
  const good = (n: number) => deliver("orders/paid", shopifyOrder(String(n)));
  const answers = await Promise.all([bad(), good(1), bad()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await readOrder(store, "1")).toMatchObject({ amount: 120.5 });
  const [hook] = await listHooks(app.db, store.id);
  const { data } = await store.graphql(`{ order(id: "5") { id } }`);
  expect(data.order !== null || hook?.faults.length === 1, "stored, or listed").toBe(true);
});

test("of WooCommerce: a viewer's id that cannot be stored, and names without end", async () => {
  const store = await createTestStore(app);
  const { deliver } = await hookOf(app, store, "woocommerce");
  const meta_data = [{ key: "vitrine_viewer", value: "v\0" }];
  const line_items = [{ name: "x".repeat(10_000), total: "5.00" }];
  expect((await deliver("order.created", woocommerceOrder(9, { meta_data, line_items }))).status).toBe(200);
  expect(await readOrder(store, "9")).toMatchObject({ amount: 29.35, viewerId: null });
});
