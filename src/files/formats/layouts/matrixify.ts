import type { Layout } from "../layout.js";
import { shopify } from "./shopify.js";

const { refused: _, ...products } = shopify;

export const matrixify: Layout = {
  ...products,
  label: "Matrixify",
  file: "Products as CSV",
  remark: `Read as Shopify's. Products whose \`Command\` is DELETE, and variants whose \`Variant Command\` is, are left out, so that the mode
    REPLACE deletes them; other modes delete nothing, and a note counts them. IGNORE is left out too. URLs are those of the column
    \`URL\`.`,
  columns: {
    ...shopify.columns,
    description: "body html | body (html)",
    command: "command",
    variantCommand: "variant command",
    url: "url",
    ignored: "option# name | top row | row # | tags command | image command",
  },
  marks: ["@handle", "command | variant command | row # | top row", "body html | @sku | @price | @image | command"],
};
