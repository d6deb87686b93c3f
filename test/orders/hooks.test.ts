import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { listHooks, removeHook } from "../../src/orders/hooks/hook.js";
import { setStore } from "../../src/stores/store.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { view } from "../support/events.js";
import { hookOf, people, payloadOf, shopifyOrder, shopifyRefund, woocommerceOrder } from "../support/figures/hooks.js";
import { countedBy, attributionOf, readOrder, unattributedOf } from "../support/figures/orders.js";
import { paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";
import { everythingOf } from "../support/stored.js";

const app = await openTestApp();

const id = "820982911946154508";

test("Shopify: an order counts once it is paid, by what was ever paid, and its viewer is that of the theme", async () => {
  const store = await createTestStore(app);
  await countedBy(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
  const lsId = (await saved(store)).id;
  await recorded(store, lsId, [view("a", { occurredAt: "2026-05-04T18:50:00.000Z" })]);
  expect((await store.post(paths.one, { product: product("shirt", { sku: "shirt-m" }) })).status).toBe(200);
  const { deliver } = await hookOf(app, store, "shopify");
  const unpaid = shopifyOrder(id, {
    financial_status: "pending",
    note_attributes: [{ name: "vitrine_viewer", value: "v1" }],
  });
  expect((await deliver("orders/create", unpaid)).status).toBe(200);
  expect((await store.graphql(`{ order(id: "${id}") { id } }`)).errors).toMatchObject([
    { extensions: { code: "ORDER_NOT_FOUND" } },
  ]);
  const paid = { ...unpaid, financial_status: "paid" };
  for (const topic of ["orders/paid", "orders/updated", "orders/paid"])
    expect((await deliver(topic, paid)).status).toBe(200);
  expect(await readOrder(store, id)).toMatchObject({
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 120.5,
    refunded: 0,
    viewerId: "v1",
    lines: [{ productId: "shirt", quantity: 2, amount: 100 }],
    attributions: [
      { show: { id: lsId }, because: "Watched Spring collection live for 1 min until 10 min before the order." },
    ],
  });
  expect((await deliver("refunds/create", shopifyRefund("509562969", id, "20.50"))).status).toBe(200);
  expect(await readOrder(store, id)).toMatchObject({ amount: 120.5, refunded: 20.5 });
  const refunds = [JSON.parse(payloadOf(shopifyRefund("509562969", id, "20.50")))];
  const updated = { ...paid, current_total_price: "100.00", updated_at: "2026-05-06T10:00:01+02:00", refunds };
  await deliver("orders/updated", updated);
  await deliver("orders/updated", paid);
  expect(await readOrder(store, id)).toMatchObject({ amount: 120.5, refunded: 20.5 });
  await deliver("orders/edited", { order_edit: { id: 1, order_id: 820982911946154500 } });
  await deliver("orders/cancelled", {
    ...updated,
    cancelled_at: "2026-05-07T10:00:00+02:00",
    updated_at: "2026-05-07T10:00:00+02:00",
  });
  expect(await readOrder(store, id)).toMatchObject({ amount: 120.5, refunded: 120.5 });
});

test("WooCommerce: created and paid within a second, refunded, deleted; its ping is answered", async () => {
  const store = await createTestStore(app);
  const { deliver, send, path } = await hookOf(app, store, "woocommerce");
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await send("webhook_id=12", form)).status).toBe(200);
  expect((await send("webhook_id=12&x=1", form)).status).toBe(401);
  const paid = woocommerceOrder(727, { meta_data: [{ id: 9, key: "vitrine_viewer", value: "v9" }] });
  const unpaid = { ...paid, status: "pending", date_paid_gmt: null };
  await deliver("order.updated", paid, { "x-wc-webhook-delivery-id": "same" });
  await deliver("order.created", unpaid, { "x-wc-webhook-delivery-id": "same" });
  expect(await readOrder(store, "727")).toMatchObject({
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 29.35,
    viewerId: "v9",
    lines: [{ productId: "album", quantity: 2, amount: 14.28 }],
  });
  const refunded = {
    ...paid,
    date_modified_gmt: "2026-05-05T08:00:00",
    refunds: [{ id: 1, reason: "", total: "-9.35" }],
  };
  await deliver("order.updated", refunded);
  await deliver("order.updated", { ...refunded, date_modified_gmt: "2026-05-05T09:00:00" });
  expect(await readOrder(store, "727")).toMatchObject({
    amount: 29.35,
    refunded: 9.35,
    refunds: [{ at: "2026-05-05T08:00:00.000Z" }],
  });
  await deliver("order.deleted", { id: 727 });
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 29.35, refunds: 29.35 });
  expect(path).toMatch(/^\/hooks\/v1\/[\da-f-]{36}$/u);
});

