import type { Layout } from "../layout.js";

/** Names of columns in exports until 2024, and since. */
export const shopify: Layout = {
  label: "Shopify",
  file: "Product CSV",
  remark: `All rows of a \`Handle\` are one product; its variants are stored. The id and the sku are the variant's SKU, or the handle and the
    values of its options (\`mug-Red-Large\`). A variant is available if its product is published and active, and its stock is not
    tracked, is not used up, or may be oversold. The first image is that of the variant where it has one.`,
  columns: {
    handle: "handle | url handle",
    title: "title",
    description: "body (html) | description",
    published: "published | published on online store | status",
    sku: "variant sku | sku",
    price: "variant price | price",
    tracker: "variant inventory tracker | inventory tracker",
    stock: "variant inventory qty | inventory quantity",
    policy: "variant inventory policy | continue selling when out of stock",
    image: "image src | product image url",
    position: "image position",
    variantImage: "variant image | variant image url",
    option: "option# value",
    ignored: "option# name | option# linked to",
  },
  marks: ["@handle", "body (html) | @sku | @price | @option | @stock"],
  rows: "adjacent",
  words: { tracker: { "": false } },
  refused: {
    name: "inventory export",
    marks: [
      "@handle | sku",
      "location",
      "on hand | on hand (current) | on hand (new) | available | available (not editable) | committed",
    ],
  },
};
