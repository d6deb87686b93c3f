import type { CsvRecord } from "../../files/csv/records.js";
import { shownValue } from "../../lib/mustBe.js";
import { isViewerName } from "../hooks/payload.js";
import { faultAt } from "./orderLines.js";

/**
 * The columns of an order export by the names of their headers: only letters and digits, in lower case. If a file has several names of a
 * column, the first one here counts.
 */
const orderColumns = {
  id: ["orderid", "id"],
  /** What customers see. Not an id, because shops may change it and hooks do not use it. */
  number: ["ordernumber", "order", "ordernr", "orderno", "ordername", "name"],
  placedAt: ["createdat", "orderdate", "datecreated", "date"],
  amount: ["ordertotal", "ordertotalamount", "total"],
  currency: ["currency", "ordercurrency"],
  status: ["financialstatus", "orderstatus", "status"],
  cancelledAt: ["cancelledat"],
  refunded: ["refundedamount", "orderrefundamount", "refundedtotal", "refunded"],
  notes: ["noteattributes", "customernote"],
  viewer: ["vitrineviewer", "metavitrineviewer"],
  /** The viewer in a shop that has changed its checkout. */
  otherViewer: [],
  sku: ["lineitemsku", "sku", "itemsku", "productsku"],
  variant: ["lineitemvariantid", "variationid", "itemvariationid", "variantid"],
  product: ["lineitemproductid", "productid", "itemproductid"],
  lineName: ["lineitemname", "itemname", "productname"],
  quantity: ["lineitemquantity", "quantity", "itemquantity", "qty"],
  price: ["lineitemprice", "itemcost", "itemprice"],
} as const;

export type OrderColumn = keyof typeof orderColumns;

export interface OrderColumns {
  readonly at: Readonly<Partial<Record<OrderColumn, number>>>;
  /** As in the header. */
  readonly names: Readonly<Partial<Record<OrderColumn, string>>>;
  /** The number of cells that each row must have. */
  readonly width: number;
  /** Columns with times in UTC if they have no zone, according to their names. */
  readonly utc: ReadonlySet<OrderColumn>;
}

const utcNames = /gmt|utc/u;
/** Names of columns with the net amount of an order, without tax and shipping. */
const netNames = /^(?:n|net)(?:revenue|sales?|total|amount|payments?)/u;

/** @throws {AppError} VALIDATION_FAILED for a header that lacks a needed column, or is ambiguous */
export function columnsOf(header: readonly string[], { line }: Pick<CsvRecord, "line">): OrderColumns {
  const names = header.map((name) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ""));
  const at: Partial<Record<OrderColumn, number>> = {};
  const utc = new Set<OrderColumn>();
  for (const [column, aliases] of Object.entries(orderColumns) as [OrderColumn, readonly string[]][]) {
    const index = indexOf(names, aliases, column, header);
    const name = names[index];
    if (name === undefined) continue;
    if (names.lastIndexOf(name) !== index)
      throw faultAt(line, `The file has two columns ${shownValue(header[index])}: remove or rename one of them.`);
    at[column] = index;
    if (utcNames.test(name)) utc.add(column);
  }
  requireColumns(at, header, names, line);
  const own = withValuedLines(at);
  const shownNames = Object.fromEntries(Object.entries(own).map(([column, index]) => [column, header[index]]));
  return { at: own, names: shownNames, width: Math.max(...Object.values(own)) + 1, utc };
}

/** -1 if there is none. */
function indexOf(names: readonly string[], aliases: readonly string[], column: OrderColumn, header: readonly string[]) {
  const first = firstOf(names, aliases, column, header);
  return first === -1 ? names.indexOf(aliases.find((alias) => names.includes(alias)) ?? "-") : first;
}

/** A column that takes precedence over other names, or -1. */
function firstOf(names: readonly string[], aliases: readonly string[], column: OrderColumn, header: readonly string[]) {
  switch (column) {
    case "viewer":
      return header.findIndex(isViewerColumn);
    case "otherViewer":
      return header.findLastIndex(isViewerColumn);
    case "placedAt":
    case "cancelledAt":
      // Times in UTC are never ambiguous.
      return names.findIndex((name) => utcNames.test(name) && aliases.includes(name.replace(utcNames, "")));
    default:
      return -1;
  }
}

/** Whether exports name a meta value's column like this: `Meta: _wc_other/shop/vitrine_viewer`. */
function isViewerColumn(name: string): boolean {
  return isViewerName(name.split(":").at(-1) ?? "");
}

const needed = {
  id: "Id or Order ID",
  placedAt: "Created at or Order Date",
  amount: "Total or Order Total",
  status: "Financial Status or Order Status",
} as const;

function requireColumns(
  at: Partial<Record<OrderColumn, number>>,
  header: readonly string[],
  names: readonly string[],
  line: number,
): void {
  const net = names.findIndex((name) => netNames.test(name));
  if (at.amount === undefined && net !== -1) throw faultAt(line, netMessage(header[net]));
  const known = { ...at, ...(at.number !== undefined && { id: at.number }), ...(at.id !== undefined && { id: at.id }) };
  const missing = (Object.keys(needed) as (keyof typeof needed)[]).filter((name) => known[name] === undefined);
  if (missing.length === 0) return;
  const columns = missing.map((name) => needed[name]).join("; ");
  throw faultAt(
    line,
    `The file is neither an order export of Shopify or WooCommerce nor NDJSON. It lacks columns for: ${columns}.`,
  );
}

function netMessage(name: string | undefined): string {
  return (
    `The column ${shownValue(name)} lacks tax and shipping, so it is not the total of an order. Use a file with the columns Order ID and ` +
    "Order Total, as plugins of WooCommerce write it, Shopify's export of orders, or the shop's REST list of orders as NDJSON."
  );
}

const ofLines: ReadonlySet<string> = new Set(["sku", "variant", "product", "lineName", "price", "quantity"]);

/** Without prices and quantities, the worth of lines is unknown, so the order counts without lines. */
function withValuedLines(at: Partial<Record<OrderColumn, number>>): Partial<Record<OrderColumn, number>> {
  if (at.price !== undefined && at.quantity !== undefined) return at;
  return Object.fromEntries(Object.entries(at).filter(([name]) => !ofLines.has(name)));
}
