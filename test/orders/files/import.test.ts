import { expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import {
  csvOf,
  euroStore,
  filesOf,
  pluginColumns,
  pluginCsv,
  pluginRow,
  shopifyCsv,
  shopifyLine,
  shopifyRow,
} from "../../support/figures/orderFiles.js";
import { hookOf, shopifyOrder, woocommerceOrder } from "../../support/figures/hooks.js";
import { countedBy, readOrder, recordedOrders, sentOrder, unattributedOf } from "../../support/figures/orders.js";
import { bulk, paths, product } from "../../support/products.js";

const app = await openTestApp();

const nothing = { accepted: 0, duplicates: 0, unpaid: 0, statuses: [], different: 0, differences: [] };
const id = "5555555551001";

test("Shopify's export: orders with their lines, viewer and time, and nothing is new the second time", async () => {
  const store = await euroStore(app);
  expect((await store.post(paths.one, { product: product("shirt", { sku: "shirt-m" }) })).status).toBe(200);
  const { imported, reconciled } = filesOf(app, store);
  const file = shopifyCsv([shopifyRow("1001"), shopifyLine("1001"), shopifyRow("1002", { Total: "1,234.50" })]);
  expect(await imported(file)).toEqual({ ...nothing, accepted: 2 });
  expect(await imported(file)).toEqual({ ...nothing, duplicates: 2 });
  expect(await readOrder(store, id)).toMatchObject({
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 120.5,
    refunded: 0,
    viewerId: "v1",
    lines: [
      { productId: "shirt", quantity: 2, amount: 80 },
      { productId: "Scarf", quantity: 1, amount: 20 },
    ],
  });
  expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 1355, refunds: 0 });
  expect(await reconciled(file)).toEqual({ orders: 2, matching: 2, differences: [], differencesTotal: 0 });
});

test.each([
  ["Vitrine_Viewer: v7", "v7"],
  ["gift: no\n_wc_other/shop/vitrine_viewer: v8", "v8"],
  ["vitrine_viewer:\nnext: v9", null],
  ["about vitrine_viewer: v9", null],
  ["vitrine_viewer: \n_vitrine_viewer: v 10 \r\nnext: no", "v 10"],
])("the viewer of the note attributes %j is %j", async (notes, viewerId) => {
  const store = await euroStore(app);
  await filesOf(app, store).imported(shopifyCsv([shopifyRow("1001", { "Note Attributes": notes })]));
  expect(await readOrder(store, id)).toMatchObject({ viewerId });
});

test("a line is of the first of its sku, variation and product that the catalog has, else of the first that is one", async () => {
  const store = await euroStore(app);
  await store.post(paths.bulk, bulk([product("12", { sku: "small" })]));
  const columns = [...pluginColumns, "Variation ID", "Product ID"];
  const line = (sku: string, variation: string, productId: string, name = "Mug") =>
    pluginRow("1", {
      "Order Total": "5.00",
      "Item Price": "1.00",
      "Item SKU": sku,
      "Variation ID": variation,
      "Product ID": productId,
      "Item Name": name,
    });
  const rows = [
    line("", "12", "11"),
    line(" small ", "0", "11"),
    line("none", "12", "11"),
    line("0", "0", "0", "Old hat"),
    line("", "0", "11"),
  ];
  await filesOf(app, store).imported(pluginCsv(rows, columns));
  const { lines } = await readOrder(store, "1");
  expect(lines.map((one: { productId: string }) => one.productId)).toEqual(["12", "12", "12", "Old hat", "11"]);
});

test("a viewer that is none is left out, and the report says so; the order counts", async () => {
  const store = await euroStore(app);
  const rows = [shopifyRow("1001", { "Note Attributes": "vitrine_viewer: undefined" }), shopifyRow("1002")];
  const faults = [{ reason: "vitrine_viewer identifies no viewer: see how the shop sets it.", orders: 1 }];
  expect(await filesOf(app, store).imported(shopifyCsv(rows))).toEqual({ ...nothing, accepted: 2, faults });
});

