import type { ErrorCode } from "../errors.js";

/** A documented REST path, and the operation of the schema that serves it. */
export interface RestRoute {
  readonly root: "Query" | "Mutation";
  readonly operation: string;
  /** The name of its function in generated clients: it must not change. */
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Parameters are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "Products" | "Analytics" | "Live streams";
  readonly errors: readonly ErrorCode[];
  /** The media types of bodies that are a file, and the argument in whose place the file is. Others are in the query string. */
  readonly upload?: {
    readonly mediaTypes: readonly string[];
    readonly argument: string;
    readonly placeholder: unknown;
    /** Parameters of the query string about how the file is read, which are no arguments of the operation. */
    readonly readingOptions?: readonly string[];
  };
  /** The field of a body's member whose value is in the path, and must not be in the body. */
  readonly pathField?: { readonly parameter: string; readonly member: string; readonly field: string };
  /** The media types of bodies that are items of a list argument, one on each line: they are executed in batches, as they arrive. */
  readonly batches?: { readonly mediaTypes: readonly string[]; readonly argument: string };
  /** Fields of the answer that are omitted unless an argument has this value. */
  readonly shownOnDemand?: readonly OnDemand[];
}

interface OnDemand {
  readonly fields: readonly string[];
  readonly argument: string;
  readonly value: unknown;
}

export const restBase = "/external";

const importErrors: readonly ErrorCode[] = [
  "VALIDATION_FAILED",
  "SITE_NOT_FOUND",
  "TOO_MANY_DELETIONS",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_KEY_IN_USE",
];

/** How a file is read (docs/formats.md). */
const fileOptions = ["format", "urlTemplate", "delimiter", "encoding"];

const importDetails: readonly OnDemand[] = [
  { fields: ["failed", "failures"], argument: "errorPolicy", value: "REJECT_FAILED" },
  { fields: ["deleted"], argument: "mode", value: "REPLACE" },
];

/** All paths below /external. */
export const restRoutes: readonly RestRoute[] = [
  {
    root: "Mutation",
    operation: "importProducts",
    operationId: "importProducts",
    method: "POST",
    path: "/product/v1/bulk",
    summary: "Bulk product import",
    tag: "Products",
    upload: { mediaTypes: ["application/x-ndjson", "application/ndjson"], argument: "products", placeholder: [] },
    errors: importErrors,
    shownOnDemand: importDetails,
  },
  {
    root: "Mutation",
    operation: "importProductsCsv",
    operationId: "importProductsCsv",
    method: "POST",
    path: "/product/v1/bulk/csv",
    summary: "Bulk product import from CSV",
    tag: "Products",
    upload: { mediaTypes: ["text/csv"], argument: "csvContent", placeholder: "", readingOptions: fileOptions },
    errors: importErrors,
    shownOnDemand: importDetails,
  },
  {
    root: "Mutation",
    operation: "importProduct",
    operationId: "importProduct",
    method: "POST",
    path: "/product/v1",
    summary: "Single product import",
    tag: "Products",
    errors: importErrors,
    shownOnDemand: importDetails,
  },
  {
    root: "Query",
    operation: "product",
    operationId: "getProduct",
    method: "GET",
    path: "/product/v1/:productId",
    summary: "Retrieve product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
  },
  {
    root: "Mutation",
    operation: "deleteProduct",
    operationId: "deleteProduct",
    method: "DELETE",
    path: "/product/v1/:productId",
    summary: "Delete product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    operationId: "getLiveStreamAnalytics",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId",
    summary: "Live shopping performance",
    tag: "Analytics",
    errors: ["LIVE_STREAM_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreams",
    operationId: "listLiveStreams",
    method: "GET",
    path: "/analytics/v1/live-streams",
    summary: "List live streams",
    tag: "Live streams",
    errors: ["VALIDATION_FAILED"],
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
];

export function takesBody({ method }: Pick<RestRoute, "method">): boolean {
  return method === "POST" || method === "PUT";
}

/** The fields of types that have fewer in REST than in GraphQL, in the documented order. */
export const documentedFields: Readonly<Record<string, readonly string[]>> = {
  Product: ["id", "sku", "title", "featured_image", "url"],
  LiveStream: ["id", "name", "status", "startedAt", "endedAt", "durationSeconds", "host"],
  LiveStreamAnalytics: ["id", "name", "startedAt", "endedAt", "durationSeconds", "host", "kpis"],
  Kpis: ["sales", "orders", "viewers", "addToCart", "avgViewTime", "devices"],
  ChannelTotals: ["live", "replay", "total"],
  ChannelCounts: ["live", "replay", "total"],
  ViewerTotals: ["live", "replay", "total"],
  LiveStreamConnection: ["nodes", "pageInfo", "totalCount"],
  PageInfo: ["hasNextPage", "endCursor"],
  ProductDeletion: ["message"],
};
