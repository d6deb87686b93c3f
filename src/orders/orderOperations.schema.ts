import { errorAt } from "../errors.js";
import { parseDateTime } from "../lib/dateTime.js";
import { builder } from "../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageArgs, pageSize } from "../schema/connections.js";
import { checkOpenRange } from "../lib/dateRange.js";
import { statesOf } from "./state/order.input.js";
import { countOrders, findOrder, listOrders, type Order, type OrderPosition } from "./state/order.read.js";
import { OrderRef } from "./orderType.schema.js";
import { type OrderReceipt, recordNews } from "./state/order.record.js";
import { Channel } from "../events/events.schema.js";

const OrderInputLine = builder.inputType("OrderInputLine", {
  description: "A product of an order. It needs a productId or a sku.",
  fields: (t) => ({
    productId: t.string({ required: false, description: "Its reference id." }),
    sku: t.string({ required: false, description: "Its sku, by which the catalog gives the reference id." }),
    quantity: t.int({ description: "1 to 1,000,000." }),
    amount: t.float({ description: "For all of them together, in the currency of the store: 0 to 1,000,000,000." }),
  }),
});

const OrderInputRefund = builder.inputType("OrderInputRefund", {
  description: "A refund of an order.",
  fields: (t) => ({
    id: t.string({ required: false, description: "Unique within the order; by its position if not given." }),
    at: t.field({ type: "DateTime", required: false, description: "When; the time of the order if not given." }),
    amount: t.float({ description: "In the currency of the store: 0 to 1,000,000,000." }),
    lines: t.field({ type: [OrderInputLine], required: false, description: "Its products." }),
  }),
});

const OrderInput = builder.inputType("OrderInput", {
  description: "An order of the shop, as it is now. The same id again is the order's newer state.",
  fields: (t) => ({
    id: t.string({ description: "Unique within the store: at most 255 characters." }),
    placedAt: t.field({ type: "DateTime", description: "When it was placed: at most five minutes from now." }),
    amount: t.float({ description: "Before refunds, in the currency of the store: 0 to 1,000,000,000." }),
    currency: t.string({ required: false, description: "ISO 4217. Must be the currency of the store." }),
    viewerId: t.string({ required: false, description: "The viewer who placed it, as the shop's events name them." }),
    lines: t.field({ type: [OrderInputLine], required: false, description: "Its products, at most 500." }),
    refunds: t.field({
      type: [OrderInputRefund],
      required: false,
      description: "Its refunds, at most 100, and together not more than its amount.",
    }),
    lsId: t.string({ required: false, description: "The show that it counts for by the rule AS_SENT." }),
    channel: t.field({ type: Channel, required: false, description: "The channel of that show; AUTO by default." }),
  }),
});

const OrderReceiptRef = builder.objectRef<OrderReceipt>("OrderReceipt").implement({
  description: "The result of recording orders.",
  fields: (t) => ({
    accepted: t.exposeInt("accepted", { description: "Orders that are new or changed." }),
    duplicates: t.exposeInt("duplicates", { description: "Orders that were already known as they were sent." }),
  }),
});

const orders = connectionType("Order", OrderRef, ({ placedAt, id }: Order) => encodeCursor(placedAt.toISOString(), id));

builder.mutationFields((t) => ({
  recordOrders: t.field({
    extensions: { scope: "events:write" },
    type: OrderReceiptRef,
    nullable: true,
    description: "Records up to 2,000 orders of the shop, or newer states of them: all of them, or none.",
    args: { orders: t.arg({ type: [OrderInput], description: "In any order." }) },
    resolve: async (_, { orders: sent }, { db, identity: { storeId }, feed }) => {
      const { changed, ...receipt } = await recordNews(db, storeId, await statesOf(db, storeId, sent));
      for (const lsId of changed) feed.changed(storeId, lsId);
      return receipt;
    },
  }),
}));

builder.queryFields((t) => ({
  order: t.field({
    extensions: { scope: "analytics:read" },
    type: OrderRef,
    nullable: true,
    description: "An order of the shop: what was paid and refunded, and for which shows it counts and why.",
    args: { id: t.arg.string({ description: "As the shop names it." }) },
    resolve: (_, { id }, { db, identity }) => findOrder(db, identity.storeId, id),
  }),
  orders: t.field({
    extensions: { scope: "analytics:read" },
    type: orders.type,
    nullable: true,
    description: "The orders of the shop that were paid, the latest first.",
    args: {
      ...pageArgs(),
      from: t.arg({ type: "DateTime", required: false, description: "Only orders placed at or after it." }),
      until: t.arg({ type: "DateTime", required: false, description: "Only orders placed before it." }),
      lsId: t.arg.string({ required: false, description: "Only orders that count for this show." }),
      isAttributed: t.arg.boolean({
        required: false,
        description: "Only orders that count for a show (true), or for none (false).",
      }),
    },
    resolve: async (_, { first, after, from, until, lsId, isAttributed }, { db, identity: { storeId } }) => {
      const filter = { ...checkOpenRange(from, until), lsId, isAttributed };
      const page = await listOrders(db, storeId, { ...filter, first: pageSize(first), after: positionOf(after) });
      return orders.connect(page, after, (max) => countOrders(db, storeId, filter, max));
    },
  }),
}));

function positionOf(after: string | null | undefined): OrderPosition | undefined {
  const [time, id] = decodeCursor(after, 2) ?? [];
  if (time === undefined || id === undefined) return undefined;
  const placedAt = parseDateTime(time);
  if (placedAt !== undefined) return { placedAt, id };
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}