test("lines that come to more than their order are left out, and the report says so", async () => {
  const store = await euroStore(app);
  const faults = [
    { reason: expect.stringMatching(/^The lines come to more than the order, .* REST list .*\.$/u), orders: 1 },
  ];
  const rows = [pluginRow("1", { "Item Price": "150.00" }), pluginRow("2")];
  expect(await filesOf(app, store).imported(pluginCsv(rows))).toEqual({ ...nothing, accepted: 2, faults });
  expect(await readOrder(store, "1")).toMatchObject({ amount: 119, lines: [] });
});

test.each([
  [{ "Meta: _wc_other/shop/vitrine_viewer": "v1" }, "v1"],
  [{ "_wc_other/shop/Vitrine_Viewer": " v2 " }, "v2"],
  [{ "Meta: vitrine_viewer": "", "Meta: _wc_other/shop/vitrine_viewer": "v3" }, "v3"],
  [{ vitrine_viewer: "undefined" }, null],
  [{ "Meta: vitrine_viewer_of": "v5" }, null],
])("the viewer of the columns %j is %j", async (cells, viewerId) => {
  const store = await euroStore(app);
  const columns = [...pluginColumns, ...Object.keys(cells)];
  await filesOf(app, store).imported(pluginCsv([pluginRow("1", cells)], columns));
  expect(await readOrder(store, "1")).toMatchObject({ viewerId });
});

test("a plugin's export of WooCommerce: times of the store's time zone, and columns of GMT in UTC", async () => {
  const store = await euroStore(app, { timeZone: "Europe/Berlin" });
  const { imported } = filesOf(app, store);
  const rows = [pluginRow("1"), pluginRow("1", { "Item SKU": "hat", "Item Price": "0" }), pluginRow("2")];
  expect(await imported(pluginCsv(rows))).toEqual({ ...nothing, accepted: 2 });
  expect(await readOrder(store, "1")).toMatchObject({
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 119,
    lines: [
      { productId: "mug", quantity: 1, amount: 119 },
      { productId: "hat", quantity: 1, amount: 0 },
    ],
  });
  const columns = ["Order ID", "Order Total", "Order Date", "Date created (GMT)", "Status"];
  const gmt = { "Order Total": "5.00", "Order Date": "2026-05-04 23:00", Status: "Completed" };
  await imported(csvOf(columns, [{ ...gmt, "Order ID": "3", "Date created (GMT)": "2026-05-04 21:00:00" }]));
  expect(await readOrder(store, "3")).toMatchObject({ placedAt: "2026-05-04T21:00:00.000Z" });
});

test("refunds of a file are a total, whether by amount, by status or by a cancellation, with either sign", async () => {
  const store = await euroStore(app);
  const { imported } = filesOf(app, store);
  const file = shopifyCsv([
    shopifyRow("1001", { "Financial Status": "partially_refunded", "Refunded Amount": "20.50" }),
    shopifyRow("1002", { "Financial Status": "refunded", "Refunded Amount": "" }),
    shopifyRow("1003", { "Cancelled at": "2026-05-05 10:00:00 +0200" }),
  ]);
  expect(await imported(file)).toEqual({ ...nothing, accepted: 3 });
  expect(await unattributedOf(store)).toEqual({ orders: 3, sales: 361.5, refunds: 261.5 });
  const more = shopifyRow("1001", { "Financial Status": "partially_refunded", "Refunded Amount": "-30.00" });
  expect(await imported(shopifyCsv([more]))).toEqual({ ...nothing, accepted: 1 });
  expect(await readOrder(store, id)).toMatchObject({ refunded: 30 });
});

