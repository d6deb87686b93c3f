import type { Layout } from "../layout.js";

export const ecwid: Layout = {
  label: "Ecwid",
  file: "Catalog as CSV",
  remark: `Variations are stored, or products that have none; rows of options are not. Without a SKU of its own, a variation's id and sku are
    made of the SKU of its product and the values of its options.`,
  columns: {
    handle: "product internal id",
    key: "product sku | product internal id",
    kind: "type",
    sku: "product variation sku",
    title: "product name",
    description: "product description",
    price: "product variation price | product price",
    published: "product is available",
    tracker: "product is inventory tracked",
    stock: "product quantity",
    policy: "product quantity out of stock behaviour",
    image: "product media main image url | product media gallery image url #",
    variantImage: "product variation image url",
    option: "product variation option *",
    ignored: "product compare to price | product option name | product option value | product option type",
  },
  marks: ["@kind", "@title", "product internal id | product sku", "@price | @published"],
  rows: "adjacent",
  kinds: { product_variation: "variant", product_option: "unsold", product: "product" },
  words: { tracker: { false: false, "": false }, policy: { show: false, hide: false, allow_preorder: true } },
};