test("forged, oversized and compressed deliveries are refused, and nothing is said of why", async () => {
  const store = await createTestStore(app);
  const hook = await hookOf(app, store, "shopify");
  const other = await hookOf(app, store, "shopify", "another secret");
  const body = payloadOf(shopifyOrder(id));
  const statusOf = async (sent: Promise<Response>) => {
    const { status } = await sent;
    return status;
  };
  const forged = await hook.send(body, { "x-shopify-topic": "orders/paid", "x-shopify-hmac-sha256": "bm8=" });
  expect([forged.status, await forged.text()]).toEqual([401, ""]);
  expect(await statusOf(hook.send(body, { "x-shopify-topic": "orders/paid" }))).toBe(401);
  const signed = { "x-shopify-topic": "orders/paid" };
  expect(await statusOf(other.deliver("orders/paid", body, { ...signed, "x-shopify-hmac-sha256": "" }))).toBe(401);
  expect(await statusOf(hook.deliver("orders/paid", "x".repeat(4 * 1_048_576 + 1)))).toBe(413);
  const zipped = fetch(`${app.url}${hook.path}`, {
    method: "POST",
    body: gzipSync(body),
    headers: { "content-encoding": "gzip" },
  });
  expect(await statusOf(zipped)).toBe(415);
  expect(await statusOf(fetch(`${app.url}${hook.path}`))).toBe(405);
  expect(await statusOf(fetch(`${app.url}/hooks/v1/none`, { method: "POST", body }))).toBe(401);
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
  await removeHook(app.db, store.id, other.id);
});

test("a signed delivery that cannot be used is answered 200, and listed with its reason", async () => {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR" });
  const { deliver } = await hookOf(app, store, "shopify");
  const sent = [
    await deliver("orders/paid", "no JSON"),
    await deliver("orders/paid", shopifyOrder(id, { currency: "USD" })),
    await deliver("orders/paid", shopifyOrder(id, { total_price: "much" })),
    await deliver("products/update", { id: 1 }),
    await deliver("products/update", { id: 2 }),
  ];
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const [{ faults } = { faults: [] }] = await listHooks(app.db, store.id);
  expect(faults.map(({ reason, count }) => [reason, count])).toEqual([
    ["The topic products/update is not known.", 2],
    ["total_price is not an amount.", 1],
    ['currency must be EUR, the currency of the store, not "USD".', 1],
    ["The body is not JSON.", 1],
  ]);
  expect((await store.graphql(`{ orders { totalCount } }`)).data.orders.totalCount).toBe(0);
});

test("nothing of people is stored or logged", async () => {
  const store = await createTestStore(app);
  const shopify = await hookOf(app, store, "shopify");
  await shopify.deliver("orders/paid", shopifyOrder(id));
  await shopify.deliver("refunds/create", shopifyRefund("1", id, "1.00"));
  await shopify.deliver("orders/paid", shopifyOrder("5", { line_items: people[0] }));
  const woocommerce = await hookOf(app, store, "woocommerce");
  await woocommerce.deliver("order.created", woocommerceOrder(9));
  expect(await attributionOf(store, "9")).toHaveLength(1);
  const everything = JSON.stringify(await everythingOf(app, store)) + app.logged.join("");
  expect(people.filter((text) => text !== undefined && everything.includes(text))).toEqual([]);
});

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
