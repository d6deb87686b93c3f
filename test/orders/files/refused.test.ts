import { expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import {
  type Cells,
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
import { unattributedOf } from "../../support/figures/orders.js";

const app = await openTestApp();

/** One store is enough where nothing may be stored. */
const store = await euroStore(app);
const { refusal } = filesOf(app, store);

const none = { orders: 0, sales: 0, refunds: 0 };
const noAmount = (line: number, column: string, text: string) =>
  `Line ${line}: ${column} must be an amount of EUR, such as 1234.50, and not ${JSON.stringify(text)}.`;
const ambiguous = (line: number) =>
  `Line ${line}: The mark before the last three digits of an amount may separate thousands or decimals, and no other row of the ` +
  "column shows which: write all amounts with two decimals, such as 1234.00.";

test.each<[string, Cells, string]>([
  ...["N/A", "1e3", "-", "100K", "12.5.1", "USD 5", "$5", ""].map((text): [string, Cells, string] => [
    `a total of ${JSON.stringify(text)}`,
    { "Order Total": text, "Item Price": "1" },
    noAmount(3, "Order Total", text),
  ]),
  ["a negative total", { "Order Total": "-5.00", "Item Price": "1" }, noAmount(3, "Order Total", "-5.00")],
  ["a refund that is none", { "Refunded Total": "all" }, noAmount(3, "Refunded Total", "all")],
  ["a price that is none", { "Item Price": "free" }, noAmount(3, "Item Price", "free")],
  ["a line without a price", { "Item Price": "" }, noAmount(3, "Item Price", "")],
  ["a negative price", { "Item Price": "-1.00" }, noAmount(3, "Item Price", "-1.00")],
  ["a total with one mark before three digits", { "Order Total": "1.234", "Item Price": "1" }, ambiguous(3)],
  ["a part of a line", { Quantity: "0.5" }, 'Line 3: Quantity must be a whole number, and not "0.5".'],
  [
    "a quantity that may be a thousand",
    { Quantity: "1.000" },
    'Line 3: Quantity must be a whole number, and not "1.000".',
  ],
  ["a line without a quantity", { Quantity: "" }, 'Line 3: Quantity must be a whole number, and not "".'],
  [
    "a day of another calendar",
    { "Order Date": "05/04/2026" },
    'Line 3: Order Date must be a time such as 2026-05-04 12:00:00 +0200, and not "05/04/2026".',
  ],
  [
    "another currency",
    { "Order Currency": "USD" },
    'Line 3: currency must be EUR, the currency of the store, not "USD".',
  ],
  [
    "a refund of which nothing says how much",
    { "Order Status": "partially-refunded", "Refunded Total": "" },
    "Line 3: The order is partly refunded, but the file does not say how much: add the column Refunded Amount.",
  ],
])("both commands refuse %s with its line, and nothing is stored", async (_, fields, message) => {
  // Whole numbers, which do not show what a mark means.
  const whole = { "Order Total": "119", "Item Price": "119" };
  expect(await refusal(pluginCsv([pluginRow("1", whole), pluginRow("2", { ...whole, ...fields })]))).toBe(message);
  expect(await unattributedOf(store)).toEqual(none);
});

test("a cancellation that is no time is refused", async () => {
  expect(await refusal(shopifyCsv([shopifyRow("1", { "Cancelled at": "N/A" })]))).toBe(
    'Line 2: Cancelled at must be a time such as 2026-05-04 12:00:00 +0200, and not "N/A".',
  );
});

test("a row that says something else of its order than the first one is refused: it may be a line's amount", async () => {
  const rows = [pluginRow("1", { "Order Total": "10.00" }), pluginRow("1", { "Order Total": "20.00" })];
  expect(await refusal(pluginCsv(rows))).toBe(
    'Line 3: Order Total of order "1" is "20.00", and on line 2 "10.00": it must be the same for the whole order.',
  );
});

test("both commands refuse what recordOrders refuses, with its line", async () => {
  const row = (fields: Cells) => pluginCsv([pluginRow("1"), pluginRow("2", { "Item Price": "1.00", ...fields })]);
  expect(await refusal(row({ "Order Total": "5.0001" }))).toMatch(/^Line 3: amount must be an amount of EUR, with/u);
  expect(await refusal(row({ "Order ID": "x".repeat(256) }))).toBe("Line 3: id must have at most 255 characters.");
  expect(await refusal(row({ "Order Date": "2126-05-04" }))).toMatch(/^Line 3: placedAt must be at most five/u);
  expect(await refusal(row({ "Order Status": "failed", "Order Date": "2126-05-04" }))).toMatch(/^Line 3: placedAt/u);
  expect(await refusal(row({ "Item SKU": "y".repeat(256) }))).toMatch(/^Line 3: sku must have/u);
});

test("net revenue is no total: it is refused, and the message says which exports work", async () => {
  const columns = ["Date", "Order ID", "N. Revenue", "Status"];
  const rows = [{ Date: "2026-05-04 10:00:00", "Order ID": "727", "N. Revenue": "100", Status: "completed" }];
  const message = (name: string) =>
    `Line 1: The column "${name}" lacks tax and shipping, so it is not the total of an order. Use a file with the columns Order ID and ` +
    "Order Total, as plugins of WooCommerce write it, Shopify's export of orders, or the shop's REST list of orders as NDJSON.";
  expect(await refusal(csvOf(columns, rows))).toBe(message("N. Revenue"));
  for (const name of ["N. Revenue (formatted)", "Net sales", "Net Revenue", "net_total"])
    expect(await refusal(csvOf(["Date", "Order ID", name, "Status"], rows))).toBe(message(name));
  const withTotal = csvOf([...columns, "Order Total"], [{ ...rows[0], "Order Total": "119.00" }]);
  const own = await euroStore(app);
  await filesOf(app, own).imported(withTotal);
  expect(await unattributedOf(own)).toMatchObject({ sales: 119 });
});

test("a file without any row is refused, and so is a header that is unclear", async () => {
  const empty = "Line 1: The file has no orders: export them again.";
  for (const content of ["", "\n \n", pluginCsv([]), "\ufeff"]) expect(await refusal(content)).toBe(empty);
  expect(await refusal(pluginCsv([pluginRow("1")], [...pluginColumns, "order total"]))).toBe(
    'Line 1: The file has two columns "Order Total": remove or rename one of them.',
  );
  expect(await refusal('[{"id":"1"}]')).toBe(
    "Line 1: A JSON list cannot be read: write one order on each line, as NDJSON.",
  );
});

test.each([
  ["PK\u0003\u0004\u0014\0\u0006\0\b\0!\0[Content_Types].xml", "an Excel workbook (.xlsx)"],
  ["PK\u0003\u0004\u0014\0orders.csv", "a ZIP archive"],
])("a file that is no text is named, with what to do: %j", async (content, name) => {
  const message = `The file is ${name}, and not CSV or NDJSON: unpack it, or export it as that.`;
  expect(await refusal(content)).toBe(message);
});

test("a row of another width, as a comma without quotes or a file that was cut off makes it, is refused", async () => {
  const good = pluginCsv([pluginRow("1")]);
  expect(await refusal(`${good}2,W-2,2026-05-04 10:00,paid,1,234.50,EUR,0,mug,Mug,1,5.00,note\n`)).toBe(
    "Line 3: The row has 13 cells, and the header 12: export the orders again.",
  );
  expect(await refusal(good.slice(0, good.lastIndexOf("119.00")))).toBe(
    "Line 2: The row has 11 cells, and the header 12: export the orders again.",
  );
  expect(await refusal(`${good}"3,W-3`)).toBe("Line 3: The row cannot be read as CSV: its quotes do not match.");
});

test("an order of more than 500 rows is refused where it exceeds them", async () => {
  const rows = Array.from({ length: 501 }, () => pluginRow("1", { "Item Price": "0.10" }));
  expect(await refusal(pluginCsv(rows))).toBe("Line 502: An order has at most 500 rows.");
});

const missing = (columns: string) =>
  `Line 1: The file is neither an order export of Shopify or WooCommerce nor NDJSON. It lacks columns for: ${columns}.`;
const otherOrders =
  "Line 1: The file has numbers or names of orders, and not their ids, while the store knows orders that did not come from such a " +
  "file. Add the column Id or Order ID, with the id of the shop's system, so that no order counts twice.";
const unknownPart =
  "Line 4: The order is partly refunded, but the file does not say how much: add the column Refunded Amount.";

const shopifyRows = [
  shopifyRow("1001"),
  shopifyRow("1002", { "Financial Status": "partially_refunded", "Refunded Amount": "20.50", "Note Attributes": "" }),
  shopifyLine("1002"),
];
const withoutColumn: Readonly<Record<string, string>> = {
  "Financial Status": missing("Financial Status or Order Status"),
  Total: missing("Total or Order Total"),
  "Created at": missing("Created at or Order Date"),
  "Refunded Amount": unknownPart,
  Id: otherOrders,
  // A line is worth what its price and its quantity say.
  Name: "Line 5: The row has no id, and does not belong to the order above it.",
};

const shirts = { productId: "shirt-m", quantity: 2, amount: 80 };
const scarf = { productId: "Scarf", quantity: 1, amount: 20 };
/** What a column that is not needed leaves out. */
const linesWithout: Readonly<Record<string, object[]>> = {
  "Lineitem quantity": [],
  "Lineitem price": [],
  "Lineitem name": [shirts],
  "Lineitem sku": [{ ...shirts, productId: "Shirt - M" }, scarf],
};

test.each(shopifyColumns)("Shopify's export without %s is refused, or right in all that is left", async (name) => {
  const own = await euroStore(app);
  const columns = shopifyColumns.filter((column) => column !== name);
  const file = shopifyCsv(shopifyRows, columns);
  const files = filesOf(app, own);
  await files.imported(pluginCsv([pluginRow("other", { "Order Date": "2026-01-01 00:00" })]));
  const message = withoutColumn[name];
  if (message !== undefined) {
    expect(await files.refusal(file)).toBe(message);
    expect(await unattributedOf(own)).toMatchObject({ orders: 1, sales: 119 });
    return;
  }
  expect(await files.imported(file)).toMatchObject({ accepted: 2, unpaid: 0 });
  expect(await unattributedOf(own)).toEqual({ orders: 3, sales: 360, refunds: 20.5 });
  const { data } = await own.graphql(`{ order(id: "5555555551002") { lines { productId quantity amount } placedAt } }`);
  expect(data.order).toEqual({
    lines: linesWithout[name] ?? [shirts, scarf],
    placedAt: "2026-05-04T19:00:00.000Z",
  });
});

const pluginWithout: Readonly<Record<string, string>> = {
  "Order ID": otherOrders,
  "Order Date": missing("Created at or Order Date"),
  "Order Status": missing("Financial Status or Order Status"),
  "Order Total": missing("Total or Order Total"),
  "Refunded Total": "",
};

test.each(pluginColumns)(
  "a plugin's export of WooCommerce without %s is refused, or right in all that is left",
  async (name) => {
    const own = await euroStore(app);
    const files = filesOf(app, own);
    await files.imported(pluginCsv([pluginRow("other", { "Order Date": "2026-01-01 00:00" })]));
    const file = pluginCsv(
      [pluginRow("1"), pluginRow("2", { "Order Status": "wc-refunded" })],
      pluginColumns.filter((column) => column !== name),
    );
    const message = pluginWithout[name];
    if (message) {
      expect(await files.refusal(file)).toBe(message);
      return;
    }
    expect(await files.imported(file)).toMatchObject({ accepted: 2, unpaid: 0 });
    expect(await unattributedOf(own)).toEqual({ orders: 3, sales: 357, refunds: 119 });
  },
);
