import { errorAt } from "../../../errors.js";
import { parseDateTime } from "../../../lib/dateTime.js";
import { builder } from "../../../schema/builder.js";
import { connectionType, decodeCursor, encodeCursor, pageArgs, pageSize } from "../../../schema/connections.js";
import { checkOpenRange } from "../../insights/storeRange.js";
import { statesOf } from "../order.input.js";
import { countOrders, findOrder, listOrders, type Order, type OrderPosition } from "../order.read.js";
import { OrderInput } from "./order.input.schema.js";
import { OrderRef } from "./order.schema.js";
import { type OrderReceipt, recordNews } from "../order.record.js";

const OrderReceiptRef = builder.objectRef<OrderReceipt>("OrderReceipt").implement({
  description: "The result of recording orders.",
  fields: (t) => ({
    accepted: t.exposeInt("accepted", { description: "Orders that are new, or of which something is new." }),
    duplicates: t.exposeInt("duplicates", { description: "Orders of which everything was known." }),
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
    description: "An order of the shop: what was paid and given back, and where it counts and why.",
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
      isAttributed: t.arg.boolean({ required: false, description: "Only orders that count for a show, or for none." }),
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
