import { query, readStore } from "../connection/api.js";
import { asFailure } from "../connection/failure.js";
import {
  bestProductsQuery,
  comparisonQuery,
  hostsQuery,
  type ShowOfRange,
  showsOfRangeQuery,
  showTableQuery,
  storeFiguresQuery,
  totalsQuery,
} from "../queries/store.js";
import { boundsBefore, boundsOf, type Range } from "../overview/range.js";
import type { OverviewState } from "../overview/view.js";
import { usePolled } from "./usePolled.js";

export const pageSize = 20;

/** The API's name for the order by a column. */
const orderOf = <Column extends string>(column: Column) => column.toUpperCase() as Uppercase<Column>;

export function useOverview(token: string, state: OverviewState) {
  return {
    totals: useStoreFigures(token, state.range),
    table: useShowTable(token, state),
    best: useBestProducts(token, state),
    shows: useShowsOfRange(token, state.range),
  };
}

/** The figures of a range. It ends now or with its last day. */
function useStoreFigures(token: string, range: Range) {
  return usePolled(
    async (signal) => {
      await readStore({ token, signal });
      const bounds = boundsOf(range);
      const before = boundsBefore(range, bounds);
      const askBefore = before && query(totalsQuery, { ...before, timeZone: bounds.timeZone }, { token, signal });
      const [now, own] = await Promise.all([query(storeFiguresQuery, bounds, { token, signal }), askBefore]);
      const figures = present(now.storeAnalytics);
      const previous = own === undefined ? figures.previous : present(own.storeAnalytics);
      return { figures: { ...figures, previous }, bucket: bounds.bucket };
    },
    JSON.stringify([token, range]),
  );
}

/** Reads a page of the table, and returns which one it is, because the user may have chosen another since. */
function useShowTable(token: string, { range, order, isAscending, search, after, page }: OverviewState) {
  return usePolled(
    async (signal) => {
      await readStore({ token, signal });
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

const pagesMax = 5;
const showsPerPage = 100;
const showsRefreshMs = 300_000;

/** The latest shows of a range, at most 500, and its hosts. Reads them less often than the rest, because each page is an analytics read. */
function useShowsOfRange(token: string, range: Range) {
  return usePolled(
    async (signal) => {
      await readStore({ token, signal });
      const bounds = boundsOf(range);
      const { from, until } = bounds;
      const shows: ShowOfRange[] = [];
      let after: string | null | undefined;
      for (let page = 0; page < pagesMax && after !== null; page += 1) {
        const variables = { first: showsPerPage, after, from, until };
        const { liveStreams } = await query(showsOfRangeQuery, variables, { token, signal });
        const { nodes, pageInfo } = present(liveStreams);
        shows.push(...nodes);
        after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
      }
      const { storeAnalytics } = await query(hostsQuery, { from, until }, { token, signal });
      return { shows, bounds, isCut: after !== null, hosts: present(storeAnalytics).hosts };
    },
    JSON.stringify([token, range]),
    showsRefreshMs,
  );
}

function useBestProducts(token: string, { range, products }: OverviewState) {
  return usePolled(
    async (signal) => {
      const withCatalog = await mayReadCatalog({ token, signal });
      const { from, until } = boundsOf(range);
      const variables = { from, until, orderBy: orderOf(products), withCatalog };
      const { productPerformance } = await query(bestProductsQuery, variables, { token, signal });
      return { products: present(productPerformance).nodes, withCatalog };
    },
    JSON.stringify([token, range, products]),
  );
}

/** Two shows and what the token allows. */
export function useComparison(token: string, [one, other]: readonly [string, string]) {
  return usePolled(
    async (signal) => {
      const withCatalog = await mayReadCatalog({ token, signal });
      const both = await query(comparisonQuery, { one, other, withCatalog }, { token, signal });
      return { shows: [present(both.one), present(both.other)] as const, withCatalog };
    },
    JSON.stringify([token, one, other]),
  );
}

async function mayReadCatalog(caller: Parameters<typeof readStore>[0]): Promise<boolean> {
  return (await readStore(caller)).scopes.includes("catalog:read");
}

/** Asserts that a field is not null: if it were, the query would have thrown its error. */
function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw asFailure(undefined);
  return value;
}
