import type {
  BestProductsQuery,
  ComparisonQuery,
  ShowTableQuery,
  StoreFiguresQuery,
} from "../../generated/dashboard/graphql.js";
import { graphql, withFragments } from "./typed.js";

/** Of one show or of many. */
const keyFigures = graphql(`
  fragment KeyFigures on Kpis {
    sales {
      total
    }
    netSales {
      total
    }
    refunds {
      total
    }
    orders {
      total
    }
    viewers {
      total
    }
    addToCart {
      avg
    }
    avgViewTime {
      avg
    }
  }
`);

/** The figures of a time, and of as long a time before. */
const totals = graphql(`
  fragment Totals on StoreAnalytics {
    from
    until
    showCount
    kpis {
      ...KeyFigures
      conversionRate
      averageOrderValue
    }
  }
`);

/** What happened in a time, over all shows. */
export const storeFiguresQuery = withFragments(
  graphql(`
    query StoreFigures($from: DateTime!, $until: DateTime!, $timeZone: String!, $bucket: StoreBucket!) {
      storeAnalytics(from: $from, until: $until, timeZone: $timeZone) {
        currency
        ...Totals
        timeline(bucket: $bucket) {
          startsAt
          orders
          sales
          carts
        }
        previous {
          ...Totals
        }
      }
    }
  `),
  totals,
  keyFigures,
);

/** A page of the shows that start in a time. */
export const showTableQuery = withFragments(
  graphql(`
    query ShowTable(
      $first: Int!
      $after: String
      $search: String
      $from: DateTime!
      $until: DateTime!
      $orderBy: LiveStreamOrder!
      $direction: SortDirection!
    ) {
      liveStreams(
        first: $first
        after: $after
        search: $search
        from: $from
        until: $until
        orderBy: $orderBy
        direction: $direction
      ) {
        totalCount
        totalCountIsExact
        nodes {
          id
          name
          status
          startedAt
          kpis {
            ...KeyFigures
            sales {
              currency
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `),
  keyFigures,
);

/** The products with the most of something in a time, in all shows. */
export const bestProductsQuery = graphql(`
  query BestProducts($from: DateTime!, $until: DateTime!, $orderBy: ProductPerformanceOrder!, $withCatalog: Boolean!) {
    productPerformance(from: $from, until: $until, first: 10, orderBy: $orderBy) {
      nodes {
        productId
        sales
        orders
        quantity
        carts
        shows
        product @include(if: $withCatalog) {
          title
          featured_image
        }
      }
    }
  }
`);

const compared = graphql(`
  fragment Compared on LiveStreamAnalytics {
    id
    name
    status
    startedAt
    durationSeconds
    peakConcurrentViewers
    kpis {
      ...KeyFigures
      sales {
        live
        replay
        referral
        currency
      }
      viewers {
        live
        replay
        unique
      }
      conversionRate
      averageOrderValue
    }
    topProducts(first: 5, by: SALES) {
      productId
      sales
      carts
      product @include(if: $withCatalog) {
        title
        featured_image
      }
    }
  }
`);

/** Two shows, side by side. */
export const comparisonQuery = withFragments(
  graphql(`
    query Comparison($one: String!, $other: String!, $withCatalog: Boolean!) {
      one: liveStreamAnalytics(lsId: $one) {
        ...Compared
      }
      other: liveStreamAnalytics(lsId: $other) {
        ...Compared
      }
    }
  `),
  compared,
  keyFigures,
);

export type ListedShow = NonNullable<ShowTableQuery["liveStreams"]>["nodes"][number];
export type BestProduct = NonNullable<BestProductsQuery["productPerformance"]>["nodes"][number];
export type ComparedShow = NonNullable<ComparisonQuery["one"]>;
export type StoreFigures = NonNullable<StoreFiguresQuery["storeAnalytics"]>;
export type Totals = StoreFigures["previous"];
