import { builder } from "../schema/builder.js";
import { findStore, type StoreSummary } from "./store.js";

const Store = builder.objectRef<StoreSummary>("Store").implement({
  description: "The store of the access token.",
  fields: (t) => ({
    id: t.exposeID("store", { description: "Its id, as commands name it." }),
    name: t.exposeString("name", { description: "Its name, for people." }),
    timeZone: t.exposeString("timeZone", {
      description: "The time zone of days in its figures: an IANA name such as Europe/Berlin; UTC until it is set.",
    }),
    scopes: t.stringList({
      description: "What the access token allows: its scopes, such as analytics:read.",
      resolve: (_, _args, { identity }) => [...identity.scopes],
    }),
  }),
});

builder.queryFields((t) => ({
  store: t.field({
    extensions: { scope: "anyToken" },
    type: Store,
    description: "The store of the access token.",
    resolve: (_, _args, { db, identity }) => findStore(db, identity.storeId),
  }),
}));
