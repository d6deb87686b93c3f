import { builder } from "../schema/builder.js";
import { asWideRead } from "../database/shares/forStore.js";
import { sharedRead } from "../schema/limits/sharedReads.js";
import { AttributedShow, AttributionRule } from "./orderType.schema.js";
import { type AttributionChange, type AttributionPreview, previewAttribution } from "./attribution/preview.js";
import { requireWindow } from "./attribution/settings.js";

const changesMax = 100;

const SumsRef = builder.objectRef<AttributionChange["before"]>("AttributedSums").implement({
  description: "The orders of the shop that count for a show, or for none.",
  fields: (t) => ({
    orders: t.exposeInt("orders", { description: "How many." }),
    sales: t.exposeFloat("sales", { description: "What was paid, in the currency of the store." }),
    refunds: t.exposeFloat("refunds", { description: "Refunds of these sales." }),
  }),
});

const ChangeRef = builder.objectRef<AttributionChange>("AttributionChange").implement({
  description: "What another rule would change in a show.",
  fields: (t) => ({
    show: t.field({
      type: AttributedShow,
      nullable: true,
      description: "Null for orders that count for no show.",
      resolve: ({ show }) => show,
    }),
    before: t.field({ type: SumsRef, description: "As it counts now.", resolve: ({ before }) => before }),
    after: t.field({ type: SumsRef, description: "As it would count.", resolve: ({ after }) => after }),
  }),
});

const PreviewRef = builder.objectRef<AttributionPreview>("AttributionPreview").implement({
  description: "What another rule would change.",
  fields: (t) => ({
    orders: t.exposeInt("orders", { description: "Orders of the store in all." }),
    previewed: t.exposeInt("previewed", { description: "How many of them were compared: the latest 100,000." }),
    changes: t.field({
      type: [ChangeRef],
      description: "At most 100 shows whose figures would change, the largest change of sales first.",
      extensions: { itemsExpected: 10 },
      resolve: ({ changes }) => changes.slice(0, changesMax),
    }),
  }),
});

builder.queryFields((t) => ({
  attributionPreview: t.field({
    extensions: { scope: "analytics:read", cost: 1_000 },
    type: PreviewRef,
    nullable: true,
    description:
      "What would change if orders counted by another rule (`vitrine attribution set` changes it). Reads the latest 100,000 orders, and counts as an analytics read.",
    args: {
      rule: t.arg({ type: AttributionRule, description: "The other rule." }),
      windowHours: t.arg.int({
        defaultValue: 168,
        required: true,
        description: "How many hours before an order an event may count: 1 to 2,160.",
      }),
    },
    resolve: sharedRead("analytics", async (_, { rule, windowHours }, { db, identity: { storeId }, access }) => {
      requireWindow(windowHours);
      const signal = access.disconnectSignal();
      return asWideRead(db, storeId, () => previewAttribution(db, storeId, { rule, windowHours }, { signal }));
    }),
  }),
}));
