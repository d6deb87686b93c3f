import { useEffect, useState } from "preact/hooks";
import { query } from "../api.js";
import { storeQuery } from "../operations.js";
import type { StoreQuery } from "../../generated/dashboard/graphql.js";

/** The token's store, and what the token allows. Undefined until it is known; without it, the page works as well. */
export function useStore(token: string): StoreQuery["store"] | undefined {
  const [found, setFound] = useState<StoreQuery["store"]>();
  useEffect(() => {
    const leaving = new AbortController();
    const known = ({ store }: StoreQuery) => setFound(store);
    query(storeQuery, {}, { token, signal: leaving.signal }).then(known, () => undefined);
    return () => leaving.abort();
  }, [token]);
  return found;
}
