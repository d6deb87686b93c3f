import { cellsOf, type Delimiter, delimiters } from "../csv/records.js";
import { productFieldNames, productFields } from "../product/product.fields.js";
import { columnName, hasMarks, type Layout } from "./layout.js";
import { bigcommerce } from "./layouts/bigcommerce.js";
import { ecwid } from "./layouts/ecwid.js";
import { etsy } from "./layouts/etsy.js";
import { google } from "./layouts/google.js";
import { magento } from "./layouts/magento.js";
import { matrixify } from "./layouts/matrixify.js";
import { prestashop } from "./layouts/prestashop.js";
import { shopify } from "./layouts/shopify.js";
import { squarespace } from "./layouts/squarespace.js";
import { wix } from "./layouts/wix.js";
import { woocommerce } from "./layouts/woocommerce.js";
import type { FormatName } from "./options.js";

type LayoutName = Exclude<FormatName, "auto" | "vitrine">;

/** In the order in which they are tried: layouts with unique columns come first. */
export const layouts: Readonly<Record<LayoutName, Layout>> = {
  matrixify,
  shopify,
  squarespace,
  wix,
  bigcommerce,
  ecwid,
  woocommerce,
  magento,
  prestashop,
  etsy,
  google,
};

export interface Recognized {
  readonly format: "vitrine" | LayoutName;
  readonly delimiter: Delimiter;
  /** As in the file. */
  readonly header: readonly string[];
}

const required = productFieldNames.filter((name) => productFields[name].required);

/** The format of a header; Vitrine's own if no other is recognized. */
export async function recognize(
  record: string,
  wanted: FormatName,
  delimiter: Delimiter | undefined,
): Promise<Recognized> {
  const read = (delimiter === undefined ? delimiters : [delimiter]).map(async (each) => ({
    delimiter: each,
    header: (await cellsOf(record, each)) ?? [],
  }));
  const headers = (await Promise.all(read)).toSorted((a, b) => b.header.length - a.header.length);
  for (const found of wanted === "auto" ? headers : []) {
    const format = formatOf(found.header);
    if (format !== undefined) return { format, ...found };
  }
  const [most = { delimiter: ",", header: [] }] = headers;
  return { format: wanted === "auto" ? "vitrine" : wanted, ...most };
}

function formatOf(header: readonly string[]): Recognized["format"] | undefined {
  const own = new Set(header.map((cell) => cell.trim().toLowerCase()));
  if (required.every((name) => own.has(name))) return "vitrine";
  const names = [...new Set(header.map(columnName))];
  return (Object.keys(layouts) as LayoutName[]).find((name) => isIn(layouts[name], names));
}

function isIn(layout: Layout, names: readonly string[]): boolean {
  return hasMarks(layout.marks, layout, names) || isRefused(layout, names);
}

/** Whether a header belongs to the system's file without prices. */
export function isRefused(layout: Layout, names: readonly string[]): boolean {
  const { refused, columns } = layout;
  return (
    refused !== undefined && hasMarks(refused.marks, layout, names) && !hasMarks([columns.price ?? ""], layout, names)
  );
}
