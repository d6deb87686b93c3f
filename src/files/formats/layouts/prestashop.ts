import type { Layout } from "../layout.js";

export const prestashop: Layout = {
  label: "PrestaShop",
  file: "List of products, or file of the CSV import",
  remark: `The id is the \`Product ID\`, the sku the \`Reference\`; each is the other where there is none. The price with tax is stored, or that
    without tax where the file has no other, which a note says. Products that are inactive or not available for order are not available.
    \`--url-template 'https://shop.example/index.php?controller=product&id_product={id}'\` makes URLs that PrestaShop redirects.`,
  columns: {
    id: "product id | id",
    sku: "reference # | reference #* | reference",
    title: "name * | name",
    description: "description | summary | short description",
    price: `price (tax incl.) | price tax included | final price | price (tax excl.) | price tax excluded
      | price tax excluded or price tax included`,
    discount: "discount amount",
    discountPercent: "discount percent",
    saleStart: "discount from (yyyy mm dd)",
    saleEnd: "discount to (yyyy mm dd)",
    published: "active (0/1) | active | status | available for order*",
    stock: "quantity",
    policy: "out of stock action | out of stock",
    image: "image url* | images url* | image",
    ignored: "on sale (0/1)",
  },
  marks: [
    "product id | id | @sku",
    `price (tax excl.) | price (tax incl.) | price tax excluded | price tax included | active (0/1)
      | price tax excluded or price tax included | available for order*`,
  ],
  rows: "single",
  words: { policy: { "2": false } },
  untaxed: "price (tax excl.) | price tax excluded",
};
