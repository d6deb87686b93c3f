import type { ErrorCode } from "../errors.js";

/** A documented REST path, and the operation of the schema that serves it. */
export interface RestRoute {
  readonly root: "Query" | "Mutation";
  readonly operation: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Parameters are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "Products" | "Analytics";
  readonly errors: readonly ErrorCode[];
  /** Fields of the answer that are omitted unless an argument has this value. */
  readonly shownOnDemand?: { readonly fields: readonly string[]; readonly argument: string; readonly value: unknown };
}

export const restBase = "/external";

const importErrors: readonly ErrorCode[] = [
  "VALIDATION_FAILED",
  "SITE_NOT_FOUND",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_KEY_IN_USE",
];

const importFailures = { fields: ["failed", "failures"], argument: "errorPolicy", value: "REJECT_FAILED" };

/** All paths below /external. */
export const restRoutes: readonly RestRoute[] = [
  {
    root: "Mutation",
    operation: "importProducts",
    method: "POST",
    path: "/product/v1/bulk",
    summary: "Bulk product import",
    tag: "Products",
    errors: importErrors,
    shownOnDemand: importFailures,
  },
  {
    root: "Mutation",
    operation: "importProductsCsv",
    method: "POST",
    path: "/product/v1/bulk/csv",
    summary: "Bulk product import from CSV",
    tag: "Products",
    errors: importErrors,
    shownOnDemand: importFailures,
  },
  {
    root: "Mutation",
    operation: "importProduct",
    method: "POST",
    path: "/product/v1",
    summary: "Single product import",
    tag: "Products",
    errors: importErrors,
    shownOnDemand: importFailures,
  },
  {
    root: "Query",
    operation: "product",
    method: "GET",
    path: "/product/v1/:productId",
    summary: "Retrieve product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
  },
  {
    root: "Mutation",
    operation: "deleteProduct",
    method: "DELETE",
    path: "/product/v1/:productId",
    summary: "Delete product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId",
    summary: "Live shopping performance",
    tag: "Analytics",
    errors: ["LIVE_STREAM_NOT_FOUND"],
  },
];

/** The fields of types that have fewer in REST than in GraphQL, in the documented order. */
export const documentedFields: Readonly<Record<string, readonly string[]>> = {
  Product: ["id", "sku", "title", "featured_image", "url"],
  LiveStreamAnalytics: ["id", "name", "startedAt", "endedAt", "durationSeconds", "host", "kpis"],
  Kpis: ["sales", "orders", "viewers", "addToCart", "avgViewTime", "devices"],
  ChannelTotals: ["live", "replay", "total"],
  ViewerTotals: ["live", "replay", "total"],
};
