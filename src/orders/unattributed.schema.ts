import { asWideRead } from "../database/shares/forStore.js";
import { builder } from "../schema/builder.js";
import { StoreAnalytics } from "../figures/store/storeAnalytics.schema.js";
import { cachedWith } from "../lib/cached.js";
import { type AttributionState, attributionState } from "./attribution/recount.js";
import { readUnattributed, type Unattributed } from "./state/order.read.js";
import { AttributionRule } from "./orderType.schema.js";

const UnattributedRef = builder.objectRef<Unattributed>("UnattributedOrders").implement({
  description: "The parts of orders that count for no show.",
  fields: (t) => ({
    orders: t.exposeInt("orders", { description: "Orders of which nothing counts for a show." }),
    sales: t.exposeFloat("sales", { description: "Amounts that count for no show, in the currency of the store." }),
    refunds: t.exposeFloat("refunds", { description: "Refunds of these amounts." }),
  }),
});

builder.objectField(StoreAnalytics, "unattributed", (t) =>
  t.field({
    type: UnattributedRef,
    description: "The orders placed in this time that count for no show.",
    resolve: (analytics, _, { db }) => {
      const { storeId, range } = analytics;
      const read = () => asWideRead(db, storeId, () => readUnattributed(db, storeId, range.from, range.until));
      return cachedWith(analytics, "unattributed", read);
    },
  }),
);

const RecountRef = builder.objectRef<NonNullable<AttributionState["recount"]>>("AttributionRecount").implement({
  description: "How far a changed rule has been applied to orders: the latest first, each as a whole.",
  fields: (t) => ({
    orders: t.exposeInt("orders", { description: "Orders that existed when the rule was changed." }),
    done: t.exposeInt("done", { description: "How many of them already count by it." }),
  }),
});

const AttributionRef = builder.objectRef<AttributionState>("Attribution").implement({
  description: "The rule by which orders count for shows.",
  fields: (t) => ({
    rule: t.field({ type: AttributionRule, description: "The rule.", resolve: ({ rule }) => rule }),
    windowHours: t.exposeInt("windowHours", { description: "How many hours before an order an event may count." }),
    recount: t.field({
      type: RecountRef,
      nullable: true,
      description: "Null unless a changed rule is being applied to orders.",
      resolve: ({ recount }) => recount,
    }),
  }),
});

builder.objectField(StoreAnalytics, "attribution", (t) =>
  t.field({
    type: AttributionRef,
    description: "The rule by which orders count for shows (`vitrine attribution set`).",
    resolve: (analytics, _, { db }) =>
      cachedWith(analytics, "attribution", () => attributionState(db, analytics.storeId)),
  }),
);
