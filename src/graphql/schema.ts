import "../access/stores/store.schema.js";
import "../catalog/product/product.schema.js";
import "../catalog/product/list/product.list.schema.js";
import "../analytics/shows/liveStream.schema.js";
import "../analytics/shows/liveStream.list.schema.js";
import "../analytics/events/events.schema.js";
import "../analytics/orders/schema/attribution.schema.js";
import "../analytics/orders/schema/orders.schema.js";
import "../analytics/orders/schema/unattributed.schema.js";
import "../analytics/kpis/liveStreamAnalytics.schema.js";
import "../analytics/insights/productPerformance.schema.js";
import "../analytics/insights/showKpis.schema.js";
import "../analytics/insights/storeAnalytics.schema.js";
import "../analytics/kpis/buyers.schema.js";
import { builder } from "../schema/builder.js";
import { guardFields, guardScopes } from "../execution/guardScopes.js";

export const schema = guardScopes(guardFields(builder.toSchema({ sortSchema: false })));
