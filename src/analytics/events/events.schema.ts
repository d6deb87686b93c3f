import { builder } from "../../schema/builder.js";
import { eraseViewer, type ViewerErasure } from "./erase.js";
import { placeholderEvent, uncoercedEvents } from "./events.coerce.js";
import { channels, shopperEventTypes } from "./events.input.js";
import { type EventReceipt, recordEvents } from "./events.record.js";

const ShopperEventType = builder.enumType("ShopperEventType", { values: shopperEventTypes });

export const Channel = builder.enumType("Channel", {
  description: "Where it happened. REFERRAL is for ORDER and REFUND only.",
  values: channels,
});

const OrderLineInput = builder.inputType("OrderLineInput", {
  description: "A product of an order.",
  fields: (t) => ({
    productId: t.string({ description: "Its reference id." }),
    quantity: t.int({ description: "1 to 1,000,000." }),
    amount: t.float({ description: "For all of them together: 0 to 1,000,000,000." }),
  }),
});

const ShopperEventInput = builder.inputType("ShopperEventInput", {
  description: "What a shopper did. An id counts once for its show, however often it is sent.",
  extensions: { placeholderValue: placeholderEvent },
  fields: (t) => ({
    id: t.string({ description: "At most 255 characters." }),
    type: t.field({ type: ShopperEventType }),
    channel: t.field({ type: Channel }),
    viewerId: t.string({ required: false, description: "Required for VIEW and ADD_TO_CART." }),
    device: t.string({ required: false, description: "mobile, desktop or any other; unknown if not given." }),
    seconds: t.float({ required: false, description: "View time of a VIEW: 0 to 86,400." }),
    amount: t.float({ required: false, description: "Of an ORDER or a REFUND, which need it: 0 to 1,000,000,000." }),
    productId: t.string({ required: false, description: "Reference id of the product in question." }),
    occurredAt: t.field({
      type: "DateTime",
      required: false,
      description:
        "When it happened; now if not given. From a day before the start of the show to five minutes from now.",
    }),
    orderId: t.string({ required: false, description: "Of an ORDER or a REFUND: at most 255 characters." }),
    currency: t.string({
      required: false,
      description: "Of an ORDER or a REFUND (ISO 4217). Must be the currency of the store.",
    }),
    lines: t.field({
      type: [OrderLineInput],
      required: false,
      description:
        "The products of an ORDER or a REFUND, at most 100. Sales count by the amount of the event all the same.",
    }),
  }),
});

const ShopperEventReceipt = builder.objectRef<EventReceipt>("ShopperEventReceipt").implement({
  description: "The result of recording a batch of events.",
  fields: (t) => ({
    accepted: t.exposeInt("accepted", { description: "Events counted now." }),
    duplicates: t.exposeInt("duplicates", { description: "Events that were counted before." }),
  }),
});

const ViewerErasureRef = builder.objectRef<ViewerErasure>("ViewerErasure").implement({
  description: "The result of erasing a viewer.",
  fields: (t) => ({
    message: t.exposeString("message"),
    shows: t.exposeInt("shows", { description: "Shows in which the viewer appeared." }),
    events: t.exposeInt("events", { description: "Events whose viewer id was replaced." }),
  }),
});

builder.mutationFields((t) => ({
  eraseViewer: t.field({
    authScopes: { "events:write": true },
    type: ViewerErasureRef,
    nullable: true,
    description: "Replaces the id of a viewer by a random one everywhere. Figures stay.",
    args: { viewerId: t.arg.string({ description: "The viewer id that was sent with events." }) },
    resolve: (_, { viewerId }, { db, identity }) => eraseViewer(db, identity.storeId, viewerId),
  }),
  recordShopperEvents: t.field({
    authScopes: { "events:write": true },
    type: ShopperEventReceipt,
    nullable: true,
    description: "Records up to 10,000 events of a show: all of them, or none.",
    args: { lsId: t.arg.string(), events: t.arg({ type: [ShopperEventInput] }) },
    extensions: { takesChecked: "events" },
    resolve: async (_, { lsId, events: given }, { db, identity, feed, observation, originals }) => {
      const events = uncoercedEvents(given, originals) ?? given;
      const receipt = await observation.recording(() => recordEvents(db, identity.storeId, lsId, events));
      // For duplicates too: the batch that stored them may have failed before anybody was notified.
      if (events.length > 0) feed.changed(identity.storeId, lsId);
      return receipt;
    },
  }),
}));
