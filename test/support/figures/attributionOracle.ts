/**
 * Which show an order counts for, worked out from the written rules in the plainest way: no SQL, nothing from src. Amounts are whole
 * cents.
 */
import type { SentEvent } from "../oracle.js";
import type { SentOrder } from "./orders.js";

export interface KnownShow {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly events: readonly SentEvent[];
}

export interface Rule {
  readonly rule: "AS_SENT" | "LAST_SHOW" | "CART";
  readonly windowHours: number;
}

/** What counts for a show and a channel, or, under the key of the empty text, for none. */
export type Counts = Map<string, { orders: number; sales: number; refunds: number }>;

const cents = (amount: number): number => Math.round(amount * 100);
const timeOf = ({ occurredAt }: SentEvent): number => Date.parse(occurredAt ?? "");

/** @param states all states of each order, in the order in which they were sent @param claims the first claim of each order */
export function attributed(
  shows: readonly KnownShow[],
  states: ReadonlyMap<string, readonly SentOrder[]>,
  claims: ReadonlyMap<string, string>,
  { rule, windowHours }: Rule,
): Counts {
  const counts: Counts = new Map();
  for (const [id, sent] of states) {
    const newest = sent.at(-1);
    if (newest === undefined) continue;
    const gross = Math.max(...sent.map(({ amount }) => cents(amount)));
    const given = (newest.refunds ?? []).reduce((sum, refund) => sum + cents(refund.amount), 0);
    const net = cents(newest.amount) - given;
    const viewer = sent.findLast(({ viewerId }) => viewerId !== undefined)?.viewerId ?? claims.get(id);
    const placedAt = Date.parse(newest.placedAt);
    const within = (event: SentEvent) =>
      timeOf(event) <= placedAt && timeOf(event) >= placedAt - windowHours * 3_600_000;
    const last = (isMeant: (event: SentEvent) => boolean) =>
      lastOf(shows, (event) => event.viewerId === viewer && within(event) && isMeant(event));
    const [sales, refunds] = [new Map<string, number>(), gross - net];
    if (rule === "CART") {
      let rest = gross;
      for (const { productId, amount } of newest.lines ?? []) {
        const key =
          viewer === undefined
            ? ""
            : last(({ type, productId: carted }) => type === "ADD_TO_CART" && carted === productId);
        if (key === "") continue;
        sales.set(key, (sales.get(key) ?? 0) + cents(amount));
        rest -= cents(amount);
      }
      if (rest > 0 || sales.size === 0) sales.set("", rest);
    } else {
      const named = sent.findLast(({ lsId }) => lsId !== undefined);
      const asSent = named === undefined ? "" : `${named.lsId} ${named.channel}`;
      const watched = viewer === undefined ? "" : last(({ type, seconds }) => type === "VIEW" && (seconds ?? 0) >= 3);
      sales.set(rule === "AS_SENT" ? asSent : watched, gross);
    }
    for (const [key, amount] of sales) {
      const count = counts.get(key) ?? { orders: 0, sales: 0, refunds: 0 };
      count.orders += Number(key !== "" || sales.size === 1);
      count.sales += amount;
      // How refunds are divided over several parts is not said; all of them together are.
      count.refunds += sales.size === 1 ? refunds : 0;
      counts.set(key, count);
    }
  }
  return counts;
}

/** The show and channel of the last such event; the empty text where there is none. */
function lastOf(shows: readonly KnownShow[], isMeant: (event: SentEvent) => boolean): string {
  const found = shows
    .flatMap((show) => show.events.filter(isMeant).map((event) => ({ show, at: timeOf(event) })))
    .toSorted((a, b) => b.at - a.at || b.show.startedAt - a.show.startedAt || (a.show.id < b.show.id ? -1 : 1));
  const [last] = found;
  if (last === undefined) return "";
  const { show, at } = last;
  return `${show.id} ${show.startedAt <= at && at < show.endedAt ? "LIVE" : "REPLAY"}`;
}
