import { builder } from "../schema/builder.js";
import { findStore, type StoreSummary } from "./store.js";

const Store = builder.objectRef<StoreSummary>("Store").implement({
  description: "The store of the access token.",
  fields: (t) => ({
    id: t.exposeString("store", { description: "Its id, as commands name it." }),
    name: t.exposeString("name"),
  }),
});

builder.queryFields((t) => ({
  store: t.field({
    type: Store,
    description: "The store of the access token.",
    resolve: (_, _args, { db, identity }) => findStore(db, identity.storeId),
  }),
}));
