import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { hookOf, payloadOf, shopifyOrder, shopifyRefund, woocommerceOrder } from "../../support/figures/hooks.js";
import { euroStore, filesOf } from "../../support/figures/orderFiles.js";
import { readOrder, sentOrder, unattributedOf } from "../../support/figures/orders.js";
import { bulk, paths, product } from "../../support/products.js";

// The shop's REST list of orders, one on each line, read as hooks read them.

const app = await openTestApp();

const listOf = (orders: readonly object[]) => orders.map((order) => `${payloadOf(order)}\n`).join("");
const nothing = { accepted: 0, duplicates: 0, unpaid: 0, statuses: [], different: 0, differences: [] };
const id = "820982911946154508";
type Fields = Record<string, unknown>;

/** With what tells parts of orders, as each list has it. */
const ofWoocommerce = (number: number, fields: Fields = {}) =>
  woocommerceOrder(number, { parent_id: 0, created_via: "checkout", ...fields });
const meta = (key: string, value: unknown) => ({ meta_data: [{ id: 1, key, value }] });

const refund = JSON.parse(payloadOf(shopifyRefund("5", id, "20.50"))) as object;
const ofShopify = (fields: Fields = {}) =>
  shopifyOrder(id, {
    taxes_included: false,
    total_price: "139.50",
    current_total_price: "119.00",
    financial_status: "partially_refunded",
    note_attributes: [{ name: "vitrine_viewer", value: "v1" }],
    line_items: [
      { id: 1, sku: " shirt ", title: "Shirt", price: "50.00", quantity: 2, tax_lines: [{ price: "19.00" }] },
      { id: 2, sku: "", product_id: 0, title: "Hat", price: "5.00", quantity: 0, tax_lines: [] },
    ],
    refunds: [refund],
    ...fields,
  });

const lists = {
  woocommerce: [
    ofWoocommerce(1, {
      line_items: [
        { name: "Shirt", product_id: 9, variation_id: 12, sku: "", quantity: 1, total: "5", total_tax: "1" },
      ],
    }),
    ofWoocommerce(2, { refunds: [{ id: 7, total: "-9.35" }], ...meta("_wc_other/shop/vitrine_viewer", 17) }),
    ofWoocommerce(3, { status: "cancelled" }),
    ofWoocommerce(4, { status: "packed" }),
  ],
  shopify: [ofShopify(), shopifyOrder("77", { cancelled_at: "2026-05-05T10:00:00Z" })],
} as const;

async function allOf(store: TestStore) {
  const fields = "id placedAt amount refunded viewerId refunds { at amount } lines { productId quantity amount }";
  return (await store.graphql(`{ orders { nodes { ${fields} } } }`)).data.orders.nodes;
}

test.each(["woocommerce", "shopify"] as const)("the list of %s counts as its deliveries do, once", async (system) => {
  const [ofFile, ofHook] = [await euroStore(app), await createTestStore(app)];
  for (const store of [ofFile, ofHook])
    await store.post(paths.bulk, bulk([product("12"), product("s", { sku: "shirt" })]));
  const { deliver } = await hookOf(app, ofHook, system);
  const topic = system === "shopify" ? "orders/updated" : "order.updated";
  for (const payload of lists[system]) await deliver(topic, payload);
  const { imported, reconciled } = filesOf(app, ofFile);
  const content = listOf(lists[system]);
  const { length } = lists[system];
  expect(await imported(content)).toEqual({ ...nothing, accepted: length });
  expect(await imported(content)).toEqual({ ...nothing, duplicates: length });
  expect(await allOf(ofFile)).toEqual(await allOf(ofHook));
  expect(await unattributedOf(ofFile)).toEqual(await unattributedOf(ofHook));
  expect(await reconciled(content)).toEqual({ orders: length, matching: length, differences: [], differencesTotal: 0 });
});

test("a state of a list has its own time: it replaces older ones, and no newer one", async () => {
  const store = await createTestStore(app);
  const { deliver } = await hookOf(app, store, "woocommerce");
  const older = ofWoocommerce(1, { date_modified_gmt: "2026-05-04T20:00:00" });
  const newer = ofWoocommerce(1, { date_modified_gmt: "2026-05-05T20:00:00", refunds: [{ id: 7, total: "-9.35" }] });
  await deliver("order.updated", newer);
  const { imported, reconciled } = filesOf(app, store);
  expect(await imported(listOf([older]))).toMatchObject({ duplicates: 1 });
  expect(await readOrder(store, "1")).toMatchObject({ refunded: 9.35 });
  const message = "29.35 in the file, 29.35, 20 after refunds here.";
  expect((await reconciled(listOf([older]))).differences).toEqual([{ kind: "different", id: "1", line: 1, message }]);
  const newest = ofWoocommerce(1, { date_modified_gmt: "2026-05-06T20:00:00", status: "cancelled" });
  expect(await imported(listOf([newest]))).toMatchObject({ accepted: 1 });
  await deliver("order.updated", newer);
  expect(await readOrder(store, "1")).toMatchObject({ refunded: 29.35 });
});

