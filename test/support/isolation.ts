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