test("an order that a hook has told is only completed: its viewer, its lines, its refunds; never its time or its amount", async () => {
  const store = await euroStore(app);
  const { deliver } = await hookOf(app, store, "shopify");
  await deliver("orders/paid", shopifyOrder(id, { line_items: [] }));
  const { imported, reconciled } = filesOf(app, store);
  const row = (fields: Record<string, string>) =>
    shopifyCsv([shopifyRow("1001", { "Created at": "2026-05-01 10:00:00 +0200", ...fields })]);
  const part = { "Financial Status": "partially_refunded", "Refunded Amount": "20.00" };
  expect(await imported(row(part))).toEqual({ ...nothing, accepted: 1 });
  const expected = {
    placedAt: "2026-05-04T19:00:00.000Z",
    amount: 120.5,
    refunded: 20,
    viewerId: "v1",
    lines: [{ productId: "shirt-m", quantity: 2, amount: 80 }],
  };
  expect(await readOrder(store, id)).toMatchObject(expected);
  const message = "99.5 in the file, 120.5, 100.5 after refunds here.";
  const different = { ...nothing, duplicates: 1, different: 1, differences: [{ id, line: 2, message }] };
  expect(await imported(row({ Total: "99.50" }))).toEqual(different);
  expect(await readOrder(store, id)).toMatchObject(expected);
  expect(await reconciled(row({ Total: "99.50" }))).toMatchObject({
    differences: expect.arrayContaining([{ kind: "different", id, line: 2, message }]),
  });
});

test("a refund that a hook reports after a file counts once, by its larger total", async () => {
  const store = await euroStore(app);
  const { imported } = filesOf(app, store);
  const part = { "Financial Status": "partially_refunded", "Refunded Amount": "20.00" };
  await imported(shopifyCsv([shopifyRow("1001", part)]));
  const { deliver } = await hookOf(app, store, "shopify");
  const transactions = [{ id: 1, kind: "refund", status: "success", amount: "25.00" }];
  const refunds = [{ id: 9, created_at: "2026-05-05T10:00:00Z", refund_line_items: [], transactions }];
  await deliver("orders/updated", shopifyOrder(id, { refunds, current_total_price: "95.50" }));
  expect(await readOrder(store, id)).toMatchObject({ amount: 120.5, refunded: 25 });
});

const unpaid = ["pending", "authorized", "expired", "partially_paid", "wc-on-hold", "wc-Pending", "Checkout draft", ""];

test("only statuses that are known to be paid make orders, and the import names all others with their counts", async () => {
  const store = await euroStore(app);
  const { imported, reconciled } = filesOf(app, store);
  const rows = [...unpaid, "PENDING", "toString"].map((status, index) =>
    pluginRow(`u${index}`, { "Order Status": status }),
  );
  const paid = ["paid", "wc-Processing", "Completed"].map((status, index) =>
    pluginRow(`p${index}`, { "Order Status": status }),
  );
  const statuses = [
    { status: "pending", orders: 3 },
    ...["authorized", "expired", "partially_paid", "on-hold"].map((status) => ({ status, orders: 1 })),
    ...["checkout draft", "(none)", "tostring"].map((status) => ({ status, orders: 1 })),
  ];
  expect(await imported(pluginCsv([...rows, ...paid]))).toEqual({ ...nothing, accepted: 3, unpaid: 10, statuses });
  expect(await unattributedOf(store)).toEqual({ orders: 3, sales: 357, refunds: 0 });
  expect(await reconciled(pluginCsv([...rows, ...paid]))).toMatchObject({
    orders: 3,
    matching: 3,
    differencesTotal: 0,
  });
});

test.each(["cancelled", "voided", "failed", "trash", "wc-trashed"])(
  "%s takes away what is left of an order that is known, and neither makes nor reserves one that is not",
  async (status) => {
    const store = await euroStore(app);
    const { imported, reconciled } = filesOf(app, store);
    await imported(pluginCsv([pluginRow("1")]));
    const file = pluginCsv(["1", "2"].map((each) => pluginRow(each, { "Order Status": status })));
    const message = `${status.replace("wc-", "")} in the file, 119 here.`;
    const differences = [{ kind: "different", id: "1", line: 2, message }];
    expect(await reconciled(file)).toEqual({ orders: 0, matching: 0, differences, differencesTotal: 1 });
    const statuses = [{ status: status.replace("wc-", ""), orders: 2 }];
    expect(await imported(file)).toEqual({ ...nothing, accepted: 1, unpaid: 2, statuses });
    expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 119, refunds: 119 });
    expect(await app.db.shopOrder.findMany({ where: { storeId: store.id }, select: { id: true } })).toEqual([
      { id: "1" },
    ]);
    expect(await reconciled(file)).toMatchObject({ differencesTotal: 0 });
    expect(await imported(pluginCsv([pluginRow("1"), pluginRow("2")]))).toMatchObject({ accepted: 1, different: 1 });
    expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 238, refunds: 119 });
  },
);

