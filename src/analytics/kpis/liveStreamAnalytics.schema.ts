import { builder } from "../../schema/builder.js";
import { firstArg, firstByDefault, pageSize } from "../../schema/connections.js";
import { rateLimited, rateLimitedByRoot } from "../../schema/rateLimit.js";
import { Channel } from "../events/events.schema.js";
import { Host, LiveStreamStatus } from "../shows/liveStream.schema.js";
import { deviceShares, type DeviceShare as DeviceShareValue } from "./kpis.js";
import { type LiveStreamAnalytics, readAnalytics } from "./kpis.read.js";
import { devicesExpected, DeviceShare, Kpis } from "./kpis.schema.js";
import { shared } from "./shared.js";
import { sharedTimeline } from "./sharedTimeline.js";
import { readPeakViewers, type TimelineBucket } from "./timeline.js";
import { ProductCarts, ProductOrder, topProductsOf } from "./topProducts.schema.js";

/** Four hours of minutes, so that more than ten shows may be compared in one query. */
const minutesExpected = 240;

const TimelineBucket = builder.objectRef<TimelineBucket>("TimelineBucket").implement({
  description: "What happened in a part of a show.",
  fields: (t) => ({
    startsAt: t.field({ type: "DateTime", resolve: ({ startsAt }) => startsAt }),
    viewers: t.exposeInt("viewers", {
      description: "The highest number of distinct active viewers in any of its minutes.",
    }),
    carts: t.exposeInt("carts"),
    orders: t.exposeInt("orders"),
    sales: t.exposeFloat("sales"),
  }),
});

const ChannelDevices = builder
  .objectRef<{ channel: "LIVE" | "REPLAY"; devices: readonly DeviceShareValue[] }>("ChannelDevices")
  .implement({
    description: "Devices of a channel's viewers.",
    fields: (t) => ({
      channel: t.field({ type: Channel, resolve: ({ channel }) => channel }),
      devices: t.field({ type: [DeviceShare], extensions: devicesExpected, resolve: ({ devices }) => devices }),
    }),
  });

/** Separately queried fields are shared among all subscribers who were given the same object. */
export const LiveStreamAnalyticsRef = builder.objectRef<LiveStreamAnalytics>("LiveStreamAnalytics").implement({
  description: "The analytics of a show.",
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    status: t.field({ type: LiveStreamStatus, resolve: ({ status }) => status }),
    startedAt: t.field({ type: "DateTime", resolve: ({ startedAt }) => startedAt }),
    endedAt: t.field({ type: "DateTime", nullable: true, resolve: ({ endedAt }) => endedAt }),
    durationSeconds: t.exposeInt("durationSeconds"),
    host: t.field({ type: Host, nullable: true, resolve: ({ host }) => host }),
    kpis: t.field({ type: Kpis, resolve: ({ kpis }) => kpis }),
    peakConcurrentViewers: t.int({
      description: "The highest number of distinct active viewers in any minute.",
      extensions: { cost: 100 },
      resolve: (analytics, _, { db }) => {
        const { storeId, id } = analytics;
        return shared(analytics, "peak", () => readPeakViewers(db, storeId, id));
      },
    }),
    timeline: t.field({
      type: [TimelineBucket],
      description: "The parts of the show in which something happened, in order; the latest 1,500.",
      extensions: { itemsExpected: minutesExpected, cost: 100 },
      args: {
        bucketSeconds: t.arg.int({ defaultValue: 60, description: "Whole minutes, up to a day." }),
        from: t.arg({ type: "DateTime", required: false, description: "Only what happened in this minute or later." }),
        until: t.arg({ type: "DateTime", required: false, description: "Only what happened before, to the minute." }),
      },
      resolve: (analytics, { bucketSeconds, from, until }, { db }) =>
        sharedTimeline(db, analytics, bucketSeconds, { from, until }),
    }),
    topProducts: t.field({
      type: [ProductCarts],
      description: "The products with the highest figure: at first, those most often put into carts.",
      extensions: { cost: 100 },
      args: {
        ...firstArg(firstByDefault),
        by: t.arg({ type: ProductOrder, defaultValue: "CARTS" }),
      },
      resolve: (analytics, { first, by }, { db }) => topProductsOf(db, analytics, { first: pageSize(first), by }),
    }),
    devicesByChannel: t.field({
      type: [ChannelDevices],
      extensions: { itemsExpected: 2 },
      resolve: ({ devices }) =>
        (["LIVE", "REPLAY"] as const).map((channel) => ({
          channel,
          devices: deviceShares(devices.filter((device) => device.channel === channel)),
        })),
    }),
  }),
});

const lsId = { description: "Id of the live stream." };

builder.queryFields((t) => ({
  liveStreamAnalytics: t.field({
    authScopes: { "analytics:read": true },
    type: LiveStreamAnalyticsRef,
    nullable: true,
    description: "The analytics of a show, as of now.",
    args: { lsId: t.arg.string(lsId) },
    resolve: rateLimitedByRoot("analytics", (_, args, { db, identity }) =>
      readAnalytics(db, identity.storeId, args.lsId),
    ),
  }),
}));

builder.subscriptionFields((t) => ({
  liveStreamAnalytics: t.field({
    authScopes: { "analytics:read": true },
    type: LiveStreamAnalyticsRef,
    description: "The analytics of a show: at once, and then as they change, at most once a second.",
    args: { lsId: t.arg.string(lsId) },
    subscribe: rateLimited("subscription", (_, args, { identity, feed, access }) =>
      feed.watch(identity.storeId, args.lsId, { signal: access.endSignal() }),
    ),
    resolve: (analytics: LiveStreamAnalytics) => analytics,
  }),
}));
