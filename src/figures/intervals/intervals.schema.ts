import { checkOpenRange } from "../../lib/dateRange.js";
import { cachedWith } from "../../lib/cached.js";
import { builder } from "../../schema/builder.js";
import { firstArg, pageSize } from "../../schema/connections.js";
import { selectsAny } from "../../schema/selection.js";
import { findLiveStream } from "../../shows/liveStream.js";
import { listMoments, spanOf } from "../../shows/moments/moments.js";
import { momentsMax } from "../../shows/moments/moments.input.js";
import { Moment, MomentKind } from "../../shows/moments/moments.schema.js";
import type { LiveStreamAnalytics } from "../show/kpis.read.js";
import { LiveStreamAnalyticsRef } from "../show/liveStreamAnalytics.schema.js";
import { type IntervalFigures as IntervalFiguresValue, readInterval } from "./intervals.js";

const momentsFirst = 100;

type ProductInInterval = NonNullable<IntervalFiguresValue["ofProduct"]>;
type Sums = Awaited<ReturnType<IntervalFiguresValue["sums"]>>;
type Viewers = Awaited<ReturnType<IntervalFiguresValue["viewers"]>>;

const ProductInterval = builder.objectRef<ProductInInterval>("ProductIntervalFigures").implement({
  description: "The figures of the product that was shown, while it was shown.",
  fields: (t) => {
    const sum = (name: keyof Sums["ofProduct"], description: string) => ({
      description,
      resolve: async ({ sums }: ProductInInterval) => (await sums())[name],
    });
    return {
      sales: t.float(sum("sales", "Sales of this product, in the currency of the store.")),
      orders: t.int(sum("orders", "Orders that contain it.")),
      quantity: t.int(sum("quantity", "How many were ordered; one for an order without lines.")),
      addToCart: t.int(sum("addToCart", "ADD_TO_CART events of this product.")),
      carts: t.int(sum("addToCart", "How often it was put into a cart, from which `ordersWithin` counts orders.")),
      ordersWithin: t.int({
        description:
          "Orders of this product by viewers who put it into their cart meanwhile, at most so long after they did.",
        extensions: { cost: 10 },
        args: { minutes: t.arg.int({ defaultValue: 30, description: "0 to 1,440." }) },
        resolve: ({ ordersWithin }, { minutes }) => ordersWithin(minutes),
      }),
    };
  },
});

const IntervalFigures = builder.objectRef<IntervalFiguresValue>("IntervalFigures").implement({
  description:
    "What happened in an interval of a show, to the second, on all channels. Intervals that follow each other add up to the show.",
  fields: (t) => {
    const sum = <Name extends keyof Sums>(name: Name) => ({
      resolve: async ({ sums }: IntervalFiguresValue) => (await sums())[name],
    });
    const onlyIfExact = (description: string) =>
      ({ nullable: true, description: `${description}; null if events of the interval were removed.` }) as const;
    const viewers = (name: keyof Viewers, description: string) => ({
      ...onlyIfExact(description),
      resolve: async (figures: IntervalFiguresValue) => (await figures.viewers())[name],
    });
    return {
      seconds: t.exposeInt("seconds", { description: "The length of the interval." }),
      sales: t.float({ description: "Amounts of orders, in the currency of the store.", ...sum("sales") }),
      netSales: t.float({ ...onlyIfExact("Sales less the refunds of this time"), ...sum("netSales") }),
      orders: t.int({ description: "How many orders there were.", ...sum("orders") }),
      quantity: t.int({
        ...onlyIfExact("How many products were ordered, one for an order without lines"),
        ...sum("quantity"),
      }),
      addToCart: t.int({ description: "How often products were put into a cart.", ...sum("addToCart") }),
      viewersAtStart: t.int(viewers("viewersAtStart", "Distinct viewers in its first second")),
      peakViewers: t.int(viewers("peakViewers", "The most distinct viewers in one second")),
      averageViewers: t.float(
        viewers("averageViewers", "The mean of the distinct viewers of each second, rounded to 2 decimals"),
      ),
      newViewers: t.int(viewers("newViewers", "Viewers whose first second in the show is in the interval")),
      ofProduct: t.field({
        type: ProductInterval,
        ...onlyIfExact("Of the product of the moment; null if it has none"),
        resolve: ({ ofProduct }) => ofProduct,
      }),
      isExact: t.exposeBoolean("isExact", {
        description:
          "False if events of the interval were removed: then its ends are those of minutes, and only what minutes have is known.",
      }),
    };
  },
});

/** Sums that minutes lack. */
const selectsOfEvents = selectsAny(() => new Set(["netSales", "quantity", "ofProduct"]));

builder.objectFields(LiveStreamAnalyticsRef, (t) => ({
  moments: t.field({
    type: [Moment],
    description: "What happened in the show when, in the order of the start, then of the id.",
    extensions: { itemsExpected: momentsFirst },
    args: {
      kind: t.arg({ type: MomentKind, required: false, description: "Only moments of this kind." }),
      id: t.arg.string({ required: false, description: "Only the moment with this id." }),
      ...firstArg(momentsFirst, momentsMax),
    },
    resolve: async (analytics, { kind, id, first }, { db }) => {
      const read = (show: LiveStreamAnalytics) =>
        cachedWith(show, "moments", async () => listMoments(db, await findLiveStream(db, show.storeId, show.id)));
      for (const show of analytics.list ?? []) void read(show); // pages of a list are begun one after the other, and read together
      const moments = (await read(analytics)).filter(
        (moment) => moment.kind === (kind ?? moment.kind) && moment.id === (id ?? moment.id),
      );
      return moments.slice(0, pageSize(first, momentsFirst, momentsMax));
    },
  }),
  between: t.field({
    type: IntervalFigures,
    description: "What happened from one second until another.",
    extensions: { cost: 100 },
    args: {
      from: t.arg({ type: "DateTime", description: "The first second." }),
      until: t.arg({ type: "DateTime", description: "Exclusive, so that intervals can follow each other." }),
    },
    resolve: async ({ storeId, id }, { from, until }, { db }, info) => {
      checkOpenRange(from, until);
      const show = await findLiveStream(db, storeId, id);
      return readInterval(db, show, { from, until, isOfMinutes: !selectsOfEvents(info) });
    },
  }),
}));

builder.objectField(Moment, "figures", (t) =>
  t.field({
    type: IntervalFigures,
    description: "What happened meanwhile; until now, if it has not ended.",
    resolve: (moment, _, { db }, info) => {
      const { show, productId } = moment;
      return readInterval(db, show, { ...spanOf(moment), productId, isOfMinutes: !selectsOfEvents(info) });
    },
  }),
);
