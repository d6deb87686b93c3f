import { timeZoneOf } from "../../stores/store.js";
import type { RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { builder, enumValues } from "../../schema/builder.js";
import { firstArg, pageSize } from "../../schema/connections.js";
import { sharedRead } from "../../schema/limits/sharedReads.js";
import { cachedWith } from "../../lib/cached.js";
import { Kpis } from "../show/kpis.schema.js";
import { LiveStreamAnalyticsRef } from "../show/liveStreamAnalytics.schema.js";
import {
  asList,
  readStoreFigures,
  readTopShows,
  type ShowOrder as ShowOrderValue,
  type StoreFigures,
} from "./storeFigures.js";
import { checkRange, rangeBefore, type StoreRange } from "./storeRange.js";
import { readStoreTimeline, type StoreBucket as StoreBucketValue, type StoreBucketFigures } from "./storeTimeline.js";

export interface StoreAnalyticsValue {
  readonly storeId: string;
  readonly range: StoreRange;
  /** Reads them once, when a field needs them. */
  readonly figures: () => Promise<StoreFigures>;
}

const topShowsFirst = 10;
/** For the cost of a timeline: the days of a quarter of a year. */
const bucketsExpected = 90;

const ShowOrder = builder.enumType("ShowOrder", {
  description: "Which figure orders shows: the highest first, then by id.",
  values: enumValues<ShowOrderValue>({
    SALES: "By sales of all channels.",
    ORDERS: "By orders of all channels.",
    VIEWERS: "By viewers of LIVE and of REPLAY, added up.",
    CONVERSION_RATE: "By orders for each distinct viewer.",
    AVERAGE_VIEW_TIME: "By view time of each viewer of LIVE and of REPLAY.",
  }),
});

const StoreBucket = builder.enumType("StoreBucket", {
  description: "The length of the parts of a timeline, in the time zone of the figures.",
  values: enumValues<StoreBucketValue>({
    HOUR: "Hours of the clock.",
    DAY: "Days, from midnight on.",
    WEEK: "Weeks, from Monday on (ISO 8601).",
    MONTH: "Months of the calendar.",
  }),
});

const StoreBucketFiguresRef = builder.objectRef<StoreBucketFigures>("StoreBucketFigures").implement({
  description: "What happened in an hour, day, week or month.",
  fields: (t) => ({
    startsAt: t.field({
      type: "DateTime",
      description: "The start of the whole bucket, even if the range begins later.",
      resolve: ({ startsAt }) => startsAt,
    }),
    orders: t.exposeInt("orders", { description: "How many orders there were." }),
    sales: t.exposeFloat("sales", { description: "Amounts of orders, in the currency of the store." }),
    carts: t.exposeInt("carts", { description: "How often products were put into a cart." }),
  }),
});

export const StoreAnalytics = builder.objectRef<StoreAnalyticsValue>("StoreAnalytics");
StoreAnalytics.implement({
  description: "Figures over the shows of a store.",
  fields: (t) => ({
    from: t.field({ type: "DateTime", description: "The beginning of the range.", resolve: ({ range }) => range.from }),
    until: t.field({
      type: "DateTime",
      description: "The end of the range, exclusive.",
      resolve: ({ range }) => range.until,
    }),
    currency: t.string({
      nullable: true,
      description: "The currency of all amounts (ISO 4217); null if the store has none.",
      resolve: async ({ figures }) => (await figures()).currency,
    }),
    showCount: t.int({
      description: "How many shows started in this time.",
      resolve: async ({ figures }) => (await figures()).showCount,
    }),
    kpis: t.field({
      type: Kpis,
      description:
        "Key figures of the shows that started in this time, added up: a viewer of two shows counts in each.",
      resolve: async ({ figures }) => (await figures()).totals,
    }),
  }),
});

builder.objectFields(StoreAnalytics, (t) => ({
  timeline: t.field({
    type: [StoreBucketFiguresRef],
    description:
      "What happened in this time, to the minute, in all shows: at most the latest 1,500 buckets that are not empty.",
    extensions: { itemsExpected: bucketsExpected, cost: 100 },
    args: { bucket: t.arg({ type: StoreBucket, defaultValue: "DAY", description: "The length of each part." }) },
    resolve: (analytics, { bucket }, { db }) => {
      const { storeId, range } = analytics;
      const read = () => asWideRead(db, storeId, () => readStoreTimeline(db, storeId, range, bucket));
      return cachedWith(analytics, `timeline ${bucket}`, read);
    },
  }),
  topShows: t.field({
    type: [LiveStreamAnalyticsRef],
    description: "The shows that started in this time, the highest figure first, then by id.",
    args: {
      ...firstArg(topShowsFirst),
      by: t.arg({ type: ShowOrder, defaultValue: "SALES", description: "Which figure." }),
    },
    resolve: async (analytics, { first, by }, { db }) => {
      const { storeId, range } = analytics;
      const page = { first: pageSize(first, topShowsFirst), by };
      const read = () => asWideRead(db, storeId, () => readTopShows(db, storeId, range, page));
      return asList(await cachedWith(analytics, `shows ${page.first} ${by}`, read));
    },
  }),
  previous: t.field({
    type: StoreAnalytics,
    description:
      "Figures of the range moved back by its length in whole days of the time zone, or from a week on in whole weeks, so that weekdays match.",
    extensions: { cost: 100 },
    resolve: (analytics, _, { db }) => {
      const { storeId, range } = analytics;
      return cachedWith(analytics, "previous", async () => analyticsWithin(db, storeId, rangeBefore(range)));
    },
  }),
}));

builder.queryFields((t) => ({
  storeAnalytics: t.field({
    extensions: { scope: "analytics:read", cost: 100 },
    type: StoreAnalytics,
    nullable: true,
    description:
      "Figures over the shows of the store. One analytics read, whatever is in it; equal ones within ten seconds count once.",
    args: {
      from: t.arg({ type: "DateTime", description: "The beginning of the range." }),
      until: t.arg({ type: "DateTime", description: "Exclusive; at most 5 years after from." }),
      timeZone: t.arg.string({
        required: false,
        description:
          "An IANA name, such as Europe/Berlin. By default, and for Etc/Unknown, the time zone of the store.",
      }),
    },
    resolve: sharedRead("analytics", async (_, { from, until, timeZone }, { db, identity: { storeId } }) => {
      const zone = isKnown(timeZone) ? timeZone : await timeZoneOf(db, storeId);
      return analyticsWithin(db, storeId, checkRange(from, until, zone));
    }),
  }),
}));

/** A browser that does not know its time zone says `Etc/Unknown` (CLDR). */
function isKnown(timeZone: string | null | undefined): timeZone is string {
  return timeZone !== null && timeZone !== undefined && timeZone.toLowerCase() !== "etc/unknown";
}

function analyticsWithin(db: RootDatabase, storeId: string, range: StoreRange): StoreAnalyticsValue {
  let figures: Promise<StoreFigures> | undefined;
  return {
    storeId,
    range,
    figures: () => (figures ??= asWideRead(db, storeId, () => readStoreFigures(db, storeId, range))),
  };
}
