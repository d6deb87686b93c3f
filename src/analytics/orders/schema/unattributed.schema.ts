import { asWideRead } from "../../../database/shares/shares.js";
import { builder } from "../../../schema/builder.js";
import { StoreAnalytics } from "../../insights/storeAnalytics.schema.js";
import { shared } from "../../kpis/shared.js";
import { readUnattributed, type Unattributed } from "../order.read.js";

const UnattributedRef = builder.objectRef<Unattributed>("UnattributedOrders").implement({
  description: "What of orders counts for no show.",
  fields: (t) => ({
    orders: t.exposeInt("orders", { description: "Orders of which nothing counts for a show." }),
    sales: t.exposeFloat("sales", { description: "Amounts that count for no show, in the currency of the store." }),
    refunds: t.exposeFloat("refunds", { description: "What was given back of these amounts." }),
  }),
});

builder.objectField(StoreAnalytics, "unattributed", (t) =>
  t.field({
    type: UnattributedRef,
    description: "The orders placed in this time that count for no show.",
    resolve: (analytics, _, { db }) => {
      const { storeId, range } = analytics;
      const read = () => asWideRead(db, storeId, () => readUnattributed(db, storeId, range.from, range.until));
      return shared(analytics, "unattributed", read);
    },
  }),
);
