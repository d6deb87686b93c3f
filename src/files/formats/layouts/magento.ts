import type { Layout } from "../layout.js";

export const magento: Layout = {
  label: "Magento",
  file: "Product CSV of Magento 2",
  remark: `Simple, virtual, downloadable and bundle products are stored. Configurable and grouped ones are not, but give their simple
    products what those lack, such as a description or a URL key. Rows of a store view are left out.
    \`--url-template 'https://shop.example/{url_key|sku}.html'\` is the usual template; relative images are resolved at its host.`,
  columns: {
    sku: "sku",
    kind: "product type | type",
    view: "store view code",
    title: "name",
    description: "description | short description",
    price: "price",
    salePrice: "special price",
    saleStart: "special price from date | special from date",
    saleEnd: "special price to date | special to date",
    published: "product online | status",
    inStock: "is in stock",
    stock: "qty",
    tracker: "manage stock",
    policy: "allow backorders",
    image: "base image | image",
    moreImages: "additional images",
    key: "url key",
    visibility: "visibility",
    configured: "configurable variations",
    grouped: "associated skus | associated sku",
  },
  marks: [
    "sku",
    "name | price",
    "product type | attribute set code | attribute set | store view code | url key | is in stock | product online",
  ],
  rows: "parents",
  kinds: { configurable: "parent", grouped: "parent", "": "product" },
  words: { published: { "2": false }, tracker: { "0": false, no: false, false: false } },
  imagePaths: true,
  parentNote: "configurable and grouped products are not stored: the simple products in them are.",
};
