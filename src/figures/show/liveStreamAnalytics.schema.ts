import { builder, enumValues } from "../../schema/builder.js";
import { firstArg, firstByDefault, pageSize } from "../../schema/connections.js";
import { rateLimited, rateLimitedByRoot } from "../../schema/limits/rateLimit.js";
import { Channel } from "../../events/events.schema.js";
import { Host, LiveStreamStatus, lsId } from "../../shows/liveStream.schema.js";
import { type DeviceShare as DeviceShareValue, deviceShares } from "./kpis.js";
import { type LiveStreamAnalytics, readAnalytics } from "./kpis.read.js";
import { cachedWith } from "../../lib/cached.js";
import { devicesExpected, DeviceShare, Kpis } from "./kpis.schema.js";
import {
  type ProductFigures,
  readPeakViewers,
  readTopProducts,
  readWatchingNow,
  sharedTimeline,
  type TimelineBucket,
  type TopProducts,
} from "./timeline.js";
import { lookUpProduct } from "../../catalog/product/product.lookup.js";
import { productOfCatalog } from "../../catalog/product/product.schema.js";
import type { StoredProduct } from "../../catalog/product/product.sql.js";
import type { Database } from "../../database/client.js";

const ProductCarts = builder.objectRef<ProductFigures>("ProductCarts").implement({
  description: "The figures of a product in a show.",
  fields: (t) => ({
    productId: t.exposeID("productId", { description: "Its reference id, as events name it." }),
    product: t.field({
      ...productOfCatalog,
      resolve: (figures, _, { db, identity }) => productOf(db, identity.storeId, figures),
    }),
    carts: t.exposeInt("carts", { description: "How often it was put into a cart." }),
    orders: t.exposeInt("orders", { description: "Orders that contain it." }),
    quantity: t.exposeInt("quantity", { description: "How many were ordered; one for an order without lines." }),
    sales: t.exposeFloat("sales", { description: "Sales of this product, in the currency of the store." }),
  }),
});

const ProductOrder = builder.enumType("TopProductOrder", {
  description: "Which figure orders the products of a show: the highest first, then by id.",
  values: enumValues<TopProducts["by"]>({
    CARTS: "By how often they were put into a cart.",
    ORDERS: "By the orders that contain them.",
    QUANTITY: "By how many were ordered.",
    SALES: "By their sales.",
  }),
});

/** For a product of a list of shows, the pages of products of all these shows. */
const pagesOf = new WeakMap<ProductFigures, readonly Promise<ProductFigures[]>[]>();

/** The size of the largest page of products, because they are read with their long texts. */
const productsAtOnceMax = 100;

/** Four hours of minutes, so that one query may compare more than ten shows. */
const minutesExpected = 240;

const TimelineBucket = builder.objectRef<TimelineBucket>("TimelineBucket").implement({
  description: "What happened in a part of a show.",
  fields: (t) => ({
    startsAt: t.field({
      type: "DateTime",
      description: "When it begins, to the minute; it ends after bucketSeconds.",
      resolve: ({ startsAt }) => startsAt,
    }),
    viewers: t.exposeInt("viewers", {
      description: "The highest number of distinct active viewers in any of its minutes.",
    }),
    carts: t.exposeInt("carts", { description: "How often products were put into a cart." }),
    orders: t.exposeInt("orders", { description: "How many orders there were." }),
    sales: t.exposeFloat("sales", { description: "Amounts of orders, in the currency of the store." }),
  }),
});

const ChannelDevices = builder
  .objectRef<{ channel: "LIVE" | "REPLAY"; devices: readonly DeviceShareValue[] }>("ChannelDevices")
  .implement({
    description: "Devices of a channel's viewers.",
    fields: (t) => ({
      channel: t.field({ type: Channel, description: "LIVE or REPLAY.", resolve: ({ channel }) => channel }),
      devices: t.field({
        type: [DeviceShare],
        description: "The largest share first, then by name.",
        extensions: devicesExpected,
        resolve: ({ devices }) => devices,
      }),
    }),
  });

export const LiveStreamAnalyticsRef = builder.objectRef<LiveStreamAnalytics>("LiveStreamAnalytics").implement({
  description: "The analytics of a show, as of one moment.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the show." }),
    name: t.exposeString("name", { description: "The name of the show." }),
    status: t.field({
      type: LiveStreamStatus,
      description: "The state of the show.",
      resolve: ({ status }) => status,
    }),
    startedAt: t.field({
      type: "DateTime",
      description: "When it started; for a scheduled show, when it is planned to start.",
      resolve: ({ startedAt }) => startedAt,
    }),
    endedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Start plus duration; null until the show has ended.",
      resolve: ({ endedAt }) => endedAt,
    }),
    durationSeconds: t.exposeInt("durationSeconds", {
      description: "In whole seconds. For a live show, the time since its start; for a scheduled show, 0.",
    }),
    host: t.field({
      type: Host,
      nullable: true,
      description: "Who presents it; null if no host is named.",
      resolve: ({ host }) => host,
    }),
    kpis: t.field({ type: Kpis, description: "The key figures of the show.", resolve: ({ totals }) => totals }),
  }),
});

