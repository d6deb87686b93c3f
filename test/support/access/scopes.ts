import { anyToken, type RequiredScope } from "../../../src/access/token.js";

/** What each path takes: one that is new must be added here on purpose. */
export const pathScopes: Readonly<Record<string, RequiredScope>> = {
  "POST /external/product/v1": "catalog:write",
  "POST /external/product/v1/bulk": "catalog:write",
  "GET /external/product/v1/bulk/ndjson": "catalog:read",
  "POST /external/product/v1/bulk/csv": "catalog:write",
  "GET /external/product/v1/bulk/csv": "catalog:read",
  "GET /external/product/v1/{productId}": "catalog:read",
  "DELETE /external/product/v1/{productId}": "catalog:write",
  "GET /external/analytics/v1/live-streams/{lsId}": "analytics:read",
  "GET /external/analytics/v1/live-streams": "analytics:read",
  "GET /external/product/v1": "catalog:read",
  "GET /external/analytics/v1/live-streams/{lsId}/show": "analytics:read",
  "GET /external/analytics/v1/live-streams/{lsId}/kpis": "analytics:read",
  "GET /external/analytics/v1/live-streams/{lsId}/timeline": "analytics:read",
  "GET /external/analytics/v1/live-streams/{lsId}/top-products": "analytics:read",
  "GET /external/analytics/v1/store": "analytics:read",
  "GET /external/analytics/v1/products": "analytics:read",
  "GET /external/store/v1": anyToken,
  "GET /external/analytics/v1/live-streams.csv": "analytics:read",
  "PUT /external/analytics/v1/live-streams/{lsId}": "shows:write",
  "POST /external/analytics/v1/live-streams/{lsId}/events": "events:write",
  "POST /external/analytics/v1/orders": "events:write",
  "GET /external/analytics/v1/orders": "analytics:read",
  "GET /external/analytics/v1/attribution-preview": "analytics:read",
  "GET /external/analytics/v1/orders/{id}": "analytics:read",
};
