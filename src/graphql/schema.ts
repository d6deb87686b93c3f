import "../catalog/product.schema.js";
import "../analytics/shows/liveStream.schema.js";
import "../analytics/events/events.schema.js";
import "../analytics/kpis/liveStreamAnalytics.schema.js";
import { builder } from "../schema/builder.js";
import { guardFields } from "../execution/guardFields.js";

/** The schema: the one source of both styles. In the order of its definition, not of the alphabet. */
export const schema = guardFields(builder.toSchema({ sortSchema: false }));