/** All subscribers who received the same object share these separately queried fields. */
builder.objectFields(LiveStreamAnalyticsRef, (t) => ({
  peakConcurrentViewers: t.int({
    description: "The highest number of distinct active viewers in any minute.",
    extensions: { cost: 100 },
    resolve: (analytics, _, { db }) => {
      const { storeId, id } = analytics;
      return cachedWith(analytics, "peak", () => readPeakViewers(db, storeId, id));
    },
  }),
  watchingNow: t.int({
    nullable: true,
    description:
      "For a LIVE show, distinct viewers of the last full minute, or of the current one if those are more. Null for other shows.",
    extensions: { cost: 100 },
    resolve: (analytics, _, { db }) => {
      const { storeId, id, status } = analytics;
      return status === "LIVE" ? cachedWith(analytics, "watching", () => readWatchingNow(db, storeId, id)) : null;
    },
  }),
  timeline: t.field({
    type: [TimelineBucket],
    description: "The parts of the show in which something happened, in order; the latest 1,500.",
    extensions: { itemsExpected: minutesExpected, cost: 100 },
    args: {
      bucketSeconds: t.arg.int({
        defaultValue: 60,
        description: "The length of each part: whole minutes, up to a day.",
      }),
      from: t.arg({ type: "DateTime", required: false, description: "Only what happened in this minute or later." }),
      until: t.arg({ type: "DateTime", required: false, description: "Only what happened before, to the minute." }),
    },
    resolve: (analytics, { bucketSeconds, from, until }, { db }) =>
      sharedTimeline(db, analytics, bucketSeconds, { from, until }),
  }),
}));

builder.objectFields(LiveStreamAnalyticsRef, (t) => ({
  topProducts: t.field({
    type: [ProductCarts],
    description: "The products with the highest figure, by default those most often put into carts.",
    extensions: { cost: 100 },
    args: {
      ...firstArg(firstByDefault),
      by: t.arg({ type: ProductOrder, defaultValue: "CARTS", description: "Which figure." }),
    },
    resolve: (analytics, { first, by }, { db }) => topProductsOf(db, analytics, { first: pageSize(first), by }),
  }),
  devicesByChannel: t.field({
    type: [ChannelDevices],
    description: "Devices of the viewers of LIVE and of those of REPLAY.",
    extensions: { itemsExpected: 2 },
    resolve: ({ devices }) =>
      (["LIVE", "REPLAY"] as const).map((channel) => ({
        channel,
        devices: deviceShares(devices.filter((device) => device.channel === channel)),
      })),
  }),
}));

builder.queryFields((t) => ({
  liveStreamAnalytics: t.field({
    extensions: { scope: "analytics:read" },
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
    extensions: { scope: "analytics:read" },
    type: LiveStreamAnalyticsRef,
    description: "The analytics of a show: at once, and then as they change, at most once a second.",
    args: { lsId: t.arg.string(lsId) },
    subscribe: rateLimited("subscription", (_, args, { identity, feed, access }) =>
      feed.watch(identity.storeId, args.lsId, { signal: access.endSignal() }),
    ),
    resolve: (analytics: LiveStreamAnalytics) => analytics,
  }),
}));

/** Pages are resolved one after the other, but one statement reads those of a list of shows. */
async function topProductsOf(
  db: Database,
  analytics: LiveStreamAnalytics,
  page: TopProducts,
): Promise<ProductFigures[]> {
  const key = `products ${page.by} ${page.first}`;
  const read = (show: LiveStreamAnalytics) =>
    cachedWith(show, key, () => readTopProducts(db, show.storeId, show.id, page));
  const { list } = analytics;
  if (list === undefined) return read(analytics);
  const pages = await cachedWith(list, key, async () => list.map(read));
  const products = await read(analytics);
  for (const product of products) pagesOf.set(product, pages);
  return products;
}

/** Looks up the products of a list of shows together, unless they are too many. */
async function productOf(db: Database, storeId: string, figures: ProductFigures): Promise<StoredProduct | undefined> {
  const lookUp = (one: ProductFigures) => cachedWith(one, "product", () => lookUpProduct(db, storeId, one.productId));
  const pages = pagesOf.get(figures);
  if (pages === undefined) return lookUp(figures);
  await cachedWith(pages, "products", async () => {
    const products = (await Promise.all(pages)).flat();
    const count = new Set(products.map(({ productId }) => productId)).size;
    if (count <= productsAtOnceMax) for (const product of products) void lookUp(product);
  });
  return lookUp(figures);
}
