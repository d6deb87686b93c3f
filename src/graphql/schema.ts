import "./scalars.js";
import "../catalog/product.schema.js";
import "../analytics/liveStream.schema.js";
import "../analytics/events.schema.js";
import "../analytics/kpis.schema.js";
import { builder } from "./builder.js";
import { guardFields } from "./guardFields.js";

/** The schema: the one source of both styles. In the order of its definition, not of the alphabet. */
export const schema = guardFields(builder.toSchema({ sortSchema: false }));
