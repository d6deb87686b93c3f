import type { Channel } from "../../events/events.input.js";
import { channelCodes, type AttributionRule, type Reason } from "../../database/codes.js";
import {
  counted,
  type CountedOrder,
  type CountedRefund,
  type KnownOrder,
  type OrderLine,
  type OrderRefund,
} from "../state/order.state.js";
import type { AttributionSettings } from "./settings.js";
import { divide, fromUnits, toUnits } from "../../lib/money.js";

/** What a viewer did before an order. */
export interface Evidence {
  /** The show's number. */
  readonly show: number;
  /** The event's channel, as in ShowEvent. */
  readonly channel: number;
  readonly at: Date;
  /** For a view, how long they watched before the order. */
  readonly seconds: number;
}

export interface Evidences {
  /** The number of the show that the sender named; undefined if there is none. */
  readonly sentShow?: number | undefined;
  /** The show that the viewer watched last. */
  readonly watched?: Evidence | undefined;
  /** By product, where the viewer last put it into the cart. */
  readonly carts: ReadonlyMap<string, Evidence>;
}

/** The part of an order that counts for one show and channel, or for none (OrderPart). */
export interface AttributedPart {
  /** 0 for none. */
  readonly show: number;
  /** As in ShowEvent; 0 for none. */
  readonly channel: number;
  readonly rule: AttributionRule;
  readonly reason: Reason;
  /** When the event that it counts for occurred, else the time of the order. */
  readonly at: Date;
  readonly seconds: number;
  /** Empty if it counts for no product. */
  readonly productId: string;
  readonly amount: number;
  readonly refunded: number;
  readonly lines: readonly OrderLine[];
  readonly refunds: readonly PartRefund[];
}

export type PartRefund = Omit<OrderRefund, "id">;

type Reasoned = Pick<AttributedPart, "show" | "channel" | "reason" | "at" | "seconds" | "productId">;

/** An order with the viewer by whom it is attributed: the one that the shop names, or else the one for whom a page claims it. */
export interface AttributedOrder extends KnownOrder {
  readonly viewer: string | null;
}

/**
 * Divides an order into parts, each for at most one show. They add up to the whole order, to the unit. None for an order that was not
 * paid.
 */
export function attribute(
  order: AttributedOrder,
  { rule, step }: Pick<AttributionSettings, "rule" | "step">,
  evidences: Evidences,
): AttributedPart[] {
  const money = counted(order);
  if (money === undefined) return [];
  if (rule === "CART") return partsByCart(order, money, evidences, step);
  const reasoned = rule === "AS_SENT" ? asSent(order, evidences) : asWatched(order, evidences);
  return [toPart({ rule, ...reasoned }, money.gross, money.lines, money.refunds)];
}

const nowhere = (order: KnownOrder, reason: Reason): Reasoned => ({
  show: 0,
  channel: 0,
  reason,
  at: order.placedAt,
  seconds: 0,
  productId: "",
});

function asSent(order: AttributedOrder, { sentShow }: Evidences): Reasoned {
  if (order.lsId === null) return nowhere(order, "NOT_SENT");
  if (sentShow === undefined) return nowhere(order, "SHOW_DELETED");
  const channel = channelCodes[order.channel ?? ("REFERRAL" satisfies Channel)];
  return { show: sentShow, channel, reason: "SENT", at: order.placedAt, seconds: 0, productId: "" };
}

function asWatched(order: AttributedOrder, { watched }: Evidences): Reasoned {
  if (order.viewer === null) return nowhere(order, "NO_VIEWER");
  return watched === undefined
    ? nowhere(order, "NOT_WATCHED")
    : { ...found(watched), reason: "WATCHED", productId: "" };
}

function found({ show, channel, at, seconds }: Evidence) {
  return { show, channel, at, seconds };
}

