import type { ShowOfRange } from "../queries/store.js";
import { shownAt } from "../timeZone.js";
import type { Grouping } from "./view.js";

/** Shows that share a host, a weekday or an hour. */
export interface ShowGroup {
  /** The name of the host (empty without one), the weekday from 0 for Monday, or the hour from 0. */
  readonly key: string | number;
  readonly shows: number;
  readonly netSales: number;
  readonly orders: number;
  readonly viewers: number;
}

/** Groups of shows: hosts by their net sales, the highest first; weekdays and hours in their order. */
export function groupsOf(shows: readonly ShowOfRange[], by: Grouping): ShowGroup[] {
  const groups = new Map<ShowGroup["key"], ShowGroup>();
  for (const show of shows) {
    const key = keyOf(show, by);
    const known = groups.get(key) ?? { key, shows: 0, netSales: 0, orders: 0, viewers: 0 };
    groups.set(key, {
      key,
      shows: known.shows + 1,
      netSales: known.netSales + (show.kpis?.netSales.total ?? 0),
      orders: known.orders + (show.kpis?.orders.total ?? 0),
      viewers: known.viewers + (show.kpis?.viewers.total ?? 0),
    });
  }
  const order = (one: ShowGroup, other: ShowGroup) =>
    by === "host" ? other.netSales - one.netSales : Number(one.key) - Number(other.key);
  return [...groups.values()].toSorted(order);
}

function keyOf({ startedAt, host }: ShowOfRange, by: Grouping): ShowGroup["key"] {
  if (by === "host") return host?.name ?? "";
  const shown = new Date(shownAt(Date.parse(startedAt)));
  return by === "weekday" ? (shown.getUTCDay() + 6) % 7 : shown.getUTCHours();
}
