import type { Path, Problem, Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { checkText } from "../shows/liveStream.input.js";

export const shopperEventTypes = ["VIEW", "ADD_TO_CART", "ORDER", "REFUND"] as const;
export const channels = ["LIVE", "REPLAY", "REFERRAL"] as const;
export type ShopperEventType = (typeof shopperEventTypes)[number];
export type Channel = (typeof channels)[number];

export interface OrderLineInput {
  readonly productId: string;
  readonly quantity: number;
  /** For all of them together. */
  readonly amount: number;
}

export interface ShopperEventInput {
  readonly id: string;
  readonly type: ShopperEventType;
  readonly channel: Channel;
  readonly viewerId?: string | null | undefined;
  readonly device?: string | null | undefined;
  readonly seconds?: number | null | undefined;
  readonly amount?: number | null | undefined;
  readonly productId?: string | null | undefined;
  readonly occurredAt?: Date | null | undefined;
  readonly orderId?: string | null | undefined;
  /** Must be that of the store. */
  readonly currency?: string | null | undefined;
  readonly lines?: readonly OrderLineInput[] | null | undefined;
}

export const batchEventsMax = 10_000;
const secondsMax = 86_400;
const amountMax = 1e9;
const linesMax = 100;
const quantityMax = 1_000_000;

export interface EventConstraints {
  readonly earliest?: Date;
  /** Older ones could have been counted already. */
  readonly prunedBefore?: Date;
  /** The store's currency, null where it has none. If it is undefined, currencies are not checked. */
  readonly currency?: string | null;
  readonly latest: Date;
}

/** When the show starts, and before when its events were removed. */
interface ShowSpan {
  readonly startedAt: Date;
  readonly prunedBefore?: Date | null;
}

const beforeStartMs = 86_400_000;
/** Tolerance for clocks that differ. */
const fromNowMs = 300_000;

export function eventConstraints(show?: ShowSpan): EventConstraints {
  const latest = new Date(Date.now() + fromNowMs);
  if (show === undefined) return { latest };
  const { startedAt, prunedBefore = null } = show;
  return { earliest: new Date(startedAt.getTime() - beforeStartMs), latest, ...(prunedBefore && { prunedBefore }) };
}

const texts = ["viewerId", "device", "productId", "orderId"] as const;
const ofSales = ["orderId", "currency", "lines"] as const;

/** Checks every rule. Problems have `path` as a prefix. */
export function checkEvent(
  event: ShopperEventInput,
  path: Path,
  problems: Problems,
  constraints: EventConstraints,
): void {
  const report = (field: string, code: Problem["code"], message: string) =>
    problems.add({ code, message, path: [...path, field] });

  checkText(event.id, 255, path, "id", problems);
  checkName(event.type, shopperEventTypes, "type", report);
  checkName(event.channel, channels, "channel", report);
  for (const name of texts) {
    const value = event[name];
    // An empty device counts as unknown.
    if (typeof value === "string" && !(name === "device" && value === "")) {
      checkText(value, 255, path, name, problems);
    }
  }
  checkMoment(event.occurredAt, constraints, report);
  checkRange(event.seconds, secondsMax, "seconds", report);
  checkRange(event.amount, amountMax, "amount", report);
  if (isSale(event.type)) {
    if (!isGiven(event.amount))
      report("amount", "REQUIRED", `${event.type === "ORDER" ? "An ORDER" : "A REFUND"} needs an amount.`);
    checkCurrency(event.currency, constraints.currency, report);
    checkLines(event.lines ?? [], [...path, "lines"], problems);
    return;
  }
  for (const name of ofSales) {
    if (isGiven(event[name])) report(name, "INVALID_VALUE", `${name} is for ORDER and REFUND only.`);
  }
  if (!isGiven(event.viewerId)) report("viewerId", "REQUIRED", `${event.type} needs a viewerId.`);
  if (event.channel === "REFERRAL")
    report("channel", "INVALID_VALUE", "The channel REFERRAL is for ORDER and REFUND only.");
}

/** Whatever a caller has checked before: the database would refuse other names, as it refuses events that it has. */
function checkName(name: unknown, names: readonly string[], field: string, report: Report): void {
  if (typeof name === "string" && names.includes(name)) return;
  report(field, "INVALID_VALUE", mustBe(field, `one of ${names.join(", ")}`, name));
}

function checkCurrency(given: string | null | undefined, currency: string | null | undefined, report: Report): void {
  if (!isGiven(given) || currency === undefined || given === currency) return;
  const message =
    currency === null
      ? "The store has no currency yet: an operator sets it by vitrine store set STORE --currency."
      : mustBe("currency", `${currency}, the currency of the store`, given);
  report("currency", "INVALID_VALUE", message);
}

function checkLines(lines: readonly OrderLineInput[], path: Path, problems: Problems): void {
  if (lines.length > linesMax) {
    problems.add({ code: "TOO_LONG", message: `lines must have at most ${linesMax} products.`, path });
  }
  for (const [index, { productId, quantity, amount }] of lines.slice(0, linesMax).entries()) {
    const report: Report = (field, code, message) => problems.add({ code, message, path: [...path, index, field] });
    checkText(productId, 255, [...path, index], "productId", problems);
    checkRange(amount, amountMax, "amount", report);
    if (Number.isInteger(quantity) && quantity >= 1 && quantity <= quantityMax) continue;
    report("quantity", "INVALID_VALUE", mustBe("quantity", `a whole number from 1 to ${quantityMax}`, quantity));
  }
}

type Report = (field: string, code: Problem["code"], message: string) => void;

function checkMoment(
  moment: Date | null | undefined,
  { earliest, latest, prunedBefore }: EventConstraints,
  report: Report,
): void {
  if (!isGiven(moment)) return;
  if (moment > latest)
    report("occurredAt", "INVALID_VALUE", mustBe("occurredAt", "at most five minutes from now", moment));
  if (prunedBefore !== undefined && moment < prunedBefore) {
    const rule = `at least ${prunedBefore.toISOString()}, before which the events of the show were removed`;
    return report("occurredAt", "INVALID_VALUE", mustBe("occurredAt", rule, moment));
  }
  if (earliest === undefined || moment >= earliest) return;
  report("occurredAt", "INVALID_VALUE", mustBe("occurredAt", "at most a day before the start of the show", moment));
}

function checkRange(value: number | null | undefined, max: number, field: string, report: Report): void {
  if (!isGiven(value) || (value >= 0 && value <= max)) return;
  report(field, "INVALID_VALUE", mustBe(field, `from 0 to ${max}`, value));
}

/** About money: only servers may report it, and it makes nobody a viewer. */
export function isSale(type: unknown): boolean {
  return type === "ORDER" || type === "REFUND";
}

/** Neither null nor left out. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
