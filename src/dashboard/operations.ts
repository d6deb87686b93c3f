import type { graphql as typed } from "../generated/dashboard/gql.js";
import type { ShowSubscription, ShowsQuery } from "../generated/dashboard/graphql.js";

/**
 * Marks a GraphQL operation. GraphQL Code Generator finds it by this name and gives it the types of its variables and its
 * result (`codegen.ts`); when the page runs it is the text and nothing else.
 */
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

/** When a show was, which says how fine its time line should be. */
export const showTimesQuery = graphql(`
  query ShowTimes($lsId: String!) {
    liveStream(lsId: $lsId) {
      status
      startedAt
      endedAt
    }
  }
`);

/** All that the page shows of one show: at once, and then whenever it changes. */
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
