import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addHook, listHooks } from "../../src/orders/hooks/hook.js";
import { setAttribution } from "../../src/orders/attribution/recount.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { stopTimers } from "../support/clock.js";
import { order as orderEvent, view } from "../support/events.js";
import { hookOf, payloadOf, shopifyOrder, woocommerceOrder } from "../support/figures/hooks.js";
import { filesOf, pluginCsv, pluginRow } from "../support/figures/orderFiles.js";
import { netOf, readOrder, unattributedOf } from "../support/figures/orders.js";
import { bulk, paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";

// What shops' systems send of money, in the shapes of their references and of public reports.

const app = await openTestApp();

const id = "450789469";
const line = (fields: object) => ({ id: 1, product_id: 7, title: "Mug", price: "100.00", quantity: 1, ...fields });
const order = (fields: object) =>
  shopifyOrder(id, {
    total_price: "100.00",
    current_total_price: "100.00",
    taxes_included: true,
    line_items: [line({ sku: "A" })],
    ...fields,
  });
const transaction = (amount: string, fields: object = {}) => ({ kind: "refund", status: "success", amount, ...fields });
const refund = (fields: object) => ({
  id: 1,
  created_at: "2026-05-06T10:00:00+02:00",
  order_id: `#${id}`,
  transactions: [],
  refund_line_items: [],
  ...fields,
});
const ofLine = (subtotal: string, tax: string, fields: object = {}) => ({
  line_item_id: 1,
  quantity: 1,
  subtotal,
  total_tax: tax,
  line_item: line({ sku: "A" }),
  ...fields,
});

interface Case {
  readonly of: string;
  readonly sent: readonly object[];
  readonly amount?: number;
  readonly refunded: number;
  readonly lines?: readonly object[];
}

async function reasonsOf(storeId: string) {
  const [hook] = await listHooks(app.db, storeId);
  return hook?.faults.map(({ reason }) => reason).toSorted();
}

const cases: readonly Case[] = [
  {
    of: "a refund without lines, whose order is not changed",
    sent: [
      order({}),
      order({ refunds: [refund({ transactions: [transaction("20.00")] })], updated_at: "2026-05-07T00:00:00Z" }),
    ],
    refunded: 20,
  },
  {
    of: "a transaction that failed before one that succeeded",
    sent: [
      order({ refunds: [refund({ transactions: [transaction("20.00", { status: "error" }), transaction("20.00")] })] }),
    ],
    refunded: 20,
  },
  {
    of: "a refund that is pending",
    sent: [order({ refunds: [refund({ transactions: [transaction("20.00", { status: "pending" })] })] })],
    refunded: 0,
  },
  {
    of: "a transaction in the shopper's currency, by what Shopify calculated",
    sent: [
      order({
        current_total_price: "70.00",
        refunds: [
          refund({
            transactions: [transaction("35.00", { currency: "USD" })],
            refund_line_items: [ofLine("25.00", "4.00")],
            refund_shipping_lines: [{ subtotal_amount_set: { shop_money: { amount: "5.00" } } }],
          }),
        ],
      }),
    ],
    refunded: 30,
  },
  {
    of: "shipping given back as an adjustment, without transactions",
    sent: [
      order({}),
      order({
        updated_at: "2026-05-07T00:00:00Z",
        current_total_price: "95.00",
        refunds: [refund({ order_adjustments: [{ kind: "shipping_refund", amount: "-4.20", tax_amount: "-0.80" }] })],
      }),
    ],
    refunded: 5,
  },
  {
    of: "less given back than was calculated: the rest is a discrepancy",
    sent: [
      order({
        current_total_price: "60.00",
        refunds: [
          refund({
            transactions: [transaction("30.00")],
            refund_line_items: [ofLine("40.00", "0.00")],
            order_adjustments: [{ kind: "refund_discrepancy", amount: "10.00", tax_amount: "0.00" }],
          }),
        ],
      }),
    ],
    refunded: 30,
  },
  {
    of: "a discrepancy with its taxes",
    sent: [
      order({
        current_total_price: "60.00",
        refunds: [
          refund({
            transactions: [transaction("30.00")],
            refund_line_items: [ofLine("40.00", "0.00")],
            order_adjustments: [{ kind: "refund_discrepancy", amount: "8.40", tax_amount: "1.60" }],
          }),
        ],
      }),
    ],
    refunded: 30,
  },
  {
    of: "an edit that adds a line within the second of the order",
    sent: [order({}), order({ current_total_price: "150.00" })],
    amount: 150,
    refunded: 0,
  },
  {
    of: "a line of which nothing says what an edit has left",
    sent: [order({ line_items: [line({ sku: "A", price: "50.00", quantity: 2, current_quantity: null })] })],
    refunded: 0,
    lines: [{ productId: "A", quantity: 2, amount: 100 }],
  },
  {
    of: "a line of quantity 0",
    sent: [order({ line_items: [line({ sku: "A" }), line({ id: 2, sku: "B", price: "50.00", quantity: 0 })] })],
    refunded: 0,
    lines: [{ productId: "A", quantity: 1, amount: 100 }],
  },
  {
    of: "half of a line that was removed before it was paid for: it was never sold",
    sent: [order({ total_price: "200.00", line_items: [line({ sku: "A", quantity: 2, current_quantity: 1 })] })],
    amount: 100,
    refunded: 0,
    lines: [{ productId: "A", quantity: 1, amount: 100 }],
  },
  {
    of: "a line that was given back by a transaction of another kind: it was sold",
    sent: [
      order({
        current_total_price: "0.00",
        cancelled_at: "2026-05-06T10:00:00+02:00",
        line_items: [line({ sku: "A", current_quantity: 0 })],
        refunds: [
          refund({
            transactions: [transaction("100.00", { kind: "void" })],
            refund_line_items: [ofLine("100.00", "0.00")],
          }),
        ],
      }),
    ],
    refunded: 100,
    lines: [{ productId: "A", quantity: 1, amount: 100 }],
  },
  {
    of: "half of a line that was given back: it was sold",
    sent: [
      order({
        total_price: "200.00",
        line_items: [line({ sku: "A", quantity: 2, current_quantity: 1 })],
        refunds: [refund({ transactions: [transaction("100.00")], refund_line_items: [ofLine("100.00", "0.00")] })],
      }),
    ],
    amount: 200,
    refunded: 100,
    lines: [{ productId: "A", quantity: 2, amount: 200 }],
  },
  {
    of: "taxes that are added to prices",
    sent: [
      order({
        total_price: "119.00",
        current_total_price: "119.00",
        taxes_included: false,
        line_items: [line({ sku: "A", tax_lines: [{ price: "19.00" }] })],
      }),
    ],
    amount: 119,
    refunded: 0,
    lines: [{ productId: "A", quantity: 1, amount: 119 }],
  },
];

describe("Shopify", () => {
  test.each(cases)("$of", async ({ sent, amount = 100, refunded, lines }) => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "shopify");
    for (const payload of [...sent, ...sent.toReversed()]) await deliver("orders/updated", payload);
    expect(await readOrder(store, id)).toMatchObject({ amount, refunded, ...(lines && { lines }) });
  });

  test.each([
    [true, 25],
    [false, 29],
  ])(
    "a refund that comes before its order counts by the order's taxes: included %s, %d",
    async (isIncluded, refunded) => {
      const store = await createTestStore(app);
      const { deliver } = await hookOf(app, store, "shopify");
      await deliver("refunds/create", refund({ refund_line_items: [ofLine("25.00", "4.00")] }));
      await deliver("orders/paid", order({ taxes_included: isIncluded }));
      expect(await readOrder(store, id)).toMatchObject({
        amount: 100,
        refunded,
        refunds: [{ lines: [{ amount: refunded }] }],
      });
    },
  );

  test.each([
    [true, [25, 25]],
    [false, [29, 25]],
  ])(
    "the lines of a refund that comes by itself share its money by the order's taxes: included %s",
    async (isIncluded, shares) => {
      const store = await createTestStore(app);
      const { deliver } = await hookOf(app, store, "shopify");
      const line_items = ["A", "B"].map((sku, index) => line({ id: index + 1, sku, price: "50.00" }));
      await deliver("orders/paid", order({ taxes_included: isIncluded, line_items }));
      const ofLines = [
        ofLine("25.00", "4.00"),
        ofLine("25.00", "0.00", { line_item_id: 2, line_item: line({ sku: "B" }) }),
      ];
      const money = shares.reduce((sum, share) => sum + share);
      const transactions = [transaction(money.toFixed(2))];
      await deliver("refunds/create", refund({ transactions, refund_line_items: ofLines }));
      const { refunds } = await readOrder(store, id);
      expect(refunds).toMatchObject([{ amount: money, lines: shares.map((amount) => ({ amount })) }]);
    },
  );

  test("a refund by itself of shipping and more than that, and one that succeeds after it was pending", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "shopify");
    await deliver("orders/paid", order({}));
    const shipping = [{ subtotal_amount_set: { shop_money: { amount: "5.00" } } }];
    const order_adjustments = [{ kind: "refund_discrepancy", amount: "-10.00", tax_amount: "0.00" }];
    await deliver("refunds/create", refund({ refund_shipping_lines: shipping, order_adjustments }));
    expect(await readOrder(store, id)).toMatchObject({ refunded: 15 });
    const second = (status: string) => refund({ id: 2, transactions: [transaction("20.00", { status })] });
    for (const status of ["pending", "success", "pending"]) await deliver("refunds/create", second(status));
    expect(await readOrder(store, id)).toMatchObject({ refunded: 35 });
  });

  test("what does not say what counts is listed with what to set", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "shopify");
    await deliver("orders/paid", "<?xml version='1.0'?><order><id>1</id></order>");
    await deliver("orders/paid", order({ financial_status: undefined }));
    await deliver("orders/paid", order({ line_items: [line({ quantity: "some" })] }));
    await deliver("orders/paid", order({ note_attributes: { vitrine_viewer: "v1" } }));
    await deliver("orders/paid", order({ line_items: Array.from({ length: 501 }, () => line({ price: "0.10" })) }));
    expect(await reasonsOf(store.id)).toEqual([
      "An item of note_attributes is not an object: no viewer was read from it.",
      "Of more than 500 lines, the first 500 count: the rest is of no product.",
      "The body is XML: choose JSON as the format of the webhook.",
      "financial_status is missing, so nothing says whether the order was paid: let the webhook send all fields.",
      "quantity is not a number of pieces.",
    ]);
  });

  test("a deleted order counts for nothing, a currency in small letters is the same", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "shopify");
    await deliver("orders/paid", order({ currency: "eur" }));
    await deliver("orders/delete", { id: `#${id}` });
    expect(await readOrder(store, id)).toMatchObject({ amount: 100, refunded: 100 });
  });
});

