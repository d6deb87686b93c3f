import type { ShowOrdersQuery } from "../../generated/dashboard/graphql.js";
import { typedGraphql } from "./typed.js";

export const showOrdersQuery = typedGraphql(`
  query ShowOrders($lsId: String!, $first: Int!) {
    orders(lsId: $lsId, first: $first) {
      totalCount
      nodes {
        id
        placedAt
        attributions { show { id } amount refunded because }
      }
    }
  }
`);

export type ShowOrder = NonNullable<ShowOrdersQuery["orders"]>["nodes"][number];
