import { builder } from "../../schema/builder.js";
import { rateLimitedByRoot } from "../../schema/rateLimit.js";
import { Kpis } from "../kpis/kpis.schema.js";
import { lookUpKpis } from "./showKpis.js";

builder.prismaObjectField("LiveStream", "kpis", (t) =>
  t.field({
    authScopes: { "analytics:read": true },
    type: Kpis,
    nullable: true,
    description: "Its key figures. Those of a page of shows count as one analytics read; null over the limit.",
    resolve: rateLimitedByRoot("analytics", ({ id }, _, { db, identity }) => lookUpKpis(db, identity.storeId, id)),
  }),
);
