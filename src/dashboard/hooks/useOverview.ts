import { useRef } from "preact/hooks";
import { type Caller, query } from "../connection/api.js";
import { asFailure } from "../connection/failure.js";
import { storeQuery } from "../queries/show.js";
import { bestProductsQuery, comparisonQuery, showTableQuery, storeFiguresQuery } from "../queries/store.js";
import { boundsOf, type Range } from "../overview/range.js";
import type { OverviewState } from "../overview/view.js";
import { usePolled } from "./usePolled.js";

export const pageSize = 20;

/** The order of the API that a column stands for. */
const orderOf = <Column extends string>(column: Column) => column.toUpperCase() as Uppercase<Column>;

export function useOverview(token: string, state: OverviewState) {
  return {
    totals: useStoreFigures(token, state.range),
    table: useShowTable(token, state),
    best: useBestProducts(token, state),
  };
}

/** The figures of a range, which ends now or with its last day. */
function useStoreFigures(token: string, range: Range) {
  return usePolled(
    async (signal) => {
      const bounds = boundsOf(range);
      const { storeAnalytics } = await query(storeFiguresQuery, bounds, { token, signal });
      return { figures: present(storeAnalytics), bucket: bounds.bucket };
    },
    JSON.stringify([token, range]),
  );
}

/** Reads a page of the table, and says which: another may have been asked for since. */
function useShowTable(token: string, { range, order, isAscending, search, after, page }: OverviewState) {
  return usePolled(
    async (signal) => {
      const { from, until } = boundsOf(range);
      const orderBy = order === "started" ? ("STARTED_AT" as const) : orderOf(order);
      const direction = isAscending ? ("ASC" as const) : ("DESC" as const);
      const variables = { first: pageSize, after, search: search.trim(), from, until, orderBy, direction };
      const { liveStreams } = await query(showTableQuery, variables, { token, signal });
      return { ...present(liveStreams), page, isFirst: after === undefined };
    },
    JSON.stringify([token, range, order, isAscending, search.trim(), after, page]),
  );
}

function useBestProducts(token: string, { range, products }: OverviewState) {
  const allowed = useScopes();
  return usePolled(
    async (signal) => {
      const { from, until } = boundsOf(range);
      const withCatalog = await allowed("catalog:read", { token, signal });
      const variables = { from, until, orderBy: orderOf(products), withCatalog };
      const { productPerformance } = await query(bestProductsQuery, variables, { token, signal });
      return { products: present(productPerformance).nodes, withCatalog };
    },
    JSON.stringify([token, range, products]),
  );
}

/** Two shows and what the token allows. */
export function useComparison(token: string, [one, other]: readonly [string, string]) {
  const allowed = useScopes();
  return usePolled(
    async (signal) => {
      const withCatalog = await allowed("catalog:read", { token, signal });
      const both = await query(comparisonQuery, { one, other, withCatalog }, { token, signal });
      return { shows: [present(both.one), present(both.other)] as const, withCatalog };
    },
    JSON.stringify([token, one, other]),
  );
}

/** Whether the token has a scope; asked for once. */
function useScopes() {
  const scopes = useRef<readonly string[]>(undefined);
  return async (scope: string, caller: Caller): Promise<boolean> => {
    scopes.current ??= (await query(storeQuery, {}, caller)).store.scopes;
    return scopes.current.includes(scope);
  };
}

/** A field that is null has an error, which the query has thrown. */
function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw asFailure(undefined);
  return value;
}