test("a cancelled row does not make an order of which only a refund or a deletion is known", async () => {
  const store = await euroStore(app);
  const { deliver } = await hookOf(app, store, "woocommerce");
  await deliver("order.deleted", { id: 7 });
  await filesOf(app, store).imported(pluginCsv([pluginRow("7", { "Order Status": "cancelled" })]));
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("an order that counts here and is unpaid in the file is a difference of both commands, and keeps counting", async () => {
  const store = await euroStore(app);
  await recordedOrders(store, [sentOrder("1", 119)]);
  const { imported, reconciled } = filesOf(app, store);
  const file = pluginCsv([pluginRow("1", { "Order Status": "on-hold" })]);
  const difference = { id: "1", line: 2, message: "on-hold in the file, 119 here." };
  expect(await imported(file)).toMatchObject({ accepted: 0, different: 1, differences: [difference] });
  expect(await reconciled(file)).toMatchObject({ differences: [{ kind: "different", ...difference }] });
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 119, refunds: 0 });
});

test("an order that is unpaid here and paid in the file is a difference too, and does not count by the file", async () => {
  const store = await euroStore(app);
  const { deliver } = await hookOf(app, store, "woocommerce");
  await deliver("order.created", woocommerceOrder(1, { status: "pending", date_paid_gmt: null, total: "119.00" }));
  const difference = { id: "1", line: 2, message: "It is not paid here: 119." };
  const { imported } = filesOf(app, store);
  expect(await imported(pluginCsv([pluginRow("1")]))).toMatchObject({ different: 1, differences: [difference] });
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("NDJSON is recordOrders: the order's newer state, with its time and its amount", async () => {
  const store = await euroStore(app);
  const { imported } = filesOf(app, store);
  await imported(pluginCsv([pluginRow("1")]));
  const newer = sentOrder("1", 130, { placedAt: "2026-05-03T10:00:00.000Z" });
  expect(await imported(`${JSON.stringify(newer)}\n`)).toEqual({ ...nothing, accepted: 1 });
  expect(await readOrder(store, "1")).toMatchObject({ amount: 130, placedAt: "2026-05-03T10:00:00.000Z" });
});

test("the viewer and the lines of a file let an order of a hook count for its show, and shows and the rest add up", async () => {
  const store = await euroStore(app);
  await countedBy(app.db, store.id, { rule: "CART", windowHours: 168 });
  const { deliver } = await hookOf(app, store, "shopify");
  await deliver("orders/paid", shopifyOrder(id, { line_items: [] }));
  await filesOf(app, store).imported(shopifyCsv([shopifyRow("1001"), shopifyLine("1001")]));
  const { attributions } = await readOrder(store, id);
  expect(attributions.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(120.5);
});

test("marks are those of the column, in any row of the file, and of the currency", async () => {
  const euros = await euroStore(app);
  const { imported } = filesOf(app, euros);
  await imported(
    pluginCsv([
      pluginRow("1", { "Order Total": "1.234", "Item Price": "5" }),
      pluginRow("2", { "Order Total": "12,50", "Item Price": "5" }),
    ]),
  );
  expect(await readOrder(euros, "1")).toMatchObject({ amount: 1234 });
  const yen = await euroStore(app, { currency: "JPY" });
  const row = pluginRow("1", {
    "Order Currency": "jpy",
    "Order Total": "¥1,234",
    "Item Price": "617",
    Quantity: "2.0",
  });
  await filesOf(app, yen).imported(pluginCsv([row]));
  expect(await readOrder(yen, "1")).toMatchObject({ amount: 1234, lines: [{ quantity: 2, amount: 1234 }] });
});