test("what does not count is named with its status, and known for what comes later", async () => {
  const store = await euroStore(app);
  const { imported, reconciled } = filesOf(app, store);
  const unpaid = { date_paid_gmt: null };
  const parent = ofWoocommerce(1, { total: "100.00", ...meta("has_sub_order", "1") });
  const list = listOf([
    ofWoocommerce(6, { parent_id: 1, created_via: "dokan" }),
    ofWoocommerce(5, { parent_id: 1 }), // a list begins with the latest: its order comes behind it
    ofWoocommerce(4, { parent_id: 3, created_via: "deposit" }),
    ofWoocommerce(3, { status: "partial-payment" }),
    ofWoocommerce(2, { status: "on-hold", ...unpaid, ...meta("vitrine_viewer", { a: 1 }) }),
    parent,
    ofWoocommerce(7, { status: "trash", ...unpaid }),
  ]);
  expect((await reconciled(list)).differences.map(({ kind, id: of }) => `${kind} ${of}`)).toEqual([
    "missing 4",
    "missing 1",
  ]);
  const statuses = [
    { status: "part of another order", orders: 2 },
    ...["partial-payment", "on-hold", "trash"].map((status) => ({ status, orders: 1 })),
  ];
  const faults = [{ reason: "vitrine_viewer is not a text: no viewer was read.", orders: 1 }];
  expect(await imported(list)).toEqual({ ...nothing, accepted: 2, unpaid: 5, statuses, faults });
  expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 129.35, refunds: 0 });
  expect(await reconciled(list)).toMatchObject({ orders: 2, matching: 2, differencesTotal: 0 });
});

test("a line that is no order, or one of another currency, is refused by both commands, and nothing is stored", async () => {
  const store = await euroStore(app);
  const { refusal } = filesOf(app, store);
  const after = (order: object) => listOf([ofWoocommerce(1), order]);
  const neither =
    "Line 2: The line is neither an order for recordOrders (id, placedAt, amount) nor one of the REST API of WooCommerce (wc/v3) " +
    "or Shopify: write one of their orders on each line.";
  for (const order of [
    { id: "1" },
    { orders: [ofShopify()] },
    { order: ofShopify() },
    { code: "x", message: "no" },
    [1],
  ])
    expect(await refusal(after(order))).toBe(neither);
  const currency = 'Line 2: currency must be EUR, the currency of the store, not "USD".';
  expect(await refusal(after(ofWoocommerce(2, { currency: "usd" })))).toBe(currency);
  expect(await refusal(after(ofShopify({ currency: "USD" })))).toBe(currency);
  expect(await refusal(after(ofWoocommerce(2, { total: "0x10" })))).toBe("Line 2: total is not an amount.");
  expect(await refusal(after(ofWoocommerce(2, { total: "-1.00" })))).toBe(
    "Line 2: total is negative: that is no order.",
  );
  expect(await refusal(after(ofWoocommerce(2, { date_created_gmt: "May 4, 2026" })))).toBe(
    "Line 2: date_created_gmt is not a time.",
  );
  expect(await refusal(after({ ...sentOrder("2", 1), total_price: "5.00" }))).toBe(
    'Line 2: Unknown field "total_price".',
  );
  expect(await refusal(`${listOf([ofWoocommerce(1)])}{"id": 5`)).toMatch(/^Line 2: /u);
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
  const none = await createTestStore(app);
  expect(await filesOf(app, none).refusal(listOf([ofWoocommerce(1)]))).toBe(
    "Line 1: The store has no currency yet: an operator sets it by vitrine store set STORE --currency.",
  );
});

const ofMoney = {
  Shopify:
    "id financial_status currency total_price current_total_price updated_at cancelled_at created_at processed_at taxes_included " +
    "line_items line_items.price line_items.quantity refunds refunds.id refunds.transactions",
  WooCommerce:
    "id status currency total date_created_gmt date_modified_gmt date_paid_gmt parent_id created_via meta_data " +
    "line_items line_items.quantity line_items.total line_items.total_tax refunds refunds.id refunds.total",
} as const;

function without(order: Fields, name: string): Fields {
  const [list = "", member] = name.split(".");
  const { [list]: items, ...others } = order;
  return member === undefined
    ? others
    : { ...others, [list]: (items as Fields[]).map((item) => without(item, member)) };
}

const divided = ofWoocommerce(1, {
  ...meta("has_sub_order", "1"),
  status: "packed",
  refunds: [{ id: 7, total: "-9.35" }],
});
const family = "parent_id created_via meta_data";

test.each<[keyof typeof ofMoney, readonly Fields[], readonly string[]]>([
  ["Shopify", [ofShopify()], [ofMoney.Shopify]],
  [
    "WooCommerce",
    [divided, ofWoocommerce(2, { parent_id: 1 }), ofWoocommerce(3, { parent_id: 9, created_via: "dokan" })],
    [ofMoney.WooCommerce, family, family],
  ],
])("a list of %s without each member is refused with its name, or right", async (system, orders, members) => {
  const store = await euroStore(app);
  const files = filesOf(app, store);
  const needed = new Set(ofMoney[system].split(" ").map((name) => name.split(".")[0]));
  const bare = orders.map((order) => Object.fromEntries(Object.entries(order).filter(([name]) => needed.has(name))));
  await files.imported(listOf(orders));
  expect(await files.reconciled(listOf(bare))).toMatchObject({ matching: 1, differencesTotal: 0 });
  for (const [index, order] of bare.entries()) {
    for (const name of members[index]?.split(" ") ?? []) {
      const content = listOf(bare.with(index, without(order, name)));
      try {
        expect(await files.reconciled(content), `without ${name}`).toMatchObject({ matching: 1, differencesTotal: 0 });
      } catch (error) {
        expect(String(error), `without ${name}`).toContain(`The order of ${system} lacks ${name}: fetch the list`);
      }
    }
  }
});