describe("WooCommerce", () => {
  test("an order is there again once it is taken back from the trash, however late its deletion comes", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    await deliver("order.created", woocommerceOrder(5));
    await deliver("order.deleted", { id: 5 });
    expect(await readOrder(store, "5")).toMatchObject({ refunded: 29.35 });
    await deliver("order.restored", woocommerceOrder(5));
    expect(await readOrder(store, "5")).toMatchObject({ refunded: 0 });
  });

  test("a vendor's part of an order counts with it, a deposit's rest by itself", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    await deliver("order.created", woocommerceOrder(6, { parent_id: 5, created_via: "dokan" }));
    await deliver("order.created", woocommerceOrder(7, { parent_id: 5, created_via: "checkout" }));
    await deliver("order.created", woocommerceOrder(8, { status: "partial-payment" }));
    const { data } = await store.graphql("{ orders { nodes { id } } }");
    expect(data.orders.nodes).toEqual([{ id: "7" }]);
  });

  test("a part that came before its order is taken away from its show once the order says that it is divided", async () => {
    const store = await createTestStore(app);
    await setAttribution(app.db, store.id, { rule: "LAST_SHOW", windowHours: 168 });
    const show = (await saved(store)).id;
    await recorded(store, show, [view("a", { occurredAt: "2026-05-04T18:50:00.000Z" })]);
    const { deliver } = await hookOf(app, store, "woocommerce");
    const meta = (more: object[] = []) => ({ meta_data: [{ key: "vitrine_viewer", value: "v1" }, ...more] });
    const part = woocommerceOrder(6, { parent_id: 5, created_via: "checkout", ...meta() });
    await deliver("order.created", part);
    await deliver("order.created", woocommerceOrder(8, { parent_id: 5, created_via: "dokan", ...meta() }));
    expect(await netOf(store, show)).toEqual({ sales: 29.35, refunds: 0, net: 29.35, orders: 1 });
    const divided = woocommerceOrder(5, { total: "100.00", ...meta([{ key: "has_sub_order", value: "1" }]) });
    await deliver("order.created", divided);
    expect(await netOf(store, show)).toEqual({ sales: 100, refunds: 0, net: 100, orders: 1 });
    await deliver("order.deleted", { id: 5 });
    await deliver("order.updated", { ...part, date_modified_gmt: "2026-05-05T10:00:00" });
    expect(await netOf(store, show)).toEqual({ sales: 100, refunds: 100, net: 0, orders: 1 });
    // A file that lists parts as orders, and an event of one, count them no more.
    const { imported, reconciled } = filesOf(app, store);
    const file = pluginCsv(["6", "8"].map((own) => pluginRow(own)));
    expect(await imported(file)).toMatchObject({ different: 0 });
    expect(await reconciled(file)).toMatchObject({ differencesTotal: 0 });
    await recorded(store, show, [orderEvent("o", 29.35, { orderId: "8" })]);
    expect(await netOf(store, show)).toEqual({ sales: 100, refunds: 100, net: 0, orders: 1 });
    expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
  });

  test("a line is of the first of its names that the catalog has, else of the first that is one", async () => {
    const store = await createTestStore(app);
    await store.post(paths.bulk, bulk([product("12", { sku: "small" })]));
    const { deliver } = await hookOf(app, store, "woocommerce");
    const item = (fields: object) => ({ quantity: 1, total: "5.00", total_tax: "0.00", ...fields });
    const line_items = [
      item({ product_id: 11, variation_id: 12, sku: "", name: "Shirt" }),
      item({ product_id: 0, sku: " mug ", name: "Mug" }),
      item({ product_id: 0, variation_id: 0, sku: "", name: "Old hat" }),
      item({ product_id: 9, sku: " small ", name: "Shirt" }),
    ];
    await deliver("order.created", woocommerceOrder(9, { line_items: Object.fromEntries(line_items.entries()) }));
    const { lines } = await readOrder(store, "9");
    expect(lines.map((one: { productId: string }) => one.productId)).toEqual(["12", "mug", "Old hat", "12"]);
  });

  test.each([
    ["_wc_other/shop/vitrine_viewer", " v1 ", "v1", []],
    ["Vitrine_Viewer", 17, "17", []],
    ["vitrine_viewer", " ", null, []],
    ["vitrine_viewer", { a: 1 }, null, ["vitrine_viewer is not a text: no viewer was read."]],
    ["vitrine_viewer", "undefined", null, ["vitrine_viewer identifies no viewer: see how the shop sets it."]],
  ])("the viewer of the attribute %s with %j is %j", async (key, value, viewerId, reasons) => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    await deliver("order.created", woocommerceOrder(9, { meta_data: [null, { key: 5 }, { key, value }] }));
    expect(await readOrder(store, "9")).toMatchObject({ viewerId, amount: 29.35 });
    const [hook] = await listHooks(app.db, store.id);
    expect(hook?.faults.map(({ reason }) => reason)).toEqual(reasons);
  });

  test("what is sent in place of an order is listed with what to set", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    await deliver("order.created", { order: { id: 1 } });
    await deliver("order.created", { code: "woocommerce_rest_cannot_view", message: "No", data: { status: 401 } });
    await deliver("order.created", woocommerceOrder(1, { total: "-5.00" }));
    await deliver("order.created", { errors: [{ code: "woocommerce_api_user_cannot_read_order", message: "No" }] });
    await deliver("order.created", { orders: [{ id: 1 }] });
    const { date_created_gmt: _, ...ofFirstVersion } = woocommerceOrder(1);
    await deliver("order.created", ofFirstVersion);
    await deliver("order.created", woocommerceOrder(1, { status: undefined }));
    await deliver("order.created", woocommerceOrder(1, { refunds: [{ id: 7, reason: "" }] }));
    expect(await reasonsOf(store.id)).toEqual([
      "The payload is an error of WooCommerce: the webhook's user must be allowed to read orders.",
      "The payload is of the legacy API: choose the WP REST API Integration v3 for the webhook.",
      "The total of a refund is missing.",
      "status is missing.",
      "total is negative: that is no order.",
    ]);
    const [hook] = await listHooks(app.db, store.id);
    expect(hook?.faults.map(({ count }) => count).toSorted()).toEqual([1, 1, 1, 2, 3]);
  });

  test.each<[string, object, string, string[]]>([
    ["sku", { sku: false }, "93", []],
    ["sku", { sku: ["album"] }, "93", ["sku of a line is not a text: the line is counted without it."]],
    [
      "name",
      { sku: "", product_id: 0, name: { en: "Album" } },
      "unknown",
      ["name of a line is not a text: the line is counted without it."],
    ],
  ])("a line whose %s cannot be read counts without it: %j", async (_, fields, productId, reasons) => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    const item = { product_id: 93, name: "Album", quantity: 1, total: "29.35", total_tax: "0.00", ...fields };
    await deliver("order.created", woocommerceOrder(1, { line_items: [item] }));
    expect(await readOrder(store, "1")).toMatchObject({ amount: 29.35, lines: [{ productId, amount: 29.35 }] });
    expect(await reasonsOf(store.id)).toEqual(reasons);
  });

  test("false stands for none, a status may begin with wc-, and one of a partial refund is no deposit", async () => {
    const store = await createTestStore(app);
    const { deliver } = await hookOf(app, store, "woocommerce");
    await deliver("order.created", woocommerceOrder(1, { date_paid_gmt: false }));
    await deliver("order.updated", woocommerceOrder(2, { status: "wc-cancelled" }));
    const refunds = [{ id: 7, total: "-9.35" }];
    await deliver("order.updated", woocommerceOrder(3, { status: "partially-refunded", refunds }));
    const { data } = await store.graphql("{ orders { nodes { id refunded } } }");
    expect(data.orders.nodes.toSorted((a: { id: string }, b: { id: string }) => Number(a.id) - Number(b.id))).toEqual([
      { id: "1", refunded: 0 },
      { id: "2", refunded: 29.35 },
      { id: "3", refunded: 9.35 },
    ]);
  });
});

