/** Operations that a store sends, whose answers another store must not change. */
export const listShows = `query ($after: String, $status: LiveStreamStatus, $first: Int) {
  liveStreams(after: $after, status: $status, first: $first) {
    nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

export const readStore = `{
  storeAnalytics(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") { showCount topShows { id } timeline { orders } }
}`;
