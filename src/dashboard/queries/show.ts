import type { ShowSubscription, ShowsQuery } from "../../generated/dashboard/graphql.js";
import { typedGraphql, withFragments } from "./typed.js";

export const storeQuery = typedGraphql(`
  query Store {
    store { name scopes }
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

/** A show as the list has it, its times, from which the bucket size of its timeline follows, and what the token allows. */
export const showTimesQuery = typedGraphql(`
  query ShowTimes($lsId: String!) {
    liveStream(lsId: $lsId) { id name status startedAt endedAt }
    store { scopes }
  }
`);

export const saveShowMutation = typedGraphql(`
  mutation SaveShow($liveStream: LiveStreamInput!) {
    saveLiveStream(liveStream: $liveStream) { id }
  }
`);

const figures = typedGraphql(`
  fragment Figures on LiveStreamAnalytics {
    name
    status
    startedAt
    endedAt
    durationSeconds
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
    }
    peakConcurrentViewers
    timeline(bucketSeconds: $bucketSeconds, from: $from, until: $until) {
      startsAt
      viewers
      carts
      orders
      sales
    }
    topProducts(first: 10) {
      productId
      carts
      product @include(if: $withCatalog) { title featured_image }
    }
  }
`);

export const showSubscription = withFragments(
  typedGraphql(`
    subscription Show($lsId: String!, $bucketSeconds: Int!, $from: DateTime, $until: DateTime, $withCatalog: Boolean!) {
      liveStreamAnalytics(lsId: $lsId) { ...Figures }
    }
  `),
  figures,
);

export const showQuery = withFragments(
  typedGraphql(`
    query ShowNow($lsId: String!, $bucketSeconds: Int!, $from: DateTime, $until: DateTime, $withCatalog: Boolean!) {
      liveStreamAnalytics(lsId: $lsId) { ...Figures }
    }
  `),
  figures,
);

export type ShowSummary = NonNullable<ShowsQuery["liveStreams"]>["nodes"][number];
export type ShowAnalytics = ShowSubscription["liveStreamAnalytics"];
export type Kpis = ShowAnalytics["kpis"];
export type TimelineBucket = ShowAnalytics["timeline"][number];
