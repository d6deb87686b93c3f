import { type DayCount, dayCounts, type Grouping, isDay, problemOfDates, type Range } from "./range.js";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

const columns = ["started", "name", "sales", "orders", "viewers"] as const;
export type ShowColumn = (typeof columns)[number];

const productColumns = ["sales", "orders", "quantity", "carts", "shows"] as const;
export type ProductColumn = (typeof productColumns)[number];

const charts = ["sales", "orders", "carts", "netSales", "viewers"] as const;
export type ChartFigure = (typeof charts)[number];

const groupings: readonly Grouping[] = ["host", "weekday", "hour"];

export interface OverviewState {
  readonly range: Range;
  readonly chart: ChartFigure;
  readonly order: ShowColumn;
  readonly isAscending: boolean;
  /** Words of names or ids of shows; blank for all. */
  readonly search: string;
  /** The cursor after which the page of the table begins; undefined for the first. */
  readonly after: string | undefined;
  /** From 1. */
  readonly page: number;
  readonly products: ProductColumn;
  readonly by: Grouping;
  /** The shows that were picked to be compared, at most two. */
  readonly picked: readonly string[];
}

/** What the page shows. Its address contains all of it. */
export type View =
  | { readonly kind: "overview"; readonly state: OverviewState }
  | { readonly kind: "show"; readonly lsId: string }
  /** For a wall screen. Without an id, it shows the running show or, if none runs, the latest. */
  | { readonly kind: "wall"; readonly lsId: string | undefined }
  | { readonly kind: "comparison"; readonly lsIds: readonly [string, string] };

const initialDays: DayCount = 28;

export const initialState: OverviewState = {
  range: initialDays,
  chart: "sales",
  order: "started",
  isAscending: false,
  search: "",
  after: undefined,
  page: 1,
  products: "sales",
  by: "host",
  picked: [],
};

/** The view of an address. Ignores unknown parts of it. */
export function readView(query: string): View {
  const parameters = new URLSearchParams(query);
  const lsId = parameters.get("show");
  if (parameters.has("wall")) return { kind: "wall", lsId: lsId ?? undefined };
  if (lsId !== null) return { kind: "show", lsId };
  const [one, other] = parameters.getAll("compare");
  if (one !== undefined && other !== undefined) return { kind: "comparison", lsIds: [one, other] };
  return { kind: "overview", state: readState(parameters) };
}

function readState(parameters: URLSearchParams): OverviewState {
  const order = oneOf(columns, parameters.get("order")) ?? initialState.order;
  const after = parameters.get("after") ?? undefined;
  const page = Number(parameters.get("page"));
  return {
    range: readRange(parameters),
    chart: oneOf(charts, parameters.get("chart")) ?? initialState.chart,
    order,
    isAscending: isAscendingAtFirst(order) !== parameters.has("reverse"),
    search: parameters.get("search") ?? "",
    after,
    page: after !== undefined && Number.isSafeInteger(page) && page > 1 ? page : 1,
    products: oneOf(productColumns, parameters.get("products")) ?? initialState.products,
    by: oneOf(groupings, parameters.get("by")) ?? initialState.by,
    picked: [...new Set(parameters.getAll("pick"))].slice(0, 2),
  };
}

function readRange(parameters: URLSearchParams): Range {
  const [firstDay, lastDay] = [parameters.get("from") ?? "", parameters.get("until") ?? ""];
  if (isDay(firstDay) && isDay(lastDay) && problemOfDates({ firstDay, lastDay }) === undefined) {
    return { firstDay, lastDay };
  }
  if (parameters.get("days") === "month") return "month";
  const days = Number(parameters.get("days"));
  return dayCounts.find((count: DayCount) => count === days) ?? initialState.range;
}

/** The address of a view, relative to the page: `?`, followed by everything that differs from the initial view. */
export function queryOf(view: View): string {
  return `?${parametersOf(view).toString()}`;
}

function parametersOf(view: View): URLSearchParams {
  if (view.kind === "show") return new URLSearchParams({ show: view.lsId });
  if (view.kind === "wall") {
    return new URLSearchParams({ wall: "", ...(view.lsId !== undefined && { show: view.lsId }) });
  }
  if (view.kind === "comparison") return new URLSearchParams(view.lsIds.map((lsId) => ["compare", lsId]));
  const { range, chart, order, isAscending, search, after, page, products, by, picked } = view.state;
  const parameters: [string, string][] =
    typeof range !== "object"
      ? [["days", String(range)]]
      : [
          ["from", range.firstDay],
          ["until", range.lastDay],
        ];
  parameters.push(["chart", chart], ["order", order], ["search", search.trim()], ["products", products], ["by", by]);
  if (isAscending !== isAscendingAtFirst(order)) parameters.push(["reverse", "1"]);
  if (after !== undefined) parameters.push(["after", after], ["page", String(page)]);
  parameters.push(...picked.map((lsId): [string, string] => ["pick", lsId]));
  return new URLSearchParams(parameters.filter(([name, value]) => value !== "" && atFirst[name] !== value));
}

const atFirst: Readonly<Record<string, string>> = {
  days: String(initialDays),
  chart: initialState.chart,
  order: initialState.order,
  products: initialState.products,
  by: initialState.by,
};

/** Names are first sorted from A to Z, and figures from the largest. */
export function isAscendingAtFirst(column: ShowColumn): boolean {
  return column === "name";
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}

/** Whether an address is added to the history, or replaces the current one. */
export type HistoryMode = "push" | "replace";

/** Resets the address to the initial view. */
export function leaveView(): void {
  history.replaceState(null, "", location.pathname);
}

/** The view in the address; `go` changes it in place, `follow` like a link; and the overview as the user left it. */
export function useView() {
  const [view, setView] = useState(() => readView(location.search));
  const left = useRef<OverviewState>(initialState);
  if (view.kind === "overview") left.current = view.state;
  useEffect(() => {
    const read = () => setView(readView(location.search));
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  const go = useCallback((next: View, how: HistoryMode = "push") => {
    const query = queryOf(next);
    history[`${how}State`](null, "", query === "?" ? location.pathname : query);
    setView(next);
  }, []);
  const follow = useCallback((next: View) => {
    go(next);
    leaveOldView();
  }, []);
  const overview: View = { kind: "overview", state: left.current };
  return { view, go, follow, overview };
}

/** Moves the focus, because the element that had it may have disappeared with the old view. */
function leaveOldView(): void {
  const main = document.querySelector<HTMLElement>("#show");
  if (main?.contains(document.activeElement) === true) main.focus();
  scrollTo(0, 0);
}