/** Each line counts for the show of its product; the rest counts for none. */
function partsByCart(
  order: AttributedOrder,
  money: CountedOrder,
  { carts }: Evidences,
  step: number,
): AttributedPart[] {
  const groups = new Map<string, { reasoned: Reasoned; lines: OrderLine[]; units: number }>();
  const amounts = lineUnits(money, step);
  money.lines.forEach((line, index) => {
    const cart = carts.get(line.productId);
    if (cart === undefined) return;
    const reasoned: Reasoned = { ...found(cart), reason: "CARTED", productId: line.productId };
    const key = `${reasoned.show} ${reasoned.channel}`;
    const group = groups.get(key) ?? { reasoned, lines: [], units: 0 };
    if (reasoned.at > group.reasoned.at) group.reasoned = reasoned;
    group.lines.push(line);
    group.units += amounts[index] ?? 0;
    groups.set(key, group);
  });
  const shown = [...groups.values()].toSorted(
    (a, b) => a.reasoned.show - b.reasoned.show || a.reasoned.channel - b.reasoned.channel,
  );
  const rest = money.gross - shown.reduce((units, group) => units + group.units, 0);
  const others = money.lines.filter(({ productId }) => !carts.has(productId));
  if (shown.length === 0 || rest > 0 || others.length > 0) {
    const reason =
      order.viewer === null ? "NO_VIEWER" : shown.length > 0 && others.length === 0 ? "NO_LINE" : "NOT_CARTED";
    shown.push({ reasoned: nowhere(order, reason), lines: others, units: rest });
  }
  const refunds = refundsOfParts(money, shown, step);
  return shown.map(({ reasoned, lines, units }, index) =>
    toPart({ rule: "CART", ...reasoned }, units, lines, refunds[index] ?? []),
  );
}

interface Share {
  readonly lines: readonly OrderLine[];
  readonly units: number;
}

/** For each part, its share of each refund. */
function refundsOfParts(money: CountedOrder, parts: readonly Share[], step: number): CountedRefund[][] {
  const left = parts.map(({ units }) => units);
  const ofParts: CountedRefund[][] = parts.map(() => []);
  for (const refund of money.refunds) {
    sharesOf(refund, parts, left, step).forEach((units, index) => {
      left[index] = (left[index] ?? 0) - units;
      const own = refund.lines.filter(({ productId }) =>
        parts[index]?.lines.some((line) => line.productId === productId),
      );
      if (units > 0) ofParts[index]?.push({ at: refund.at, units, lines: own });
    });
  }
  return ofParts;
}

/**
 * What each line adds to the order, in whole steps: its amount, or less if all lines together exceed the order. A shop's rounding
 * difference goes to the lines as well.
 */
function lineUnits({ gross, lines }: CountedOrder, step: number): number[] {
  const units = lines.map(({ amount }) => toUnits(amount));
  const rest = gross - units.reduce((all, amount) => all + amount, 0);
  const isRounded = rest <= step * (lines.length + 1);
  return isRounded ? divide(gross, units, step) : divide(gross, [...units, rest], step).slice(0, -1);
}

/** Divides a refund among parts: by its lines, and the rest in proportion to what is left of each part. */
function sharesOf(
  { units, lines }: CountedRefund,
  parts: readonly { readonly lines: readonly OrderLine[] }[],
  left: readonly number[],
  step: number,
): number[] {
  let rest = units;
  const shares = parts.map((part, index) => {
    const own = lines.filter(({ productId }) => part.lines.some((line) => line.productId === productId));
    const wanted = Math.round(own.reduce((all, { amount }) => all + toUnits(amount), 0) / step) * step;
    const share = Math.min(wanted, left[index] ?? 0, rest);
    rest -= share;
    return share;
  });
  const weights = shares.map((share, index) => (left[index] ?? 0) - share);
  return divide(rest, weights, step).map((more, index) => more + (shares[index] ?? 0));
}

function toPart(
  reasoned: Reasoned & Pick<AttributedPart, "rule">,
  units: number,
  lines: readonly OrderLine[],
  refunds: readonly CountedRefund[],
): AttributedPart {
  return {
    rule: reasoned.rule,
    show: reasoned.show,
    channel: reasoned.channel,
    reason: reasoned.reason,
    at: reasoned.at,
    seconds: reasoned.seconds,
    productId: reasoned.productId,
    amount: fromUnits(units),
    refunded: fromUnits(refunds.reduce((all, refund) => all + refund.units, 0)),
    lines,
    refunds: refunds.map((refund) => ({ at: refund.at, amount: fromUnits(refund.units), lines: refund.lines })),
  };
}
