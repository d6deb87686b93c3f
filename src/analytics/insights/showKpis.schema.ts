import { builder } from "../../schema/builder.js";
import { rateLimitedByRoot } from "../../schema/limits/rateLimit.js";
import { shared } from "../kpis/shared.js";
import { Kpis } from "../kpis/kpis.schema.js";
import { lookUpKpis } from "./showKpis.js";

builder.prismaObjectField("LiveStream", "kpis", (t) =>
  t.field({
    extensions: { scope: "analytics:read" },
    type: Kpis,
    nullable: true,
    description: "Its key figures. Those of a page of shows count as one analytics read; null over the limit.",
    resolve: rateLimitedByRoot(
      "analytics",
      (show, _, { db, identity }) => shared(show, "kpis", () => lookUpKpis(db, identity.storeId, show.id)), // lists by figures are shared too
    ),
  }),
);
