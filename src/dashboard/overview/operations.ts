import type { StoreFiguresQuery } from "../../generated/dashboard/graphql.js";
import { graphql, withFragment } from "./typed.js";

/** The figures of a time, and of as long a time before. */
const totals = graphql(`
  fragment Totals on StoreAnalytics {
    from
    until
    showCount
    kpis {
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
      conversionRate
      averageOrderValue
    }
  }
`);

/** What happened in a time, over all shows. */
export const storeFiguresQuery = withFragment(
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
);

export type StoreFigures = NonNullable<StoreFiguresQuery["storeAnalytics"]>;
export type Totals = StoreFigures["previous"];
