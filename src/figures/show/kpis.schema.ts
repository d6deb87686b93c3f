import { builder } from "../../schema/builder.js";
import {
  type DeviceShare as DeviceShareValue,
  type Kpis as KpisValue,
  type KpiType,
  kpiNames,
  kpis,
  type ShowTotals,
  type SourceFigures as SourceFiguresValue,
} from "./kpis.js";

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

const ChannelCounts = builder.objectRef<KpisValue["orders"]>("ChannelCounts").implement({
  description: "A number of orders by channel.",
  fields: (t) => ({
    live: t.exposeInt("live", { description: "While the show was live." }),
    replay: t.exposeInt("replay", { description: "During replays of the show." }),
    referral: t.exposeInt("referral", { description: "In the shop, through a link of the show." }),
    total: t.exposeInt("total", { description: "Live, replay and referral." }),
  }),
});

const ViewerTotals = builder.objectRef<KpisValue["viewers"]>("ViewerTotals").implement({
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

const BuyerTotals = builder.objectRef<KpisValue["buyers"]>("BuyerTotals").implement({
  description: "Distinct viewers with an ORDER, by the channel of the order.",
  fields: (t) => ({
    live: t.exposeInt("live", { description: "While the show was live." }),
    replay: t.exposeInt("replay", { description: "During replays of the show." }),
    referral: t.exposeInt("referral", { description: "In the shop, through a link of the show." }),
    total: t.exposeInt("total", { description: "Live, replay and referral; a buyer of two counts twice." }),
    unique: t.exposeInt("unique", { description: "Distinct over all channels." }),
  }),
});

const BuyerRates = builder.objectRef<KpisValue["buyerRate"]>("BuyerRates").implement({
  description:
    "Buyers for each 100 viewers, rounded to 2 decimals; 0 without viewers. Above 100 if some buyers were not seen as viewers.",
  fields: (t) => ({
    live: t.exposeFloat("live", { description: "Buyers of LIVE for each 100 of its viewers." }),
    replay: t.exposeFloat("replay", { description: "Buyers of REPLAY for each 100 of its viewers." }),
    total: t.exposeFloat("total", {
      description: "Distinct buyers of all channels, also of REFERRAL, for each 100 distinct viewers.",
    }),
  }),
});

const SourceFigures = builder.objectRef<SourceFiguresValue>("SourceFigures").implement({
  description: "The viewers who came from somewhere, and what they ordered.",
  fields: (t) => ({
    source: t.exposeString("source", {
      description: "A host or a campaign, direct, unknown, or other for those beyond the first 50 by name.",
    }),
    viewers: t.exposeInt("viewers", { description: "Distinct viewers over both channels." }),
    orders: t.exposeInt("orders", { description: "Their orders, on all channels." }),
    sales: t.exposeFloat("sales", { description: "Amounts of these orders, in the currency of the store." }),
  }),
});

/** The types of values by name. For a list, the type of its items, and how many to expect. */
const valueTypes = {
  Float: { type: "Float" },
  ChannelTotals: { type: ChannelTotals },
  ChannelCounts: { type: ChannelCounts },
  ViewerTotals: { type: ViewerTotals },
  ChannelAverages: { type: ChannelAverages },
  BuyerTotals: { type: BuyerTotals },
  BuyerRates: { type: BuyerRates },
  DeviceShare: { type: [DeviceShare], extensions: devicesExpected },
  SourceFigures: { type: [SourceFigures], extensions: { itemsExpected: 10 } },
} satisfies Record<KpiType, object>;

export const Kpis = builder.objectRef<ShowTotals>("Kpis").implement({
  description: "Key figures of a show.",
  fields: (t) =>
    Object.fromEntries(
      kpiNames.map((name) => {
        const { type, description } = kpis[name];
        // The entry knows the type of its value, but the compiler does not.
        const value = valueTypes[type] as { readonly type: "Float" };
        return [name, t.field({ ...value, description, resolve: (totals) => kpis[name].of(totals) as number })];
      }),
    ),
});
