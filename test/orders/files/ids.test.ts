import { expect, test } from "vitest";
import { addHook, listHooks } from "../../../src/orders/hooks/hook.js";
import { openTestApp } from "../../support/app.js";
import {
  csvOf,
  euroStore,
  filesOf,
  pluginColumns,
  pluginCsv,
  pluginRow,
  shopifyColumns,
  shopifyCsv,
  shopifyLine,
  shopifyRow,
} from "../../support/figures/orderFiles.js";
import { hookOf, woocommerceOrder } from "../../support/figures/hooks.js";
import { recordedOrders, sentOrder, unattributedOf } from "../../support/figures/orders.js";

const app = await openTestApp();

const withoutId = shopifyColumns.filter((name) => name !== "Id");
const numbered = csvOf(
  ["Order Number", "Order Total", "Order Date", "Order Status"],
  [
    {
      "Order Number": "1042",
      "Order Total": "100.00",
      "Order Date": "2026-05-04 19:00:00",
      "Order Status": "completed",
    },
  ],
);
const named = shopifyCsv([shopifyRow("1042")], withoutId);

const refusedWhile = (why: string) =>
  `Line 1: The file has numbers or names of orders, and not their ids, while ${why}. Add the column Id or Order ID, with the id ` +
  "of the shop's system, so that no order counts twice.";
const others = refusedWhile("the store knows orders that did not come from such a file");

test("numbers and names are refused while the store has a hook, also before its first delivery", async () => {
  const store = await euroStore(app);
  const { deliver } = await hookOf(app, store, "woocommerce");
  const { refusal } = filesOf(app, store);
  const ofHook = refusedWhile("the store has a hook");
  expect([await refusal(numbered), await refusal(named)]).toEqual([ofHook, ofHook]);
  await deliver("order.updated", woocommerceOrder(727, { total: "100.00" }));
  expect([await refusal(numbered), await refusal(named)]).toEqual([ofHook, ofHook]);
  expect(await unattributedOf(store)).toEqual({ orders: 1, sales: 100, refunds: 0 });
});

test("numbers and names are refused while the store has orders of a call, of NDJSON, or of a file with ids", async () => {
  const [ofCall, ofFile] = [await euroStore(app), await euroStore(app)];
  await recordedOrders(ofCall, [sentOrder("727", 100, { viewerId: '"isByNumber":true' })]);
  await filesOf(app, ofFile).imported(pluginCsv([pluginRow("1")]));
  for (const store of [ofCall, ofFile]) {
    const { refusal } = filesOf(app, store);
    expect([await refusal(numbered), await refusal(named)]).toEqual([others, others]);
  }
});

test("a store that has such files alone takes them again, until it knows orders by their ids", async () => {
  const store = await euroStore(app);
  const { imported, reconciled, refusal } = filesOf(app, store);
  expect(await imported(numbered)).toMatchObject({ accepted: 1 });
  expect(await imported(numbered)).toMatchObject({ duplicates: 1 });
  expect(await imported(named)).toMatchObject({ accepted: 1 });
  expect(await reconciled(numbered)).toMatchObject({ matching: 1 });
  await recordedOrders(store, [sentOrder("1042", 100)]);
  expect(await refusal(numbered)).toBe(others);
});

test("an order that is known by its name does not count once more by its id", async () => {
  const store = await euroStore(app);
  const { imported, refusal } = filesOf(app, store);
  await imported(named);
  expect(await refusal(shopifyCsv([shopifyRow("1043"), shopifyRow("1042")]))).toBe(
    'Line 4: The order is known as "#1042" from a file without ids, and would count twice: use such a file again, or record this ' +
      "one in a new store.",
  );
  expect(await unattributedOf(store)).toMatchObject({ orders: 1 });
});

test("an order without a number is refused while orders are known by theirs: it may be one of them", async () => {
  const store = await euroStore(app);
  const { imported, refusal } = filesOf(app, store);
  await imported(numbered);
  const message =
    "Line 2: The store knows orders by their numbers or names, from a file without ids, and this one may be among " +
    "them: add the column Order Number or Name, or record this one in a new store.";
  const columns = pluginColumns.filter((name) => name !== "Order Number");
  expect(await refusal(pluginCsv([pluginRow("727")], columns))).toBe(message);
  const lines = [sentOrder("1042", 100), sentOrder("727", 100)].map((order) => JSON.stringify(order));
  expect(await refusal(lines.join("\n"))).toBe(message);
  const ofApi = (number: string) => JSON.stringify(woocommerceOrder(727, { number }));
  expect(await refusal(ofApi("1042"))).toMatch(/^Line 1: The order is known as "1042" from a file without ids/u);
  expect(await imported(ofApi("1043"))).toMatchObject({ accepted: 1 });
});

