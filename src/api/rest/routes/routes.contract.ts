import { exampleProduct } from "../../../files/product/product.fields.js";
import { checkProduct } from "../../../files/product/product.input.js";
import { readProduct, analyticsExample, badPrice, badUrl, csvExample, scarf } from "./exampleData.js";
import type { ErrorCode } from "../../../errors.js";
import type { FieldsByType, OnDemand, RestRoute } from "./route.js";

const importErrors: readonly ErrorCode[] = [
  "VALIDATION_FAILED",
  "SITE_NOT_FOUND",
  "TOO_MANY_DELETIONS",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_KEY_IN_USE",
];

/** How a file is read (docs/formats.md). */
const fileOptions = ["format", "urlTemplate", "delimiter", "encoding", "map", "default", "fillDown"];

const importDetails: readonly OnDemand[] = [
  { fields: ["failed", "failures"], argument: "errorPolicy", value: "REJECT_FAILED" },
  { fields: ["deleted"], argument: "mode", value: "REPLACE" },
];

/** The paths of the contract. */
export const contractRoutes: readonly RestRoute[] = [
  {
    root: "Mutation",
    operation: "importProducts",
    operationId: "importProducts",
    inContract: true,
    method: "POST",
    path: "/product/v1/bulk",
    summary: "Bulk product import",
    tag: "Products",
    upload: { mediaTypes: ["application/x-ndjson", "application/ndjson"], argument: "products", placeholder: [] },
    errors: importErrors,
    shownOnDemand: importDetails,
    example: {
      request: { products: [exampleProduct, scarf] },
      answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
      findProblems: (problems) =>
        [badPrice, badUrl].forEach((product, index) => checkProduct(product, { path: ["products", index] }, problems)),
    },
  },
  {
    root: "Mutation",
    operation: "importProductsCsv",
    operationId: "importProductsCsv",
    inContract: true,
    method: "POST",
    path: "/product/v1/bulk/csv",
    summary: "Bulk product import from CSV",
    tag: "Products",
    upload: {
      mediaTypes: ["text/csv"],
      argument: "csvContent",
      placeholder: "",
      readingOptions: fileOptions,
      repeated: ["map", "default"],
    },
    errors: importErrors,
    shownOnDemand: importDetails,
    example: {
      request: { csvContent: csvExample },
      answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
      findProblems: (problems) => void checkProduct(badPrice, { path: ["csvContent"], line: 2 }, problems),
    },
  },
  {
    root: "Mutation",
    operation: "importProduct",
    operationId: "importProduct",
    inContract: true,
    method: "POST",
    path: "/product/v1",
    summary: "Single product import",
    tag: "Products",
    errors: importErrors,
    shownOnDemand: importDetails,
    example: {
      request: { product: exampleProduct },
      answer: { message: "1 product was imported.", imported: 1, created: 1, updated: 0 },
      findProblems: (problems) => void checkProduct(badPrice, { path: ["product"] }, problems),
    },
  },
  {
    root: "Query",
    operation: "product",
    operationId: "getProduct",
    inContract: true,
    method: "GET",
    path: "/product/v1/:productId",
    summary: "Retrieve product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
    example: {
      parameters: { productId: exampleProduct.id },
      answer: readProduct,
    },
  },
  {
    root: "Mutation",
    operation: "deleteProduct",
    operationId: "deleteProduct",
    inContract: true,
    method: "DELETE",
    path: "/product/v1/:productId",
    summary: "Delete product",
    tag: "Products",
    errors: ["PRODUCT_NOT_FOUND", "SITE_NOT_FOUND"],
    example: { parameters: { productId: scarf.id }, answer: { message: `Product ${scarf.id} was deleted.` } },
  },
  {
    root: "Query",
    operation: "liveStreamAnalytics",
    operationId: "getLiveStreamAnalytics",
    inContract: true,
    method: "GET",
    path: "/analytics/v1/live-streams/:lsId",
    summary: "Live shopping performance",
    tag: "Analytics",
    errors: ["LIVE_STREAM_NOT_FOUND"],
    example: { parameters: { lsId: analyticsExample.id }, answer: analyticsExample },
  },
];

/** The fields of the contract, for types that have more, in the documented order. */
export const documentedFields: FieldsByType = {
  Product: ["id", "sku", "title", "featured_image", "url"],
  LiveStreamAnalytics: ["id", "name", "startedAt", "endedAt", "durationSeconds", "host", "kpis"],
  Kpis: ["sales", "orders", "viewers", "addToCart", "avgViewTime", "devices"],
  ChannelTotals: ["live", "replay", "total"],
  ChannelCounts: ["live", "replay", "total"],
  ViewerTotals: ["live", "replay", "total"],
  ProductDeletion: ["message"],
};
