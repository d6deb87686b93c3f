import "../access/stores/store.schema.js";
import "../catalog/product.schema.js";
import "../catalog/product.list.schema.js";
import "../catalog/product.patch.schema.js";
import "../analytics/shows/liveStream.schema.js";
import "../analytics/shows/liveStream.list.schema.js";
import "../analytics/events/events.schema.js";
import "../analytics/kpis/liveStreamAnalytics.schema.js";
import "../analytics/insights/productPerformance.schema.js";
import "../analytics/insights/showKpis.schema.js";
import "../analytics/insights/storeAnalytics.schema.js";
import { builder } from "../schema/builder.js";
import { guardFields } from "../execution/guardFields.js";
import { guardScopes } from "../execution/guardScopes.js";

export const schema = guardScopes(guardFields(builder.toSchema({ sortSchema: false })));