test("a hook is refused while orders are known by their numbers, with what to do, and none is counted twice", async () => {
  const store = await euroStore(app);
  await filesOf(app, store).imported(numbered);
  await expect(addHook(app.db, store.id, { from: "woocommerce" })).rejects.toMatchObject({
    code: "VALIDATION_FAILED",
    message:
      `Store ${store.id} knows orders by their numbers or names, from a file without ids: a hook would count them twice. Add the hook ` +
      "to a new store, and import the orders there from a file with the column Id or Order ID.",
  });
  expect(await listHooks(app.db, store.id)).toEqual([]);
  await recordedOrders(store, [sentOrder("1042", 100)]);
  await addHook(app.db, store.id, { from: "woocommerce" });
});

test("rows belong to an order by its id, or without one by the name of the row above", async () => {
  const store = await euroStore(app);
  const rows = [shopifyRow("1001"), shopifyLine("1001"), shopifyRow("1002", { Name: "#1001" }), shopifyLine("1001")];
  expect(await filesOf(app, store).imported(shopifyCsv(rows))).toMatchObject({ accepted: 2 });
  expect(await unattributedOf(store)).toEqual({ orders: 2, sales: 241, refunds: 0 });
});

const twoNames = (line: number, id: string, one: string, other: string) =>
  `Line ${line}: The id "${id}" stands on two orders, "${one}" and "${other}": a spreadsheet may have rounded it. Export the orders ` +
  "again.";
const changed = (line: number, id: string) =>
  `Line ${line}: "${id}" is an id that a spreadsheet changed: export the orders again, and do not save them from a spreadsheet.`;

test("an id that is not one order's, or not as the shop wrote it, is refused with its line", async () => {
  const store = await euroStore(app);
  const { refusal } = filesOf(app, store);
  const rounded = "820982911946154000";
  const withId = (number: string, Id: string) => shopifyRow(number, { Id });
  const [one, two, three] = [withId("1", rounded), withId("2", rounded), withId("3", "7")];
  expect(await refusal(shopifyCsv([one, two]))).toBe(twoNames(4, rounded, "#1", "#2"));
  expect(await refusal(shopifyCsv([one, three, two]))).toBe(twoNames(6, rounded, "#1", "#2"));
  const apart = `Line 6: The rows of order "${rounded}" are not adjacent: sort the file by order.`;
  expect(await refusal(shopifyCsv([one, three, one]))).toBe(apart);
  for (const id of [
    "5.12346E+12",
    "5,12346E+12",
    "5E+12",
    "512.3E+10",
    "5.12346e12",
    "5123456789012.0",
    "5,123,456",
    "5 123 456",
    "5'123'456",
  ])
    expect(await refusal(shopifyCsv([three, withId("9", id)]))).toBe(changed(4, id));
  const message = "Line 4: The row has no id, and does not belong to the order above it.";
  expect(await refusal(shopifyCsv([three, withId("9", "")]))).toBe(message);
  expect(await unattributedOf(store)).toEqual({ orders: 0, sales: 0, refunds: 0 });
});

test("ids are compared with those of the last 10,000 orders, and memory has a bound", async () => {
  const store = await euroStore(app);
  const columns = ["Order ID", "Order Number", "Order Total", "Order Date", "Order Status"];
  const row = (id: number, name: string) => ({
    ...pluginRow(String(id), { "Order Number": name, "Order Status": "pending" }),
    "Order Date": "2026-05-04",
  });
  const rows = Array.from({ length: 10_001 }, (_, index) => row(index, `n${index}`));
  const { refusal, reconciled } = filesOf(app, store);
  expect(await refusal(csvOf(columns, [...rows, row(1, "other")]))).toBe(twoNames(10_003, "1", "n1", "other"));
  expect(await reconciled(csvOf(columns, [...rows, row(0, "other")]))).toMatchObject({ orders: 0 });
});

test("an id with a spreadsheet's apostrophe, with letters or with zeros before it is taken as it is", async () => {
  const store = await euroStore(app);
  const rows = ["'77", '="78"', "1E5", "0042", "A-1.5"].map((id, index) => shopifyRow(String(index), { Id: id }));
  await filesOf(app, store).imported(shopifyCsv(rows));
  const found = await app.db.shopOrder.findMany({ where: { storeId: store.id }, orderBy: { id: "asc" } });
  expect(found.map(({ id }) => id).toSorted()).toEqual(["0042", "1E5", "77", "78", "A-1.5"]);
});
