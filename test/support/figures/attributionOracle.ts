/**
 * Which show an order counts for, worked out from the written rules in the plainest way: no SQL, nothing from src. Amounts are whole
 * cents.
 */
import type { SentEvent } from "../oracle.js";
import type { SentOrder } from "./orders.js";

export interface KnownShow {
  readonly id: string;
  readonly startedAt: number;
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
    const from = placedAt - windowHours * 3_600_000;
    const isOfViewer = (event: SentEvent) => viewer !== undefined && event.viewerId === viewer;
    const [sales, refunds] = [new Map<string, number>(), gross - net];
    if (rule === "CART") {
      let rest = gross;
      const lines = newest.lines ?? [];
      const amounts = lineAmounts(
        lines.map(({ amount }) => cents(amount)),
        gross,
      );
      lines.forEach(({ productId }, index) => {
        const carted = (event: SentEvent) =>
          isOfViewer(event) &&
          event.type === "ADD_TO_CART" &&
          event.productId === productId &&
          isIn(timeOf(event), from, placedAt);
        const key = lastOf(
          shows.map((show) => ({ show, events: show.events.filter(carted) })),
          placedAt,
        );
        if (key === "") return;
        sales.set(key, (sales.get(key) ?? 0) + (amounts[index] ?? 0));
        rest -= amounts[index] ?? 0;
      });
      if (rest > 0 || sales.size === 0) sales.set("", rest);
    } else {
      const named = sent.findLast(({ lsId }) => lsId !== undefined);
      const asSent = named === undefined ? "" : `${named.lsId} ${named.channel}`;
      const watched = shows.map((show) => {
        const views = show.events.filter((event) => isOfViewer(event) && event.type === "VIEW");
        const spans = views.flatMap((event) => {
          const span = spanOf(event, from, placedAt);
          return span === undefined ? [] : [{ event, span }];
        });
        const isWatched = lengthOf(spans.map(({ span }) => span)) >= 3_000;
        return { show, events: isWatched ? spans.map(({ event }) => event) : [] };
      });
      sales.set(rule === "AS_SENT" ? asSent : lastOf(watched, placedAt), gross);
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

function isIn(time: number, from: number, until: number): boolean {
  return time >= from && time <= until;
}

/** The time that a VIEW was watched, as far as it is within the window. */
function spanOf(event: SentEvent, from: number, until: number): readonly [number, number] | undefined {
  const end = timeOf(event);
  const [start, last] = [Math.max(from, end - (event.seconds ?? 0) * 1_000), Math.min(until, end)];
  return end >= from && start < last ? [start, last] : undefined;
}

/** How many milliseconds are in at least one of them. */
function lengthOf(spans: readonly (readonly [number, number])[]): number {
  const edges = [...new Set(spans.flat())].toSorted((a, b) => a - b);
  return edges.reduce((sum, edge, index) => {
    const next = edges[index + 1] ?? edge;
    return sum + (spans.some(([start, end]) => start <= edge && end >= next) ? next - edge : 0);
  }, 0);
}

/** In cents: what shops lose or gain by rounding each line is divided in proportion, the last cents to the largest remainders. */
function lineAmounts(lines: readonly number[], gross: number): readonly number[] {
  const sum = lines.reduce((all, amount) => all + amount, 0);
  if (sum === 0) return lines.map((_, index) => (index === 0 && gross <= lines.length + 1 ? gross : 0));
  if (gross - sum > lines.length + 1) return lines;
  const exact = lines.map((amount) => (gross * amount) / sum);
  const shares = exact.map(Math.floor);
  const order = exact
    .map((share, index) => ({ index, rest: share % 1 }))
    .toSorted((a, b) => b.rest - a.rest || a.index - b.index);
  const left = gross - shares.reduce((all, share) => all + share, 0);
  return shares.map((share, index) => share + Number(order.slice(0, left).some((one) => one.index === index)));
}

interface Found {
  readonly show: KnownShow;
  readonly events: readonly SentEvent[];
}

/** The show and channel of the last of these events, as far as they were before the order; the empty text where there is none. */
function lastOf(found: readonly Found[], placedAt: number): string {
  const events = found.flatMap(({ show, events: own }) => own.map((event) => ({ show, event, at: timeOf(event) })));
  const [last] = events.toSorted(
    (a, b) =>
      Math.min(b.at, placedAt) - Math.min(a.at, placedAt) ||
      b.show.startedAt - a.show.startedAt ||
      (a.show.id === b.show.id
        ? b.at - a.at || (a.event.channel < b.event.channel ? -1 : 1)
        : a.show.id < b.show.id
          ? -1
          : 1),
  );
  return last === undefined ? "" : `${last.show.id} ${last.event.channel}`;
}
