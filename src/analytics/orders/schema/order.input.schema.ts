import { builder } from "../../../schema/builder.js";
import { Channel } from "../../events/events.schema.js";

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

export const OrderInput = builder.inputType("OrderInput", {
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
      description: "What was given back of it, at most 100 refunds, and not more than its amount.",
    }),
    lsId: t.string({ required: false, description: "The show that it counts for by the rule AS_SENT." }),
    channel: t.field({ type: Channel, required: false, description: "Where in that show; AUTO if not given." }),
  }),
});
