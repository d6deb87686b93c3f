import { builder, enumValues } from "../schema/builder.js";
import { eraseViewer, type ViewerErasure } from "./erase.js";
import {
  placeholderEvent,
  type SentChannel,
  type ShopperEventType as ShopperEventTypeValue,
  uncoercedEvents,
} from "./events.input.js";
import { type EventReceipt, recordEvents } from "./record/events.record.js";

const ShopperEventType = builder.enumType("ShopperEventType", {
  description: "What a shopper did.",
  values: enumValues<ShopperEventTypeValue>({
    VIEW: "Watched the show, for the given seconds.",
    ADD_TO_CART: "Put a product into the cart.",
    ORDER: "Ordered, for the given amount.",
    REFUND: "Got the given amount of an order back. Sales stay as they are.",
  }),
});

export const Channel = builder.enumType("Channel", {
  description: "Where something happened.",
  values: enumValues<SentChannel>({
    LIVE: "In the show, while it was live.",
    REPLAY: "In a replay of the show.",
    REFERRAL: "In the shop, through a link of the show. For ORDER and REFUND only.",
    AUTO: "In events that are sent: LIVE until the show ends, REPLAY afterwards, by the time of the event.",
  }),
});

const OrderLineInput = builder.inputType("OrderLineInput", {
  description: "A product of an order.",
  fields: (t) => ({
    productId: t.string({ description: "Its reference id." }),
    quantity: t.int({ description: "1 to 1,000,000." }),
    amount: t.float({ description: "For all of them together, in the currency of the store: 0 to 1,000,000,000." }),
  }),
});

const ShopperEventInput = builder.inputType("ShopperEventInput", {
  description: "What a shopper did. An id counts once for its show, however often it is sent.",
  extensions: { placeholderValue: placeholderEvent },
  fields: (t) => ({
    id: t.string({ description: "Unique within the show: at most 255 characters." }),
    type: t.field({ type: ShopperEventType, description: "What happened." }),
    channel: t.field({ type: Channel, description: "Where it happened." }),
    viewerId: t.string({ required: false, description: "Required for VIEW and ADD_TO_CART." }),
    device: t.string({ required: false, description: "mobile, desktop or any other; unknown if not given." }),
    source: t.string({
      required: false,
      description:
        "Where the viewer came from: a host such as instagram.com, or the name of a campaign. That of the first event counts; unknown if not given.",
    }),
    seconds: t.float({ required: false, description: "View time of a VIEW, in seconds: 0 to 86,400." }),
    amount: t.float({
      required: false,
      description: "Of an ORDER or a REFUND, which need it, in the currency of the store: 0 to 1,000,000,000.",
    }),
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
        "The products of an ORDER or a REFUND, at most 100, which add up to at most its amount. Sales count by the amount of the event all the same.",
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
    message: t.exposeString("message", { description: "What was done, in a sentence for people." }),
    shows: t.exposeInt("shows", { description: "Shows in which the viewer appeared." }),
    events: t.exposeInt("events", { description: "Events whose viewer id was replaced." }),
  }),
});

builder.mutationFields((t) => ({
  eraseViewer: t.field({
    extensions: { scope: "events:write" },
    type: ViewerErasureRef,
    nullable: true,
    description: "Replaces the id of a viewer by a random one everywhere. Figures stay.",
    args: { viewerId: t.arg.string({ description: "The viewer id that was sent with events." }) },
    resolve: (_, { viewerId }, { db, identity }) => eraseViewer(db, identity.storeId, viewerId),
  }),
  recordShopperEvents: t.field({
    extensions: { scope: "events:write", takesChecked: "events" },
    type: ShopperEventReceipt,
    nullable: true,
    description: "Records up to 10,000 events of a show: all of them, or none.",
    args: {
      lsId: t.arg.string({ description: "The id of a show." }),
      events: t.arg({ type: [ShopperEventInput], description: "In any order." }),
    },
    resolve: async (
      _,
      { lsId, events: given },
      { db, identity, attributeOrders: attribute, feed, observation, sent },
    ) => {
      const events = uncoercedEvents(given, sent.originals) ?? given;
      const receipt = await observation.recording(() =>
        recordEvents(db, identity.storeId, lsId, events, { attribute }),
      );
      // For duplicates too: the batch that stored them may have failed before subscribers were notified.
      if (events.length > 0) feed.changed(identity.storeId, lsId);
      for (const other of receipt.changed ?? []) if (other !== lsId) feed.changed(identity.storeId, other);
      return receipt;
    },
  }),
}));
