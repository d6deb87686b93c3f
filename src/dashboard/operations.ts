import type { graphql as typed } from "../generated/dashboard/gql.js";
import type { ShowSubscription, ShowsQuery } from "../generated/dashboard/graphql.js";

/** Marks an operation for GraphQL Code Generator, which finds it by this name and types it. At run time it is the text. */
const graphql = ((operation: string) => operation) as unknown as typeof typed;

/** A page of the store's shows, newest first. */
export const showsQuery = graphql(`
  query Shows($first: Int, $after: String, $status: LiveStreamStatus) {
    liveStreams(first: $first, after: $after, status: $status) {
      nodes {
        id
        name
        status
        startedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** The times of a show, from which the bucket size of its time line follows. */
export const showTimesQuery = graphql(`
  query ShowTimes($lsId: String!) {
    liveStream(lsId: $lsId) {
      status
      startedAt
      endedAt
    }
  }
`);

/** All that the page shows of one show: its current state, and then every change. */
export const showSubscription = graphql(`
  subscription Show($lsId: String!, $bucketSeconds: Int!, $from: DateTime, $until: DateTime) {
    liveStreamAnalytics(lsId: $lsId) {
      name
      status
      startedAt
      endedAt
      host {
        name
      }
      kpis {
        sales {
          live
          replay
          referral
          total
        }
        orders {
          live
          replay
          referral
          total
        }
        viewers {
          live
          replay
          total
          unique
        }
        addToCart {
          live
          replay
          avg
        }
        avgViewTime {
          live
          replay
          avg
        }
        devices {
          device
          value
        }
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
        product {
          title
        }
      }
    }
  }
`);

export type ShowSummary = ShowsQuery["liveStreams"]["nodes"][number];
export type ShowAnalytics = ShowSubscription["liveStreamAnalytics"];
export type Kpis = ShowAnalytics["kpis"];
export type TimelineBucket = ShowAnalytics["timeline"][number];
