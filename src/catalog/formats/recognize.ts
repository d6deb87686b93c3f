import { cellsOf, type Delimiter, delimiters } from "../csv/cells.js";
import { productFieldNames, productFields } from "../product.input.js";
import { lowerCase } from "./finish.js";
import type { Layout } from "./layout.js";
import { google } from "./layouts/google.js";
import { magento } from "./layouts/magento.js";
import { shopify } from "./layouts/shopify.js";
import { woocommerce } from "./layouts/woocommerce.js";
import type { FormatName } from "./options.js";

export const layouts = { shopify, woocommerce, magento, google } as const satisfies Partial<
  Record<Exclude<FormatName, "auto" | "vitrine">, Layout>
>;

export interface Recognized {
  readonly format: "vitrine" | keyof typeof layouts;
  readonly delimiter: Delimiter;
  readonly header: readonly string[];
}

const required = productFieldNames.filter((name) => productFields[name].required);

/** The format of a header; Vitrine's own where no other is recognized. */
export function recognize(record: string, wanted: FormatName, delimiter: Delimiter | undefined): Recognized {
  const headers = (delimiter === undefined ? delimiters : [delimiter])
    .map((each) => ({ delimiter: each, header: cellsOf(record, each) ?? [] }))
    .toSorted((a, b) => b.header.length - a.header.length);
  for (const read of wanted === "auto" ? headers : []) {
    const format = formatOf(read.header);
    if (format !== undefined) return { format, ...read };
  }
  const [most = { delimiter: ",", header: [] }] = headers;
  return { format: wanted === "auto" ? "vitrine" : wanted, ...most };
}

function formatOf(header: readonly string[]): Recognized["format"] | undefined {
  const own = new Set(header.map(lowerCase));
  if (required.every((name) => own.has(name))) return "vitrine";
  const names = Object.keys(layouts) as (keyof typeof layouts)[];
  return names.find((name) => {
    const layout: Layout = layouts[name];
    return layout.isIn(new Set(header.map(layout.nameOf ?? lowerCase)));
  });
}
