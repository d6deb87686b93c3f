import { lookUpProduct } from "../../catalog/product/product.lookup.js";
import { Product, productOfCatalog } from "../../catalog/product/product.schema.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { errorAt } from "../../errors.js";
import { builder, enumValues } from "../../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageArgs, pageSize } from "../../schema/connections.js";
import { rateLimitedByRoot } from "../../schema/limits/rateLimit.js";
import { sharedRead } from "../../schema/limits/sharedReads.js";
import {
  countProductPerformance,
  type ListedPerformance,
  listProductPerformance,
  lookUpPerformance,
  type PerformancePosition,
  type ProductPerformance as ProductPerformanceValue,
  type ProductPerformanceOrder as ProductPerformanceOrderValue,
} from "./productPerformance.js";
import { checkOpenRange } from "../../lib/dateRange.js";
import { checkRange } from "./storeRange.js";

const productsFirst = 10;

const ProductPerformanceOrder = builder.enumType("ProductPerformanceOrder", {
  description: "Which figure orders products: the highest first, then by id.",
  values: enumValues<ProductPerformanceOrderValue>({
    SALES: "By their sales.",
    ORDERS: "By the orders that contain them.",
    QUANTITY: "By how many were ordered.",
    CARTS: "By how often they were put into a cart.",
    SHOWS: "By the number of shows in which they had carts, orders or refunds.",
  }),
});

const ProductPerformance = builder.objectRef<ProductPerformanceValue>("ProductPerformance").implement({
  description: "The performance of a product in a time range, over all shows.",
  fields: (t) => ({
    productId: t.exposeID("productId", { description: "Its reference id, as events name it." }),
    product: t.field({
      ...productOfCatalog,
      resolve: async ({ productId }, _, { db, identity }) => lookUpProduct(db, identity.storeId, productId),
    }),
    carts: t.exposeInt("carts", { description: "How often it was put into a cart." }),
    orders: t.exposeInt("orders", { description: "Orders that contain it." }),
    quantity: t.exposeInt("quantity", { description: "How many were ordered; one for an order without lines." }),
    sales: t.exposeFloat("sales", {
      description: "Sales of this product, in the currency of the store; refunds do not change them.",
    }),
    refunds: t.exposeFloat("refunds", {
      description: "Refunds of this product that were made in this time, in the currency of the store.",
    }),
    shows: t.exposeInt("shows", { description: "Shows in which any of this happened." }),
  }),
});

const connection = connectionType(
  "ProductPerformance",
  ProductPerformance,
  ({ orderBy, figure, productId }: ListedPerformance) => encodeCursor(orderBy, figure, productId),
);

builder.queryFields((t) => ({
  productPerformance: t.field({
    extensions: { scope: "analytics:read" },
    type: connection.type,
    nullable: true,
    description:
      "The products with carts, orders or refunds in a time range, to the quarter of an hour: highest first, then by id. One analytics read; equal ones within ten seconds count once.",
    args: {
      from: t.arg({ type: "DateTime", description: "The beginning of the range, to the quarter of an hour." }),
      until: t.arg({ type: "DateTime", description: "Exclusive; at most 5 years after from." }),
      ...pageArgs(productsFirst),
      orderBy: t.arg({ type: ProductPerformanceOrder, defaultValue: "SALES", description: "Which figure." }),
    },
    resolve: sharedRead("analytics", async (_, { from, until, first, after, orderBy }, { db, identity }) => {
      const { storeId } = identity;
      const range = checkRange(from, until, "UTC");
      const page = { first: pageSize(first, productsFirst), after: positionOf(after, orderBy), orderBy };
      const list = await asWideRead(db, storeId, () => listProductPerformance(db, storeId, range, page));
      const count = (max: number) => asWideRead(db, storeId, () => countProductPerformance(db, storeId, range, max));
      return connection.connect(list, after, count);
    }),
  }),
}));

builder.objectField(Product, "performance", (t) =>
  t.field({
    extensions: { scope: "analytics:read", cost: 10 },
    type: ProductPerformance,
    nullable: true,
    description:
      "Its performance in shows. That of a page of products counts as one analytics read; null over the limit.",
    args: {
      from: t.arg({ type: "DateTime", required: false, description: "The beginning of all shows if left out." }),
      until: t.arg({
        type: "DateTime",
        required: false,
        description: "Exclusive; no end if left out.",
      }),
    },
    resolve: rateLimitedByRoot("analytics", ({ id }, { from, until }, { db, identity }) =>
      lookUpPerformance(db, identity.storeId, id, checkOpenRange(from, until)),
    ),
  }),
);

const decimal = /^-?\d{1,60}(\.\d{1,100})?$/u;

function positionOf(after: string | null | undefined, orderBy: string): PerformancePosition | undefined {
  const [order, figure, productId] = decodeCursor(after, 3) ?? [];
  if (order === undefined || figure === undefined || productId === undefined) return undefined;
  if (order === orderBy && decimal.test(figure)) return { figure, productId };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list in the same order.", ["after"]);
}
