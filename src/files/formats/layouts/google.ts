import type { Layout } from "../layout.js";

export const google: Layout = {
  label: "Google",
  file: "Merchant feed, also of Meta: tabs, CSV or XML",
  remark: `Columns separated by tabs or commas, or XML (RSS or Atom), recognized by its first character. Each item is a product: its sku is the
    \`id\`, or the \`mpn\` if every item has its own. Items on preorder and backorder are available. Comments above the header
    (\`# Required | …\`), as in Meta's template, are skipped.`,
  columns: {
    id: "id",
    secondSku: "mpn",
    title: "title | structured title",
    description: "description | structured description | summary | content",
    url: "link",
    image: "image link",
    moreImages: "additional image link",
    price: "price",
    salePrice: "sale price",
    saleDates: "sale price effective date",
    inStock: "availability",
  },
  marks: ["id", "title | structured title", "link | image link"],
  rows: "single",
  needsStock: true,
};
