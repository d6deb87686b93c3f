import { builder, enumValues } from "../schema/builder.js";
import { Channel } from "../events/events.schema.js";
import type { AttributionRule as AttributionRuleValue } from "../database/codes.js";
import type { Order, OrderAttribution } from "./state/order.read.js";
import type { OrderLine } from "./state/order.state.js";

export const AttributionRule = builder.enumType("AttributionRule", {
  description: "Which show an order counts for.",
  values: enumValues<AttributionRuleValue>({
    AS_SENT: "The show and the channel that its sender named, else none.",
    LAST_SHOW: "The last show that its viewer watched, for 3 seconds at least, within the window before it.",
    CART: "By line: the last show in which its viewer put that product into the cart within the window before it.",
  }),
});

const OrderLineRef = builder.objectRef<OrderLine>("OrderLine").implement({
  description: "A product of an order.",
  fields: (t) => ({
    productId: t.exposeID("productId", {
      description: "Its reference id, or its sku if the catalog does not have it.",
    }),
    quantity: t.exposeInt("quantity", { description: "How many of it." }),
    amount: t.exposeFloat("amount", { description: "For all of them together, in the currency of the store." }),
  }),
});

const OrderRefundRef = builder.objectRef<Order["refunds"][number]>("OrderRefund").implement({
  description: "A refund of an order. A reduction or a cancellation of the order is one too.",
  fields: (t) => ({
    at: t.field({ type: "DateTime", description: "When.", resolve: ({ at }) => at }),
    amount: t.exposeFloat("amount", { description: "In the currency of the store." }),
    lines: t.field({
      type: [OrderLineRef],
      description: "Its products, where they are known.",
      extensions: { itemsExpected: 3 },
      resolve: ({ lines }) => lines,
    }),
  }),
});

export const AttributedShow = builder
  .objectRef<{ readonly id: string; readonly name: string }>("AttributedShow")
  .implement({
    description: "A show for which an order counts.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The id of the show." }),
      name: t.exposeString("name", { description: "The name of the show." }),
    }),
  });

const EvidenceKind = builder.enumType("AttributionEvidenceKind", {
  description: "What a viewer did before an order.",
  values: enumValues<"VIEW" | "ADD_TO_CART">({
    VIEW: "Watched the show.",
    ADD_TO_CART: "Put a product into the cart.",
  }),
});

const EvidenceRef = builder.objectRef<NonNullable<OrderAttribution["evidence"]>>("AttributionEvidence").implement({
  description: "The event by which an order is attributed.",
  fields: (t) => ({
    kind: t.field({ type: EvidenceKind, description: "What the viewer did.", resolve: ({ kind }) => kind }),
    at: t.field({ type: "DateTime", description: "When they last did so before the order.", resolve: ({ at }) => at }),
    seconds: t.exposeFloat("seconds", {
      nullable: true,
      description: "How long they watched the show within the window, in seconds; null for a cart.",
    }),
    productId: t.exposeID("productId", {
      nullable: true,
      description: "The product that they put into the cart; null for a VIEW.",
    }),
  }),
});

const OrderAttributionRef = builder.objectRef<OrderAttribution>("OrderAttribution").implement({
  description: "The part of an order that counts for one show, or for none, and why.",
  fields: (t) => ({
    show: t.field({
      type: AttributedShow,
      nullable: true,
      description: "Null for a part that counts for no show.",
      resolve: ({ show }) => show,
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: "The channel of the show; null without a show.",
      resolve: ({ channel }) => channel,
    }),
    amount: t.exposeFloat("amount", { description: "Before refunds, in the currency of the store." }),
    refunded: t.exposeFloat("refunded", { description: "How much of it was refunded." }),
    rule: t.field({ type: AttributionRule, description: "The rule that decided.", resolve: ({ rule }) => rule }),
    because: t.exposeString("because", { description: "The reason, in a sentence for people." }),
    evidence: t.field({
      type: EvidenceRef,
      nullable: true,
      description: "What the viewer did; null if that is not why it counts.",
      resolve: ({ evidence }) => evidence,
    }),
  }),
});

export const OrderRef = builder.objectRef<Order>("Order").implement({
  description: "An order of the shop that was paid.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "As the shop names it." }),
    placedAt: t.field({ type: "DateTime", description: "When it was placed.", resolve: ({ placedAt }) => placedAt }),
    amount: t.exposeFloat("amount", { description: "The most that was ever paid, in the currency of the store." }),
    refunded: t.exposeFloat("refunded", { description: "The sum of its refunds." }),
    viewerId: t.id({
      nullable: true,
      description: "The viewer who placed it; null if unknown, or without the scope events:write.",
      resolve: ({ viewerId }, _args, { identity }) => (identity.scopes.has("events:write") ? viewerId : null),
    }),
    isAttributed: t.exposeBoolean("isAttributed", { description: "Whether some of it counts for a show." }),
    refunds: t.field({
      type: [OrderRefundRef],
      description: "Its refunds, the earliest first.",
      extensions: { itemsExpected: 2 },
      resolve: ({ refunds }) => refunds,
    }),
    lines: t.field({
      type: [OrderLineRef],
      description: "Its products.",
      extensions: { itemsExpected: 3 },
      resolve: ({ lines }) => lines,
    }),
    attributions: t.field({
      type: [OrderAttributionRef],
      description: "For which shows it counts, and why. The parts add up to the whole order.",
      extensions: { itemsExpected: 2 },
      resolve: ({ attributions }) => attributions,
    }),
  }),
});
