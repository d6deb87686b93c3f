import type { SortPosition } from "../../../database/sql/keyset.js";
import { asWideRead } from "../../../database/shares/forStore.js";
import type { ResponseBudget } from "../../../schema/limits/responseBudget.js";
import { builder, enumValues } from "../../../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageArgs, pageSize } from "../../../schema/connections.js";
import { rateLimited } from "../../../schema/limits/rateLimit.js";
import { longTextsCertain, selectsLongTexts } from "../../../schema/selection.js";
import { cursorOfOtherOrder, SortDirection, type SortOrder, sortPosition } from "../../../schema/sortOrder.js";
import { countProducts, idsMax, listProducts, type RequireRoom } from "./product.list.js";
import { isProductSortValue, type OrderedProduct, type ProductOrder as ProductOrderValue } from "./product.sort.js";
import { Product } from "../product.schema.js";
import { charactersMaxOf, isLongField } from "../product.sql.js";

interface ListedProduct extends OrderedProduct {
  /** Undefined in the default order. */
  readonly order?: SortOrder<ProductOrderValue>;
}

/** A cursor has the product's place in the requested order. */
const products = connectionType("Product", Product, ({ order, sortValue, id }: ListedProduct) =>
  order === undefined ? encodeCursor(id) : encodeCursor(order.orderBy, order.direction, sortValue ?? id, id),
);

const ProductOrder = builder.enumType("ProductOrder", {
  description: "What a list of products is ordered by.",
  values: enumValues<ProductOrderValue>({
    ID: "By reference id.",
    TITLE: "By the first 200 characters of the title, ignoring the case of A to Z.",
    PRICE: "By price; products without one come last in either direction.",
    UPDATED_AT: "By the time of the last import.",
  }),
});

const productFilterArgs = builder.args((t) => ({
  search: t.string({
    required: false,
    description: "Words, or beginnings of words, of title or SKU: at most 1,000 characters.",
  }),
  available: t.boolean({
    required: false,
    description: "Only products that can be bought now (true), or that cannot (false).",
  }),
  priceMin: t.float({ required: false, description: "Only products with this price or a higher one." }),
  priceMax: t.float({ required: false, description: "Only products with this price or a lower one." }),
  siteId: t.string({ required: false, description: "Only products of this site or of none." }),
  ids: t.field({
    type: ["ID"],
    required: false,
    description: `Only products with one of these reference ids: at most ${idsMax}; first limits how many are returned. Unknown ids are ignored.`,
  }),
}));

const productOrderArgs = builder.args((t) => ({
  orderBy: t.field({
    type: ProductOrder,
    defaultValue: "ID",
    description: "What the list is ordered by; then by id.",
  }),
  direction: t.field({
    type: SortDirection,
    required: false,
    description: "By default ASC for ID and TITLE, and DESC for others.",
  }),
}));

builder.queryFields((t) => ({
  products: t.field({
    extensions: { scope: "catalog:read" },
    type: products.type,
    nullable: true,
    description:
      "The store's products: by id, unless another order is asked for. Ties are ordered by id, in the same direction; products without a price come last in either direction.",
    args: { ...pageArgs(), ...productFilterArgs, ...productOrderArgs },
    resolve: rateLimited("product", async (_, { first, after, orderBy, direction, ...filter }, context, info) => {
      const { db, identity, limits } = context;
      const { storeId } = identity;
      const texts = {
        withLongTexts: selectsLongTexts(info),
        requireRoom: roomIn(limits.response, longTextsCertain(info)),
      };
      const page = { ...filter, first: pageSize(first), ...texts };
      const isByName = orderBy === "ID" || orderBy === "TITLE";
      const order = { orderBy, direction: direction ?? (isByName ? "ASC" : "DESC") };
      const found = await listProducts(db, storeId, { ...page, ...order, after: positionOf(after, order) });
      const list = isDefault(order) ? found : { ...found, nodes: found.nodes.map((node) => ({ ...node, order })) };
      const count = (max: number) => asWideRead(db, storeId, () => countProducts(db, storeId, filter, max));
      return products.connect(list, after, count);
    }),
  }),
}));

/** If possible, refuses a page with too many long texts for the response before reading them. */
function roomIn(budget: ResponseBudget, selected: readonly string[]): RequireRoom {
  const fields = selected.filter(isLongField);
  const charactersMax = fields.reduce((sum, field) => sum + charactersMaxOf(field), 0);
  return async (first, sizes) => {
    if (budget.hasRoomForPagesOf(first * charactersMax)) return;
    const sized = await sizes(fields);
    await budget.reserve(sized.reduce((sum, { bytes }) => sum + bytes, 0));
  };
}

/** A cursor of the default order has only the id. */
function positionOf(after: string | null | undefined, order: SortOrder<ProductOrderValue>): SortPosition | undefined {
  if (!isDefault(order)) return sortPosition(after, order, isProductSortValue(order.orderBy));
  const [id, ...others] = decodeCursor(after, 1, 4) ?? [];
  if (others.length > 0) throw cursorOfOtherOrder();
  return id === undefined ? undefined : { id, value: "" };
}

function isDefault({ orderBy, direction }: SortOrder<ProductOrderValue>): boolean {
  return orderBy === "ID" && direction === "ASC";
}
