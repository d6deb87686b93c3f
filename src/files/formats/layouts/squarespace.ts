import type { Layout } from "../layout.js";

export const squarespace: Layout = {
  label: "Squarespace",
  file: "Product CSV",
  remark: `Each variant is stored; rows without a \`Product ID\` and \`Title\` belong to the product above. The sale price is used where
    \`On Sale\` says so. Without a SKU, id and sku are made of the \`Product URL\` and the options.
    \`--url-template 'https://shop.example/{product_page}/p/{product_url}'\` makes URLs.`,
  columns: {
    handle: "product id [non editable]",
    key: "product url",
    title: "title",
    description: "description",
    sku: "sku",
    option: "option value #",
    price: "price",
    salePrice: "sale price",
    onSale: "on sale",
    stock: "stock",
    published: "visible",
    image: "hosted image urls",
    ignored: "option name # | variant id [non editable] | product type [non editable] | product page",
  },
  marks: ["product id [non editable] | variant id [non editable] | product type [non editable] | hosted image urls"],
  rows: "adjacent",
};
