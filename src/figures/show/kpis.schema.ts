import { builder } from "../../schema/builder.js";
import type { DeviceShare as DeviceShareValue, Kpis as KpisValue } from "./kpis.js";

const ChannelTotals = builder.objectRef<KpisValue["sales"]>("ChannelTotals").implement({
  description: "An amount of money by channel, each exact in the decimals of the currency, or 2 if the store has none.",
  fields: (t) => ({
    live: t.exposeFloat("live", { description: "While the show was live." }),
    replay: t.exposeFloat("replay", { description: "During replays of the show." }),
    referral: t.exposeFloat("referral", { description: "In the shop, through a link of the show." }),
    total: t.exposeFloat("total", { description: "Live, replay and referral." }),
    currency: t.exposeString("currency", {
      nullable: true,
      description: "The currency of the store (ISO 4217); null if it has none.",
    }),
  }),
});

export const ChannelCounts = builder.objectRef<KpisValue["orders"]>("ChannelCounts").implement({
  description: "A number of orders by channel.",
  fields: (t) => ({
    live: t.exposeInt("live", { description: "While the show was live." }),
    replay: t.exposeInt("replay", { description: "During replays of the show." }),
    referral: t.exposeInt("referral", { description: "In the shop, through a link of the show." }),
    total: t.exposeInt("total", { description: "Live, replay and referral." }),
  }),
});

export const ViewerTotals = builder.objectRef<KpisValue["viewers"]>("ViewerTotals").implement({
  description: "Distinct viewers by channel.",
  fields: (t) => ({
    live: t.exposeInt("live", { description: "Viewers of the show while it was live." }),
    replay: t.exposeInt("replay", { description: "Viewers of its replays." }),
    total: t.exposeInt("total", { description: "Live and replay; a viewer of both counts twice." }),
    unique: t.exposeInt("unique", { description: "Distinct over both channels." }),
  }),
});

const ChannelAverages = builder.objectRef<KpisValue["addToCart"]>("ChannelAverages").implement({
  description: "A rate by channel, rounded to 2 decimals; 0 without viewers.",
  fields: (t) => ({
    live: t.exposeFloat("live", { description: "Over the viewers of the show while it was live." }),
    replay: t.exposeFloat("replay", { description: "Over the viewers of its replays." }),
    avg: t.exposeFloat("avg", { description: "Over the viewers of both channels together." }),
  }),
});

export const DeviceShare = builder.objectRef<DeviceShareValue>("DeviceShare").implement({
  description: "The share of a device among viewers.",
  fields: (t) => ({
    device: t.exposeString("device", { description: "mobile, desktop, unknown, or whatever was reported." }),
    value: t.exposeFloat("value", { description: "Percent." }),
  }),
});

/** Shows have few devices, although 1,001 are possible, and one query may read tens of shows. */
export const devicesExpected = { itemsExpected: 100 };

export const Kpis = builder.objectRef<KpisValue>("Kpis").implement({
  description: "Key figures of a show.",
  fields: (t) => ({
    sales: t.field({
      type: ChannelTotals,
      description: "The amounts of ORDER events, exact, before refunds.",
      resolve: ({ sales }) => sales,
    }),
    orders: t.field({
      type: ChannelCounts,
      description: "The number of ORDER events.",
      resolve: ({ orders }) => orders,
    }),
    viewers: t.field({
      type: ViewerTotals,
      description: "Distinct viewerIds with a VIEW or an ADD_TO_CART on the channel.",
      resolve: ({ viewers }) => viewers,
    }),
    addToCart: t.field({
      type: ChannelAverages,
      description: "Viewers with an ADD_TO_CART, in percent of viewers.",
      resolve: ({ addToCart }) => addToCart,
    }),
    avgViewTime: t.field({
      type: ChannelAverages,
      description: "Seconds of VIEW events for each viewer.",
      resolve: ({ avgViewTime }) => avgViewTime,
    }),
    devices: t.field({
      type: [DeviceShare],
      description: "Devices of the viewers of LIVE and of REPLAY, added up: the largest share first, then by name.",
      extensions: devicesExpected,
      resolve: ({ devices }) => devices,
    }),
  }),
});

builder.objectFields(Kpis, (t) => ({
  conversionRate: t.exposeFloat("conversionRate", {
    description: "Orders for each 100 distinct viewers; above 100 if viewers order more than once.",
  }),
  refunds: t.field({
    type: ChannelTotals,
    description: "The amounts of REFUND events. Sales do not subtract them.",
    resolve: ({ refunds }) => refunds,
  }),
  netSales: t.field({
    type: ChannelTotals,
    description: "Sales less refunds; below 0 if refunds exceed sales.",
    resolve: ({ netSales }) => netSales,
  }),
  averageOrderValue: t.exposeFloat("averageOrderValue", {
    description: "Sales for each order, in the currency of the store; 0 without orders.",
  }),
}));
