import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setStore } from "../../../src/stores/store.js";
import { importOrders } from "../../../src/orders/files/orderImport.js";
import { reconcile } from "../../../src/orders/files/reconcile.js";
import { AppError } from "../../../src/errors.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { folderForTest } from "../folder.js";

/** Columns of Shopify's export of orders: https://help.shopify.com/en/manual/fulfillment/managing-orders/exporting-orders */
export const shopifyColumns = (
  "Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total," +
  "Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price," +
  "Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing Name," +
  "Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance,Employee," +
  "Location,Device ID,Id,Tags,Risk Level,Source"
).split(",");

/** Columns that plugins of WooCommerce write: a row for each line, all of which have what concerns the order. */
export const pluginColumns = (
  "Order ID,Order Number,Order Date,Order Status,Order Total,Order Currency,Refunded Total,Item SKU,Item Name,Quantity,Item Price," +
  "Customer Note"
).split(",");

export type Cells = Readonly<Record<string, string>>;

/** The first row of an order of Shopify. */
export const shopifyRow = (id: string, fields: Cells = {}): Cells => ({
  Name: `#${id}`,
  Email: "zelda@mail.example",
  "Financial Status": "paid",
  "Paid at": "2026-05-04 21:00:01 +0200",
  "Fulfillment Status": "unfulfilled",
  Currency: "EUR",
  Subtotal: "100.00",
  Shipping: "20.50",
  Total: "120.50",
  "Created at": "2026-05-04 21:00:00 +0200",
  "Lineitem quantity": "2",
  "Lineitem name": "Shirt - M",
  "Lineitem price": "40.00",
  "Lineitem sku": "shirt-m",
  "Note Attributes": "gift: no\nvitrine_viewer: v1",
  "Refunded Amount": "0.00",
  Id: id.padStart(13, "5"),
  ...fields,
});

/** A further line of the order. */
export const shopifyLine = (id: string, fields: Cells = {}): Cells => ({
  Name: `#${id}`,
  "Lineitem quantity": "1",
  "Lineitem name": "Scarf",
  "Lineitem price": "20.00",
  ...fields,
});

export const pluginRow = (id: string, fields: Cells = {}): Cells => ({
  "Order ID": id,
  "Order Number": `W-${id}`,
  "Order Date": "2026-05-04 21:00:00",
  "Order Status": "wc-processing",
  "Order Total": "119.00",
  "Order Currency": "EUR",
  "Refunded Total": "0",
  "Item SKU": "mug",
  "Item Name": "Mug",
  Quantity: "1",
  "Item Price": "119.00",
  ...fields,
});

const quoted = (cell: string) => (/[",\n]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export function csvOf(columns: readonly string[], rows: readonly Cells[]): string {
  const lines = rows.map((row) => columns.map((column) => quoted(row[column] ?? "")).join(","));
  return [columns.join(","), ...lines, ""].join("\n");
}

export const shopifyCsv = (rows: readonly Cells[], columns: readonly string[] = shopifyColumns) => csvOf(columns, rows);
export const pluginCsv = (rows: readonly Cells[], columns: readonly string[] = pluginColumns) => csvOf(columns, rows);

async function written(content: string): Promise<string> {
  const path = join(await folderForTest(), "orders.csv");
  await writeFile(path, content);
  return path;
}

export async function euroStore(app: TestApp, settings: { currency?: string; timeZone?: string } = {}) {
  const store = await createTestStore(app);
  await setStore(app.db, store.id, { currency: "EUR", ...settings });
  return store;
}

/** What the commands do with a file. */
export function filesOf(app: TestApp, { id }: TestStore) {
  return {
    imported: async (content: string) => {
      const { changed: _, ...result } = await importOrders(app.db, id, await written(content));
      return result;
    },
    reconciled: async (content: string) => reconcile(app.db, id, await written(content)),
    /** Both commands must refuse the file, and say the same. */
    refusal: async (content: string): Promise<string> => {
      const path = await written(content);
      const [first, second] = [
        await refusalOf(importOrders(app.db, id, path)),
        await refusalOf(reconcile(app.db, id, path)),
      ];
      return first === second ? first : `import: ${first} reconcile: ${second}`;
    },
  };
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    return `was accepted: ${JSON.stringify(await work)}`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.message;
  }
}
