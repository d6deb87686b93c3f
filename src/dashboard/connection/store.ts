import { storeQuery } from "../queries/show.js";
import type { StoreQuery } from "../../generated/dashboard/graphql.js";
import { setTimeZone } from "../timeZone.js";
import { type Caller, query } from "./api.js";

let known: { readonly token: string; readonly store: StoreQuery["store"] } | undefined;

/** The store of a token, asked for once: before anything is shown, since it has the time zone of all times. */
export async function readStore(caller: Caller): Promise<StoreQuery["store"]> {
  if (known?.token === caller.token) return known.store;
  const { store } = await query(storeQuery, {}, caller);
  known = { token: caller.token, store };
  setTimeZone(store.timeZone);
  return store;
}
