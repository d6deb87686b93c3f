import type { Layout } from "../layout.js";

export const wix: Layout = {
  label: "Wix",
  file: "Product CSV of Wix Stores, in both versions",
  remark: `Variants are stored, or products that have none. A variant's price is its own, or that of its product and the surcharge; discounts
    are applied. Names of images are resolved at Wix' media host. Without a SKU, id and sku are made of the handle and the options.`,
  columns: {
    handle: "handleid | handle",
    kind: "fieldtype",
    title: "name",
    description: "description | plaindescription",
    image: "productimageurl | media | mediaurl",
    sku: "sku",
    price: "price",
    surcharge: "surcharge",
    discountMode: "discountmode",
    discount: "discountvalue",
    published: "visible",
    inStock: "inventory",
    option: "productoptiondescription# | productoptionchoices#",
    ignored: "productoptionname# | productoptiontype# | strikethroughprice",
  },
  marks: ["@handle", "@kind"],
  rows: "adjacent",
  kinds: { product: "product", variant: "variant", media: "image" },
  imageBase: "https://static.wixstatic.com/media/",
};
