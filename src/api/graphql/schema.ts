import "../../stores/store.schema.js";
import "../../catalog/product/product.schema.js";
import "../../catalog/product/list/product.list.schema.js";
import "../../shows/liveStream.schema.js";
import "../../shows/liveStream.list.schema.js";
import "../../shows/moments/moments.schema.js";
import "../../events/events.schema.js";
import "../../orders/attribution.schema.js";
import "../../orders/orderOperations.schema.js";
import "../../orders/unattributed.schema.js";
import "../../figures/show/liveStreamAnalytics.schema.js";
import "../../figures/intervals/intervals.schema.js";
import "../../figures/store/productPerformance.schema.js";
import "../../figures/store/showKpis.schema.js";
import "../../figures/store/storeAnalytics.schema.js";
import { builder } from "../../schema/builder.js";
import { guardFields, guardScopes } from "../execution/guardScopes.js";

export const schema = guardScopes(guardFields(builder.toSchema({ sortSchema: false })));