test("a hook is refused until its store has a currency, since amounts of several would add up", async () => {
  const store = await createTestStore(app);
  await expect(addHook(app.db, store.id, { from: "shopify" })).rejects.toMatchObject({
    code: "VALIDATION_FAILED",
    message: expect.stringContaining(`npx vitrine store set ${store.id} --currency`),
  });
});

test("reasons beyond the first 20 are counted together", async () => {
  const store = await createTestStore(app);
  const { deliver } = await hookOf(app, store, "shopify");
  for (let topic = 1; topic <= 22; topic += 1) await deliver(`topics/${topic}`, {});
  const [hook] = await listHooks(app.db, store.id);
  expect(hook?.faults.length).toBe(21);
  expect(hook?.faults.filter(({ count }) => count > 1)).toMatchObject([
    { count: 2, reason: expect.stringMatching(/^It is one of more than 20 reasons, .* add the hook anew\.$/u) },
  ]);
});

test("a valid signature with something behind it is none", async () => {
  const store = await createTestStore(app);
  const { send } = await hookOf(app, store, "shopify", "a secret");
  const body = payloadOf(order({}));
  const signature = createHmac("sha256", "a secret").update(body).digest("base64");
  const statusOf = async (behind: string) => {
    const headers = { "x-shopify-topic": "orders/paid", "x-shopify-hmac-sha256": signature + behind };
    return (await send(body, headers)).status;
  };
  expect([await statusOf(""), await statusOf("x"), await statusOf("="), await statusOf("AA==")]).toEqual([
    200, 401, 401, 401,
  ]);
});

test("what is refused before it is read is listed with what to do, ten seconds later at most", async () => {
  const timers = stopTimers();
  const store = await createTestStore(app);
  const { send, deliver } = await hookOf(app, store, "shopify");
  const statuses = [
    await send("{}", { "x-shopify-topic": "orders/paid", "x-shopify-hmac-sha256": "bm8=" }),
    await send("{}", { "x-shopify-topic": "orders/paid" }),
    await send("{}", { "content-encoding": "gzip" }),
    await deliver("orders/paid", "x".repeat(4 * 1_048_576 + 1)),
  ];
  expect(statuses.map(({ status }) => status)).toEqual([401, 401, 415, 413]);
  const listed = async () => {
    const [hook] = await listHooks(app.db, store.id);
    return hook?.faults.map(({ reason, count }) => [reason, count]).toSorted();
  };
  expect(await listed()).toEqual([]);
  await timers.run(10_000);
  await expect.poll(listed).toEqual([
    ["It has more than 4 MiB.", 1],
    ["It is compressed: have what stands between the shop and Vitrine pass it on as it is.", 1],
    ["It is not signed with the secret of this hook: enter that in the shop.", 2],
  ]);
});
