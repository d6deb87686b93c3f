import type { ShowSubscription, ShowsQuery } from "../../generated/dashboard/graphql.js";
import { asQuery, typedGraphql, withFragments } from "./typed.js";

export const storeQuery = typedGraphql(`
  query Store {
    store { name scopes timeZone }
  }
`);

export const showsQuery = typedGraphql(`
  query Shows($first: Int, $after: String, $status: LiveStreamStatus, $search: String) {
    liveStreams(first: $first, after: $after, status: $status, search: $search) {
      totalCount
      nodes { id name status startedAt }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A show as in the list, with its times, which determine the bucket size of its timeline. */
export const showTimesQuery = typedGraphql(`
  query ShowTimes($lsId: String!) {
    liveStream(lsId: $lsId) { id name status startedAt endedAt }
  }
`);

/** Everything that saving a show replaces. */
export const savedShowQuery = typedGraphql(`
  query SavedShow($lsId: String!) {
    liveStream(lsId: $lsId) { id name status startedAt host { name email } }
  }
`);

export const saveShowMutation = typedGraphql(`
  mutation SaveShow($liveStream: LiveStreamInput!) {
    saveLiveStream(liveStream: $liveStream) { id }
  }
`);

const figures = typedGraphql(`
  fragment Figures on LiveStreamAnalytics {
    name status startedAt endedAt durationSeconds
    host { name }
    kpis {
      sales { live replay referral total currency }
      refunds { total }
      netSales { total }
      orders { live replay referral total }
      viewers { live replay total unique }
      addToCart { live replay avg }
      avgViewTime { live replay avg }
      devices { device value }
      conversionRate
      averageOrderValue
      buyers { unique }
      buyerRate { total }
      engagedViewers { unique }
    }
    peakConcurrentViewers
    watchingNow
    timeline(bucketSeconds: $bucketSeconds, from: $from, until: $until) { startsAt viewers carts orders sales }
    beforeStart: timeline(bucketSeconds: 86400, until: $startMinute) { viewers carts orders }
    topProducts(first: 10, by: $by) {
      productId carts orders sales
      product @include(if: $withCatalog) { title featured_image }
    }
    moments(kind: PIN, first: 2000) {
      id startedAt endedAt title productId
      product @include(if: $withCatalog) { title }
    }
  }
`);

export const showSubscription = withFragments(
  typedGraphql(`
    subscription Show(
      $lsId: String!
      $bucketSeconds: Int!
      $from: DateTime
      $until: DateTime
      $startMinute: DateTime!
      $by: TopProductOrder!
      $withCatalog: Boolean!
    ) {
      liveStreamAnalytics(lsId: $lsId) { ...Figures }
    }
  `),
  figures,
);

export const showQuery = asQuery(showSubscription);

/** The figures by which the products of a show can be ordered. */
export type TopProductFigure = "sales" | "orders" | "carts";

export type ShowSummary = NonNullable<ShowsQuery["liveStreams"]>["nodes"][number];
export type ShowAnalytics = ShowSubscription["liveStreamAnalytics"];
export type Kpis = ShowAnalytics["kpis"];
export type Pin = ShowAnalytics["moments"][number];
export type TimelineBucket = ShowAnalytics["timeline"][number];
