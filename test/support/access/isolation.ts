/** Figures that a store reads over all of its shows, as a test of sums asks for them. */
export const readPerformance = `{
  productPerformance(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") { nodes { productId } totalCount }
}`;

export const listShowsBySales = `query ($after: String) { liveStreams(after: $after, orderBy: SALES) { nodes { id } totalCount } }`;

export const readStore = `{
  storeAnalytics(from: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z") { showCount topShows { id } timeline { orders } }
}`;
