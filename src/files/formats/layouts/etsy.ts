import type { Layout } from "../layout.js";

export const etsy: Layout = {
  label: "Etsy",
  file: "Listings as CSV",
  remark: `Each listing is a product: Etsy's file has no row, price or stock for single variations. Id and sku are the \`SKU\`, or are made of the
    title where there is none or several.`,
  columns: {
    sku: "sku",
    title: "title",
    description: "description",
    price: "price",
    stock: "quantity",
    image: "image# | image # | photo #",
    ignored: "variation # type | variation # name | variation # values",
  },
  marks: ["title", "price", "currency code | variation # type | materials", "image# | photo # | quantity"],
  rows: "single",
  needsStock: true,
  keyOfTitle: true,
};
