import type {
  BestProductsQuery,
  ComparisonQuery,
  HostsQuery,
  ShowsOfRangeQuery,
  ShowTableQuery,
  StoreFiguresQuery,
} from "../../generated/dashboard/graphql.js";
import { typedGraphql, withFragments } from "./typed.js";

const keyFigures = typedGraphql(`
  fragment KeyFigures on Kpis {
    sales { total }
    netSales { total }
    refunds { total }
    orders { total }
    viewers { total }
    addToCart { avg }
    avgViewTime { avg }
  }
`);

const totals = typedGraphql(`
  fragment Totals on StoreAnalytics {
    from until showCount
    kpis { ...KeyFigures conversionRate averageOrderValue }
  }
`);

export const storeFiguresQuery = withFragments(
  typedGraphql(`
    query StoreFigures($from: DateTime!, $until: DateTime!, $timeZone: String!, $bucket: StoreBucket!) {
      storeAnalytics(from: $from, until: $until, timeZone: $timeZone) {
        currency
        ...Totals
        timeline(bucket: $bucket) { startsAt orders sales carts }
        unattributed { orders sales }
        attribution { rule recount { orders done } }
        previous { ...Totals }
      }
    }
  `),
  totals,
  keyFigures,
);

/** The figures of a time with which a range is compared, if it is not directly before it. */
export const totalsQuery = withFragments(
  typedGraphql(`
    query TotalsBefore($from: DateTime!, $until: DateTime!, $timeZone: String!) {
      storeAnalytics(from: $from, until: $until, timeZone: $timeZone) { ...Totals }
    }
  `),
  totals,
  keyFigures,
);

export const showTableQuery = withFragments(
  typedGraphql(`
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
          id name status startedAt
          kpis { ...KeyFigures sales { currency } }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  `),
  keyFigures,
);

/** The figures for groups and charts of shows. */
export const showsOfRangeQuery = typedGraphql(`
  query ShowsOfRange($first: Int!, $after: String, $from: DateTime!, $until: DateTime!) {
    liveStreams(first: $first, after: $after, from: $from, until: $until, orderBy: STARTED_AT, direction: DESC) {
      nodes {
        startedAt
        host { name }
        kpis { netSales { total } orders { total } viewers { total } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

export const bestProductsQuery = typedGraphql(`
  query BestProducts($from: DateTime!, $until: DateTime!, $orderBy: ProductPerformanceOrder!, $withCatalog: Boolean!) {
    productPerformance(from: $from, until: $until, first: 10, orderBy: $orderBy) {
      nodes {
        productId sales orders quantity carts shows
        product @include(if: $withCatalog) { title featured_image }
      }
    }
  }
`);

export const hostsQuery = typedGraphql(`
  query Hosts($from: DateTime!, $until: DateTime!) {
    storeAnalytics(from: $from, until: $until) {
      hosts(first: 10, by: SALES_PER_HOUR) {
        host { name email } hours sales orders salesPerHour netSalesPerHour ordersPerHour viewersPerHour
      }
    }
  }
`);

const compared = typedGraphql(`
  fragment Compared on LiveStreamAnalytics {
    id name status startedAt durationSeconds peakConcurrentViewers
    kpis {
      ...KeyFigures
      sales { live replay referral currency }
      viewers { live replay unique }
      conversionRate
      averageOrderValue
    }
    topProducts(first: 5, by: SALES) {
      productId sales carts
      product @include(if: $withCatalog) { title featured_image }
    }
  }
`);

export const comparisonQuery = withFragments(
  typedGraphql(`
    query Comparison($one: String!, $other: String!, $withCatalog: Boolean!) {
      one: liveStreamAnalytics(lsId: $one) { ...Compared }
      other: liveStreamAnalytics(lsId: $other) { ...Compared }
    }
  `),
  compared,
  keyFigures,
);

export type ListedShow = NonNullable<ShowTableQuery["liveStreams"]>["nodes"][number];
export type BestProduct = NonNullable<BestProductsQuery["productPerformance"]>["nodes"][number];
export type HostOfRange = NonNullable<HostsQuery["storeAnalytics"]>["hosts"][number];
export type ComparedShow = NonNullable<ComparisonQuery["one"]>;
export type ShowOfRange = NonNullable<ShowsOfRangeQuery["liveStreams"]>["nodes"][number];
export type StoreFigures = NonNullable<StoreFiguresQuery["storeAnalytics"]>;
export type Totals = StoreFigures["previous"];
