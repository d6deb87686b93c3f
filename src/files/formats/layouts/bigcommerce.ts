import type { Layout } from "../layout.js";

export const bigcommerce: Layout = {
  label: "BigCommerce",
  file: "Product CSV, in both versions",
  remark: `Rows of variants (\`Variant\`, \`SKU\`) and images belong to the product above. Variants are stored, or products that have none; rules
    and videos are not. Without a SKU, id and sku are made of those of the product and the options.`,
  columns: {
    kind: "item | item type",
    key: "sku | product code/sku | id | product id",
    sku: "sku | product code/sku",
    title: "name | product name",
    description: "description | product description",
    price: "price",
    salePrice: "sale price",
    published: "is visible | product visible? | allow purchases?",
    tracker: "inventory tracking | track inventory",
    stock: "current stock | current stock level",
    image: `internal image url (export) | image url (import) | product image url # | product image url
      | product image file # | image file`,
    position: "image sort order",
    variantImage: "variant image url",
    option: "options | product name",
    ignored: "image is thumbnail | product image is thumbnail #",
  },
  marks: ["@kind", "product code/sku | options | product name | inventory tracking", "@price | @title | @sku"],
  rows: "adjacent",
  kinds: { product: "product", variant: "variant", sku: "variant", image: "image" },
  words: { tracker: { "": false, none: false, no: false, false: false, "0": false } },
  trackers: { variant: "row", "by option": "row", product: "product", "by product": "product" },
};
