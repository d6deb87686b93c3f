import { builder } from "../../schema/builder.js";
import type { Kpis as KpisValue, SourceFigures as SourceFiguresValue } from "./kpis.js";
import { ChannelCounts, Kpis, ViewerTotals } from "./kpis.schema.js";

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

builder.objectFields(Kpis, (t) => ({
  buyers: t.field({
    type: BuyerTotals,
    description: "Viewers who ordered, each counted once. An ORDER that names no viewer has no buyer.",
    resolve: ({ buyers }) => buyers,
  }),
  buyerRate: t.field({
    type: BuyerRates,
    description: "Buyers for each 100 viewers.",
    resolve: ({ buyerRate }) => buyerRate,
  }),
  ordersWithoutViewer: t.field({
    type: ChannelCounts,
    description: "Orders that name no viewer, and so have no buyer.",
    resolve: ({ ordersWithoutViewer }) => ordersWithoutViewer,
  }),
  engagedViewers: t.field({
    type: ViewerTotals,
    description: "Viewers with a VIEW of at least 3 seconds, each counted once.",
    resolve: ({ engagedViewers }) => engagedViewers,
  }),
  sources: t.field({
    type: [SourceFigures],
    description: "Where viewers came from, by the first event of each: most viewers first, then by sales and name.",
    extensions: { itemsExpected: 10 },
    resolve: ({ sources }) => sources,
  }),
}));
