import type { IntervalsSubscription } from "../../generated/dashboard/graphql.js";
import { asQuery, typedGraphql, withFragments } from "./typed.js";

const parts = typedGraphql(`
  fragment IntervalParts on IntervalFigures {
    seconds sales netSales orders addToCart averageViewers peakViewers newViewers isExact
  }
`);

/** The figures of a pin and of two intervals, each only if it is wanted, so that a page needs one stream for them. */
export const intervalsSubscription = withFragments(
  typedGraphql(`
    subscription Intervals(
      $lsId: String!, $pin: String!, $withPin: Boolean!
      $from: DateTime!, $until: DateTime!, $withOne: Boolean!
      $otherFrom: DateTime!, $otherUntil: DateTime!, $withOther: Boolean!
    ) {
      liveStreamAnalytics(lsId: $lsId) {
        moments(id: $pin, first: 1) @include(if: $withPin) {
          figures { ...IntervalParts ofProduct { sales orders ordersWithin(minutes: 30) } }
        }
        one: between(from: $from, until: $until) @include(if: $withOne) { ...IntervalParts }
        other: between(from: $otherFrom, until: $otherUntil) @include(if: $withOther) { ...IntervalParts }
      }
    }
  `),
  parts,
);

export const intervalsQuery = asQuery(intervalsSubscription);

export type IntervalAnalytics = IntervalsSubscription["liveStreamAnalytics"];
export type PinFigures = NonNullable<IntervalAnalytics["moments"]>[number]["figures"];
export type IntervalFigures = NonNullable<IntervalAnalytics["one"]>;
