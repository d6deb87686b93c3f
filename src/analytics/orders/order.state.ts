import type { Channel } from "../events/events.input.js";
import { fromUnits, toUnits } from "./units.js";

export interface OrderLine {
  readonly productId: string;
  readonly quantity: number;
  /** For all of them together. */
  readonly amount: number;
}

export interface OrderRefund {
  /** Unique within the order. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly amount: number;
  readonly lines: readonly OrderLine[];
}

/** `isApart` where it was reported by itself: a state that does not list it may be older than it. */
type KnownRefund = OrderRefund & { readonly isApart?: true };

/** What a shop says of an order at one time. */
export interface OrderState {
  readonly kind: "state";
  readonly id: string;
  readonly placedAt: Date;
  /** When the order came into this state; undefined for a state that is newer than all before. */
  readonly changedAt: Date | undefined;
  readonly isPaid: boolean;
  readonly isCancelled: boolean;
  /** Before refunds. */
  readonly amount: number;
  /** After the refunds of this state, and changes of the order. */
  readonly remaining: number;
  readonly lines: readonly OrderLine[];
  readonly refunds: readonly OrderRefund[];
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
}

/** A refund or a deletion that is reported without the order's state. */
export type OrderNews =
  | OrderState
  | { readonly kind: "refund"; readonly id: string; readonly refund: OrderRefund }
  | { readonly kind: "deletion"; readonly id: string; readonly at: Date };

interface NewestState {
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  readonly isPaid: boolean;
  readonly isCancelled: boolean;
  readonly remaining: number;
  readonly lines: readonly OrderLine[];
  /** The ids of the refunds that `remaining` is without. */
  readonly listed: readonly string[];
}

/** What is known of an order's money, as ShopOrder.state has it in JSON. */
export interface KnownMoney {
  /** The most that was ever paid. */
  readonly gross: number;
  readonly newest: NewestState | null;
  /** Those that the newest state lists, and those reported apart. */
  readonly refunds: readonly KnownRefund[];
  readonly deletedAt?: number;
}

export interface KnownOrder {
  readonly id: string;
  readonly placedAt: Date;
  readonly isPaid: boolean;
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
  readonly money: KnownMoney;
}

const nothing: KnownMoney = { gross: 0, newest: null, refunds: [] };

/**
 * What is known of an order after news of it. News may come twice and in any order: the result is the same. The gross amount
 * never falls, and an older state adds only what was not known.
 */
export function merge(known: KnownOrder | undefined, news: OrderNews): KnownOrder {
  if (news.kind === "refund") return mergeRefund(known, news);
  if (news.kind === "deletion") return mergeDeletion(known, news);
  const { money = nothing, isPaid = false } = known ?? {};
  const newest = newestOf(money.newest, news);
  const isNewer = newest !== money.newest;
  return {
    ...(known === undefined || isNewer ? placedBy(news, known) : placedBy(known, news)),
    id: news.id,
    isPaid: news.isPaid || isPaid,
    money: {
      ...money,
      gross: news.isPaid ? Math.max(money.gross, news.amount) : money.gross,
      newest,
      refunds: unite(money.refunds, news.refunds, isNewer).filter(
        ({ id, isApart }) => isApart === true || newest.listed.includes(id),
      ),
    },
  };
}

/** The newer one of two states. */
function newestOf(known: NewestState | null, news: OrderState): NewestState {
  const state = stateOf(news);
  if (news.changedAt === undefined) return { ...state, changedAt: changeOf(state, known) };
  return known === null || compare(state, known) > 0 ? state : known;
}

function stateOf({ changedAt, isPaid, isCancelled, remaining, lines, refunds }: OrderState): NewestState {
  const listed = refunds.map(({ id }) => id);
  return { changedAt: changedAt?.getTime() ?? 0, isPaid, isCancelled, remaining, lines, listed };
}

type Placed = Pick<KnownOrder, "placedAt" | "viewerId" | "lsId" | "channel">;

/** When it was placed, by whom and for which show: as the newer state says, or else the older one. */
function placedBy(newer: Placed, older: Placed | undefined): Placed {
  const sent = newer.lsId === null ? (older ?? newer) : newer;
  return {
    placedAt: newer.placedAt,
    viewerId: newer.viewerId ?? older?.viewerId ?? null,
    lsId: sent.lsId,
    channel: sent.lsId === null ? null : sent.channel,
  };
}

function mergeRefund(known: KnownOrder | undefined, { id, refund }: { id: string; refund: OrderRefund }): KnownOrder {
  const order = known ?? unknownOrder(id, refund.at);
  const refunds = unite(order.money.refunds, [{ ...refund, isApart: true }], false);
  return { ...order, money: { ...order.money, refunds } };
}

function mergeDeletion(known: KnownOrder | undefined, { id, at }: { id: string; at: Date }): KnownOrder {
  const order = known ?? unknownOrder(id, at.getTime());
  return { ...order, money: { ...order.money, deletedAt: Math.max(order.money.deletedAt ?? 0, at.getTime()) } };
}

/** It counts for nothing until a state says that it was paid. */
function unknownOrder(id: string, at: number): KnownOrder {
  return { id, placedAt: new Date(at), isPaid: false, viewerId: null, lsId: null, channel: null, money: nothing };
}

/** When a state that names no time came about: now, unless it was known. */
function changeOf(state: NewestState, known: NewestState | null): number {
  if (known === null) return Date.now();
  const isSame = JSON.stringify(state) === JSON.stringify({ ...known, changedAt: state.changedAt });
  return isSame ? known.changedAt : Math.max(Date.now(), known.changedAt + 1);
}

/** States of one second are ordered by what can only happen later. */
function compare(a: NewestState, b: NewestState): number {
  return (
    a.changedAt - b.changedAt ||
    Number(a.isPaid) - Number(b.isPaid) ||
    Number(a.isCancelled) - Number(b.isCancelled) ||
    a.listed.length - b.listed.length ||
    b.remaining - a.remaining ||
    (JSON.stringify(a.lines) < JSON.stringify(b.lines) ? -1 : 1)
  );
}

function unite(known: readonly KnownRefund[], more: readonly KnownRefund[], isNewer: boolean): KnownRefund[] {
  const byId = new Map(known.map((refund) => [refund.id, refund]));
  for (const refund of more) {
    const before = byId.get(refund.id);
    // Some systems name no time of a refund: the first state that has it is the nearest.
    const at = Math.min(refund.at, before?.at ?? refund.at);
    const isApart = refund.isApart === true || before?.isApart === true;
    byId.set(refund.id, { ...(isNewer || before === undefined ? refund : before), at, ...(isApart && { isApart }) });
  }
  return [...byId.values()].toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** What counts of an order, in units (units.ts). */
export interface CountedOrder {
  readonly gross: number;
  readonly lines: readonly OrderLine[];
  readonly refunds: readonly CountedRefund[];
}

export interface CountedRefund {
  readonly at: number;
  readonly units: number;
  readonly lines: readonly OrderLine[];
}

/**
 * What counts of an order: all that was ever paid, and as refunds all that is left of it no more. A change of the order, a
 * cancellation and a deletion are refunds too.
 */
export function counted({ isPaid, money }: Pick<KnownOrder, "isPaid" | "money">): CountedOrder | undefined {
  const { newest, refunds, deletedAt } = money;
  if (!isPaid || newest === null) return undefined;
  const gross = toUnits(money.gross);
  const isGone = newest.isCancelled || (deletedAt !== undefined && deletedAt >= newest.changedAt);
  const later = refunds.filter(({ id }) => !newest.listed.includes(id));
  const left = later.reduce((units, { amount }) => units - toUnits(amount), toUnits(newest.remaining));
  const refunded = isGone ? gross : Math.min(gross, Math.max(0, gross - left));
  const counts: CountedRefund[] = [];
  let rest = refunded;
  for (const { at, amount, lines } of refunds) {
    const units = Math.min(rest, toUnits(amount));
    if (units === 0) continue;
    counts.push({ at, units, lines: units === toUnits(amount) ? lines : [] });
    rest -= units;
  }
  if (rest > 0)
    counts.push({ at: isGone ? (deletedAt ?? newest.changedAt) : newest.changedAt, units: rest, lines: [] });
  return { gross, lines: newest.lines, refunds: counts };
}

/** The part of an order that is left after refunds. */
export function netOf({ gross, refunds }: CountedOrder): number {
  return fromUnits(refunds.reduce((units, refund) => units - refund.units, gross));
}
