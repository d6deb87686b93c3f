import type { RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/shares.js";
import { builder } from "../../schema/builder.js";
import { firstArg, pageSize } from "../../schema/connections.js";
import { sharedRead } from "../../schema/sharedReads.js";
import { shared } from "../kpis/shared.js";
import { Kpis } from "../kpis/kpis.schema.js";
import { LiveStreamAnalyticsRef } from "../kpis/liveStreamAnalytics.schema.js";
import { asList, readStoreFigures, readTopShows, showOrders, type StoreFigures } from "./storeFigures.js";
import { checkRange, rangeBefore, type StoreRange } from "./storeRange.js";
import { readStoreTimeline, type StoreBucketFigures, storeBuckets } from "./storeTimeline.js";

interface StoreAnalyticsValue {
  readonly storeId: string;
  readonly range: StoreRange;
  /** Read once, when a field asks for them. */
  readonly figures: () => Promise<StoreFigures>;
}

const topShowsFirst = 10;
/** Cost of a timeline: a quarter of a year by day. */
const bucketsExpected = 90;

const ShowOrder = builder.enumType("ShowOrder", {
  description: "What shows are ordered by. VIEWERS are those of both channels.",
  values: showOrders,
});

const StoreBucket = builder.enumType("StoreBucket", {
  description: "Days begin at midnight of the time zone, weeks on Monday (ISO 8601).",
  values: storeBuckets,
});

const StoreBucketFiguresRef = builder.objectRef<StoreBucketFigures>("StoreBucketFigures").implement({
  description: "What happened in an hour, day, week or month.",
  fields: (t) => ({
    startsAt: t.field({ type: "DateTime", resolve: ({ startsAt }) => startsAt }),
    orders: t.exposeInt("orders"),
    sales: t.exposeFloat("sales"),
    carts: t.exposeInt("carts"),
  }),
});

const StoreAnalytics = builder.objectRef<StoreAnalyticsValue>("StoreAnalytics");
StoreAnalytics.implement({
  description: "Figures over the shows of a store.",
  fields: (t) => ({
    from: t.field({ type: "DateTime", resolve: ({ range }) => range.from }),
    until: t.field({ type: "DateTime", resolve: ({ range }) => range.until }),
    currency: t.string({
      nullable: true,
      description: "The currency of the store's amounts (ISO 4217), if it has any.",
      resolve: async ({ figures }) => (await figures()).currency,
    }),
    showCount: t.int({
      description: "The shows that started in this time.",
      resolve: async ({ figures }) => (await figures()).showCount,
    }),
    kpis: t.field({
      type: Kpis,
      description: "Those of the shows that started in this time, added up: a viewer of two shows counts in each.",
      resolve: async ({ figures }) => (await figures()).kpis,
    }),
    timeline: t.field({
      type: [StoreBucketFiguresRef],
      description:
        "What happened in this time, to the minute, in all shows: at most the latest 1,500 buckets that are not empty.",
      extensions: { itemsExpected: bucketsExpected, cost: 100 },
      args: { bucket: t.arg({ type: StoreBucket, defaultValue: "DAY" }) },
      resolve: (analytics, { bucket }, { db }) => {
        const { storeId, range } = analytics;
        const read = () => asWideRead(db, storeId, () => readStoreTimeline(db, storeId, range, bucket));
        return shared(analytics, `timeline ${bucket}`, read);
      },
    }),
    topShows: t.field({
      type: [LiveStreamAnalyticsRef],
      description: "The shows that started in this time, those with the highest figure first; then by id.",
      args: {
        ...firstArg(topShowsFirst),
        by: t.arg({ type: ShowOrder, defaultValue: "SALES" }),
      },
      resolve: async (analytics, { first, by }, { db }) => {
        const { storeId, range } = analytics;
        const page = { first: pageSize(first, topShowsFirst), by };
        const read = () => asWideRead(db, storeId, () => readTopShows(db, storeId, range, page));
        return asList(await shared(analytics, `shows ${page.first} ${by}`, read));
      },
    }),
    previous: t.field({
      type: StoreAnalytics,
      description: "The period of equal length immediately before.",
      extensions: { cost: 100 },
      resolve: (analytics, _, { db }) => {
        const { storeId, range } = analytics;
        return shared(analytics, "previous", async () => analyticsWithin(db, storeId, rangeBefore(range)));
      },
    }),
  }),
});

builder.queryFields((t) => ({
  storeAnalytics: t.field({
    authScopes: { "analytics:read": true },
    type: StoreAnalytics,
    nullable: true,
    description:
      "Figures over the shows of the store. One analytics read, whatever is in it; equal ones within ten seconds count once.",
    extensions: { cost: 100 },
    args: {
      from: t.arg({ type: "DateTime" }),
      until: t.arg({ type: "DateTime", description: "Exclusive; at most 5 years after from." }),
      timeZone: t.arg.string({ required: false, defaultValue: "UTC", description: "An IANA name: Europe/Berlin." }),
    },
    resolve: sharedRead("analytics", (_, { from, until, timeZone }, { db, identity }) =>
      analyticsWithin(db, identity.storeId, checkRange(from, until, timeZone)),
    ),
  }),
}));

function analyticsWithin(db: RootDatabase, storeId: string, range: StoreRange): StoreAnalyticsValue {
  let figures: Promise<StoreFigures> | undefined;
  return {
    storeId,
    range,
    figures: () => (figures ??= asWideRead(db, storeId, () => readStoreFigures(db, storeId, range))),
  };
}
