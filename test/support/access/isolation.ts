import { expect } from "vitest";
import type { TestStore } from "../app.js";
import { ordersPath, readOrder, recordOrders, sentOrder } from "../figures/orders.js";
import { paths } from "../products.js";
import { analyticsPath } from "../shows.js";

/** A call, and a part of the answer it must get: the stranger's answer does not depend on what the owner has. */
export interface Ask {
  readonly path: string;
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly gets: string;
}

/** Operations that a store sends, whose answers another store must not change. */
export const listShows = `query ($after: String, $status: LiveStreamStatus, $first: Int) {
  liveStreams(after: $after, status: $status, first: $first) {
    nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

export const readPerformance = `{
  productPerformance(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") { nodes { productId } totalCount }
}`;

export const listShowsBySales = `query ($after: String) { liveStreams(after: $after, orderBy: SALES) { nodes { id } totalCount } }`;

export const readStore = `{
  storeAnalytics(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") { showCount topShows { id } timeline { orders } }
}`;

/** What a caller can name of a store's data. */
export interface Names {
  readonly id: string;
  readonly sku: string;
  readonly siteId: string;
  readonly lsId: string;
  readonly eventId: string;
  readonly word: string;
  readonly after: string;
  readonly showAfter: string;
}

/** Lists and figures over REST, by the names of another store; `own` is what the store itself has. */
export function readCases(own: {
  readonly id: string;
}): Readonly<Record<string, { readonly asks: (names: Names) => readonly Ask[] }>> {
  const range = "from=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z";
  const asking = (path: string, gets: string) => ({ asks: () => [{ path, gets }] });
  const ofShow = ["show", "kpis", "timeline", "top-products"].map((part) => [
    `GET /external/analytics/v1/live-streams/:lsId/${part}`,
    {
      asks: ({ lsId }: Names) => [{ path: `${analyticsPath(lsId)}/${part}`, gets: `"code":"LIVE_STREAM_NOT_FOUND"` }],
    },
  ]);
  return {
    "GET /external/product/v1": {
      asks: ({ after, word }) => [
        { path: `${paths.one}?after=${after}`, gets: `"nodes":[{"id":"${own.id}"` },
        { path: `${paths.one}?search=${word}`, gets: `"nodes":[]` },
      ],
    },
    ...(Object.fromEntries(ofShow) as ReturnType<typeof readCases>),
    "GET /external/analytics/v1/store": asking(`/external/analytics/v1/store?${range}`, `"showCount":1`),
    "GET /external/analytics/v1/products": asking(`/external/analytics/v1/products?${range}`, `"nodes":[]`),
    "GET /external/analytics/v1/orders": asking("/external/analytics/v1/orders", `"nodes":[]`),
    "GET /external/analytics/v1/attribution-preview": asking(
      "/external/analytics/v1/attribution-preview?rule=CART",
      `"orders":0`,
    ),
    "GET /external/analytics/v1/orders/:id": asking("/external/analytics/v1/orders/e2", `"code":"ORDER_NOT_FOUND"`),
    "GET /external/store/v1": asking("/external/store/v1", `"name":"Test store"`),
  };
}

export function operation(gets: string, query: string, variables: object): Ask {
  return { path: "/graphql", method: "POST", body: { query, variables }, gets };
}

const noShow = `"code":"LIVE_STREAM_NOT_FOUND"`;

export interface Case {
  readonly asks: (names: Names) => readonly Ask[];
  /** What the stranger has stored after all, beside what it had: nothing unless given. */
  readonly wrote?: (stranger: TestStore) => Promise<void>;
}

/** Orders; that of the owner has the id of an event. */
export const orderCases: Readonly<Record<string, Case>> = {
  "Query.order": { asks: () => [operation(`"code":"ORDER_NOT_FOUND"`, `{ order(id: "e2") { id } }`, {})] },
  "Query.orders": {
    asks: ({ lsId }) => [
      operation(`{"nodes":[],"totalCount":0}`, `{ orders { nodes { id } totalCount } }`, {}),
      operation(noShow, `query ($lsId: String) { orders(lsId: $lsId) { nodes { id } } }`, { lsId }),
    ],
  },
  "Query.attributionPreview": {
    asks: () => [operation(`{"orders":0}`, `{ attributionPreview(rule: LAST_SHOW) { orders } }`, {})],
  },
  "Mutation.recordOrders": {
    asks: ({ lsId, eventId }) => [
      operation(`"accepted":1`, recordOrders, { orders: [sentOrder(eventId, 7)] }),
      operation(noShow, recordOrders, { orders: [sentOrder(eventId, 7, { lsId })] }),
    ],
    wrote: async (stranger) => {
      expect(await readOrder(stranger, "e2")).toMatchObject({ amount: 7, isAttributed: false });
    },
  },
  "POST /external/analytics/v1/orders": {
    asks: ({ lsId }) => [
      {
        path: ordersPath,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: { orders: [sentOrder("e2", 7, { lsId })] },
        gets: noShow,
      },
    ],
  },
};
