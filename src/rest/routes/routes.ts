import type { FieldsByType, RestRoute } from "./route.js";
import { contractRoutes, documentedFields } from "./routes.contract.js";

const showFields = ["id", "name", "status", "startedAt", "endedAt", "durationSeconds", "host"];

/** All paths below /external. */
export const restRoutes: readonly RestRoute[] = [
  ...contractRoutes,
  {
    root: "Query",
    operation: "liveStreams",
    operationId: "listLiveStreams",
    method: "GET",
    path: "/analytics/v1/live-streams",
    summary: "List live streams",
    tag: "Live streams",
    errors: ["VALIDATION_FAILED", "RATE_LIMITED"],
  },
  {
    root: "Mutation",
    operation: "saveLiveStream",
    operationId: "saveLiveStream",
    method: "PUT",
    path: "/analytics/v1/live-streams/:lsId",
    summary: "Create or change a live stream",
    tag: "Live streams",
    pathField: { parameter: "lsId", member: "liveStream", field: "id" },
    errors: ["VALIDATION_FAILED"],
  },
  {
    root: "Mutation",
    operation: "recordShopperEvents",
    operationId: "recordShopperEvents",
    method: "POST",
    path: "/analytics/v1/live-streams/:lsId/events",
    summary: "Record shopper events",
    tag: "Live streams",
    batches: { mediaTypes: ["application/x-ndjson", "application/ndjson"], argument: "events" },
    errors: ["VALIDATION_FAILED", "LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStream",
    operationId: "getLiveStream",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId/show",
    summary: "Retrieve a live stream",
    tag: "Live streams",
    errors: ["VALIDATION_FAILED", "LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    operationId: "getLiveStreamKpis",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId/kpis",
    summary: "All KPIs of a live stream",
    tag: "Analytics",
    fields: { LiveStreamAnalytics: [...showFields, "kpis", "peakConcurrentViewers", "devicesByChannel"] },
    errors: ["VALIDATION_FAILED", "LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    operationId: "getLiveStreamTimeline",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId/timeline",
    summary: "Timeline of a live stream",
    tag: "Analytics",
    fields: { LiveStreamAnalytics: ["timeline"] },
    errors: ["VALIDATION_FAILED", "LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    operationId: "getLiveStreamTopProducts",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId/top-products",
    summary: "Top products of a live stream",
    tag: "Analytics",
    fields: { LiveStreamAnalytics: ["topProducts"] },
    errors: ["VALIDATION_FAILED", "LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "storeAnalytics",
    operationId: "getStoreAnalytics",
    method: "GET",
    path: "/analytics/v1/store",
    summary: "Figures over all live streams",
    tag: "Analytics",
    fields: {
      "StoreAnalytics.topShows": [...showFields, "kpis"],
      // Without devices, which would make 100 shows cost more than an operation may.
      "LiveStreamAnalytics.kpis": [
        "sales",
        "orders",
        "viewers",
        "addToCart",
        "avgViewTime",
        "conversionRate",
        "refunds",
        "netSales",
        "averageOrderValue",
      ],
    },
    errors: ["VALIDATION_FAILED"],
  },
  {
    root: "Query",
    operation: "productPerformance",
    operationId: "listProductPerformance",
    method: "GET",
    path: "/analytics/v1/products",
    summary: "Products by their performance",
    tag: "Analytics",
    errors: ["VALIDATION_FAILED"],
  },
  {
    root: "Query",
    operation: "products",
    operationId: "listProducts",
    method: "GET",
    path: "/product/v1",
    summary: "List products",
    tag: "Products",
    errors: ["VALIDATION_FAILED", "SITE_NOT_FOUND", "RESPONSE_TOO_LARGE"],
  },
  {
    root: "Query",
    operation: "store",
    operationId: "getStore",
    method: "GET",
    path: "/store/v1",
    summary: "The store of the access token",
    tag: "Store",
    errors: ["VALIDATION_FAILED"],
  },
];

const connectionFields = ["nodes", "pageInfo", "totalCount", "totalCountIsExact"];

/** The fields that answers of any path have of these types. KPIs are read by paths of their own, since they count as analytics reads. */
const restFields: FieldsByType = {
  LiveStream: showFields,
  LiveStreamConnection: connectionFields,
  ProductConnection: connectionFields,
  ProductPerformanceConnection: connectionFields,
  PageInfo: ["hasNextPage", "endCursor"],
};

/** The fields that answers of a path have, of types of which they do not have all. */
export function fieldsOf({ inContract = false, fields }: RestRoute): FieldsByType {
  return { ...restFields, ...(inContract && documentedFields), ...fields };
}
