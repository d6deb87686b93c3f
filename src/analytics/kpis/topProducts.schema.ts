import { lookUpProduct } from "../../catalog/product/product.lookup.js";
import { productOfCatalog } from "../../catalog/product/product.schema.js";
import type { StoredProduct } from "../../catalog/product/product.sql.js";
import type { Database } from "../../database/client.js";
import { builder } from "../../schema/builder.js";
import { enumValues } from "../../schema/enumValues.js";
import type { LiveStreamAnalytics } from "./kpis.read.js";
import { shared } from "./shared.js";
import { type ProductFigures, readTopProducts, type TopProducts } from "./timeline.js";

export const ProductCarts = builder.objectRef<ProductFigures>("ProductCarts").implement({
  description: "The figures of a product in a show.",
  fields: (t) => ({
    productId: t.exposeID("productId", { description: "Its reference id, as events name it." }),
    product: t.field({
      ...productOfCatalog,
      resolve: (figures, _, { db, identity }) => productOf(db, identity.storeId, figures),
    }),
    carts: t.exposeInt("carts", { description: "How often it was put into a cart." }),
    orders: t.exposeInt("orders", { description: "Orders that have it." }),
    quantity: t.exposeInt("quantity", { description: "How many were ordered; one for an order without lines." }),
    sales: t.exposeFloat("sales", { description: "Sales of this product, in the currency of the store." }),
  }),
});

export const ProductOrder = builder.enumType("TopProductOrder", {
  description: "Which figure orders the products of a show: the highest first, then by id.",
  values: enumValues<TopProducts["by"]>({
    CARTS: "By how often they were put into a cart.",
    ORDERS: "By the orders that have them.",
    QUANTITY: "By how many were ordered.",
    SALES: "By their sales.",
  }),
});

/** Products of a list of shows: each has the pages of all of them. */
const pagesOf = new WeakMap<ProductFigures, readonly Promise<ProductFigures[]>[]>();

/** Pages are resolved one after the other; those of a list of shows are still read by one statement. */
export async function topProductsOf(
  db: Database,
  analytics: LiveStreamAnalytics,
  page: TopProducts,
): Promise<ProductFigures[]> {
  const key = `products ${page.by} ${page.first}`;
  const read = (show: LiveStreamAnalytics) => shared(show, key, () => readTopProducts(db, show.storeId, show.id, page));
  const { list } = analytics;
  if (list === undefined) return read(analytics);
  const pages = await shared(list, key, async () => list.map(read));
  const products = await read(analytics);
  for (const product of products) pagesOf.set(product, pages);
  return products;
}

/** The size of the largest page of products: they are read with their long texts. */
const productsAtOnceMax = 100;

/** The products of a list of shows are looked up together, where they are not too many. */
async function productOf(db: Database, storeId: string, figures: ProductFigures): Promise<StoredProduct | undefined> {
  const lookUp = (one: ProductFigures) => shared(one, "product", () => lookUpProduct(db, storeId, one.productId));
  const pages = pagesOf.get(figures);
  if (pages === undefined) return lookUp(figures);
  await shared(pages, "products", async () => {
    const products = (await Promise.all(pages)).flat();
    const count = new Set(products.map(({ productId }) => productId)).size;
    if (count <= productsAtOnceMax) for (const product of products) void lookUp(product);
  });
  return lookUp(figures);
}
