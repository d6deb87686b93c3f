import type { Path, Problem, Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";
import { checkText, isGiven } from "../shows/liveStream.input.js";
import { parseDateTime } from "../lib/dateTime.js";
import { currencyDecimals, decimalsOf } from "../stores/store.currency.js";
import { count } from "../lib/text.js";
import { fromUnits, toUnits } from "../lib/money.js";

export const shopperEventTypes = ["VIEW", "ADD_TO_CART", "ORDER", "REFUND"] as const;
export const channels = ["LIVE", "REPLAY", "REFERRAL", "AUTO"] as const;
export type ShopperEventType = (typeof shopperEventTypes)[number];
/** AUTO is LIVE until the show ends, and REPLAY afterwards: see `withChannels`. */
export type SentChannel = (typeof channels)[number];
export type Channel = Exclude<SentChannel, "AUTO">;

export interface OrderLineInput {
  readonly productId: string;
  readonly quantity: number;
  /** For all of them together. */
  readonly amount: number;
}

export interface ShopperEventInput {
  readonly id: string;
  readonly type: ShopperEventType;
  readonly channel: SentChannel;
  readonly viewerId?: string | null | undefined;
  readonly device?: string | null | undefined;
  /** Where the viewer came from: a host or the name of a campaign. */
  readonly source?: string | null | undefined;
  readonly seconds?: number | null | undefined;
  readonly amount?: number | null | undefined;
  readonly productId?: string | null | undefined;
  readonly occurredAt?: Date | null | undefined;
  readonly orderId?: string | null | undefined;
  /** Must be that of the store. */
  readonly currency?: string | null | undefined;
  readonly lines?: readonly OrderLineInput[] | null | undefined;
}

/** An event whose channel is known. */
export interface ShopperEvent extends ShopperEventInput {
  readonly channel: Channel;
}

export const batchEventsMax = 10_000;
/** The most seconds of a VIEW. */
export const secondsMax = 86_400;
const linesMax = 100;

export interface EventConstraints {
  readonly earliest?: Date;
  /** Older ones could have been counted already. */
  readonly prunedBefore?: Date;
  /** The store's currency, null where it has none. If it is undefined, neither currencies nor decimals are checked. */
  readonly currency?: string | null;
  readonly latest: Date;
}

/** When the show starts, and before when its events were removed. */
interface ShowSpan {
  readonly startedAt: Date;
  readonly prunedBefore?: Date | null;
}

const beforeStartMs = 86_400_000;

export function eventConstraints(show?: ShowSpan): EventConstraints {
  const latest = latestMoment();
  if (show === undefined) return { latest };
  const { startedAt, prunedBefore = null } = show;
  return { earliest: new Date(startedAt.getTime() - beforeStartMs), latest, ...(prunedBefore && { prunedBefore }) };
}

const texts = ["viewerId", "device", "source", "productId", "orderId"] as const;
/** Empty, they count as unknown. */
const mayBeEmpty: ReadonlySet<string> = new Set(["device", "source"]);
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
    if (typeof value === "string" && !(value === "" && mayBeEmpty.has(name))) {
      checkText(value, 255, path, name, problems);
    }
  }
  if (typeof event.viewerId === "string") checkIdentifies(event.viewerId, report);
  checkMoment(event.occurredAt, constraints, report);
  checkRange(event.seconds, secondsMax, "seconds", report);
  checkRange(event.amount, amountMax, "amount", report);
  if (!isSale(event.type)) return checkActivity(event, report);
  if (!isGiven(event.amount))
    report("amount", "REQUIRED", `${event.type === "ORDER" ? "An ORDER" : "A REFUND"} needs an amount.`);
  checkCurrency(event.currency, constraints.currency, report);
  checkDecimals(event.amount, constraints.currency, report);
  checkLines(event.lines ?? [], [...path, "lines"], problems, constraints.currency);
  checkLineSum(event.lines ?? [], event.amount, report);
}

/** Of what viewers do: a VIEW or an ADD_TO_CART. */
function checkActivity(event: ShopperEventInput, report: Report): void {
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

function checkLines(
  lines: readonly OrderLineInput[],
  path: Path,
  problems: Problems,
  currency: string | null | undefined,
): void {
  if (lines.length > linesMax) {
    problems.add({ code: "TOO_LONG", message: `lines must have at most ${linesMax} products.`, path });
  }
  for (const [index, { productId, quantity, amount }] of lines.slice(0, linesMax).entries()) {
    const report: Report = (field, code, message) => problems.add({ code, message, path: [...path, index, field] });
    checkText(productId, 255, [...path, index], "productId", problems);
    checkRange(amount, amountMax, "amount", report);
    checkDecimals(amount, currency, report);
    checkQuantity(quantity, report);
  }
}

function checkMoment(
  moment: Date | null | undefined,
  { earliest, latest, prunedBefore }: EventConstraints,
  report: Report,
): void {
  if (!isGiven(moment)) return;
  checkPast(moment, "occurredAt", latest, report);
  if (prunedBefore !== undefined && moment < prunedBefore) {
    const rule = `at least ${prunedBefore.toISOString()}, before which the events of the show were removed`;
    return report("occurredAt", "INVALID_VALUE", mustBe("occurredAt", rule, moment));
  }
  if (earliest === undefined || moment >= earliest) return;
  report("occurredAt", "INVALID_VALUE", mustBe("occurredAt", "at most a day before the start of the show", moment));
}

/** About money: only servers may report it, and it makes nobody a viewer. */
export function isSale(type: unknown): boolean {
  return type === "ORDER" || type === "REFUND";
}

/** Valid, in place of a batch that is taken without coercion; see api/execution/input/rawArguments.ts. */
export function placeholderEvent(placeholder: string): ShopperEventInput {
  return { id: placeholder, type: "VIEW", channel: "LIVE" };
}

/** An event as JSON has it, of a shape that has been checked. */
type SentEvent = Omit<ShopperEventInput, "occurredAt" | "lines"> & {
  readonly occurredAt?: string | null;
  /** As in GraphQL, a single line counts as a list of one. */
  readonly lines?: ShopperEventInput["lines"] | NonNullable<ShopperEventInput["lines"]>[number];
};

/** The batch that a placeholder stands for, as GraphQL would have coerced it; undefined for a batch of real events. */
export function uncoercedEvents(
  [first]: readonly ShopperEventInput[],
  originals: ReadonlyMap<string, object> | undefined,
): readonly ShopperEventInput[] | undefined {
  const original = first === undefined ? undefined : originals?.get(first.id);
  if (original === undefined || !("value" in original)) return undefined;
  const { value } = original;
  const events = (Array.isArray(value) ? value : [value]) as readonly SentEvent[]; // of a checked shape
  return events.map(coerced);
}

/** Most events have neither a time nor lines, and stay as they are: a copy would take as long as all checks. */
function coerced(event: SentEvent): ShopperEventInput {
  const { occurredAt, lines } = event;
  if (!hasText(occurredAt) && (!isGiven(lines) || isList(lines))) return event as ShopperEventInput; // of the same shape
  return {
    ...event,
    occurredAt: hasText(occurredAt) ? parseDateTime(occurredAt) : null,
    lines: !isGiven(lines) || isList(lines) ? lines : [lines],
  };
}

function hasText(value: unknown): value is string {
  return typeof value === "string";
}

function isList(lines: NonNullable<SentEvent["lines"]>): lines is NonNullable<ShopperEventInput["lines"]> {
  return Array.isArray(lines);
}

/** Rules for values that both events and orders have. */

export const amountMax = 1e9;

const quantityMax = 1_000_000;

/** Reports what is wrong with a field of the event, order or line in question. */
export type Report = (field: string, code: Problem["code"], message: string) => void;

/** What shops' pages send in place of an id by mistake: all of their shoppers would be one viewer. The tracker has the same. */
const nobody = /^(?:nan|undefined|null|nil|none|0|-1|true|false|guest|anonymous|unknown|\[object \w+\])$/iu;

/** A placeholder of a template that was not filled in. */
const unfilled = /^(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|%%.*%%)$/su;

/** Whether a text, sent as the id of a viewer, is certain to identify nobody. */
export function isPlaceholderId(viewerId: string): boolean {
  const text = viewerId.trim();
  return nobody.test(text) || unfilled.test(text);
}

export function checkIdentifies(viewerId: string, report: Report): void {
  if (!isPlaceholderId(viewerId)) return;
  report("viewerId", "INVALID_VALUE", mustBe("viewerId", "an id that identifies one viewer", viewerId));
}

/** @param currency the store's, null where it has none; if it is undefined, nothing is checked */
export function checkCurrency(
  given: string | null | undefined,
  currency: string | null | undefined,
  report: Report,
): void {
  if (!isGiven(given) || currency === undefined || given === currency) return;
  const message =
    currency === null
      ? "The store has no currency yet: an operator sets it by vitrine store set STORE --currency."
      : mustBe("currency", `${currency}, the currency of the store`, given);
  report("currency", "INVALID_VALUE", message);
}

/** No amount of a currency has more decimals than the currency: somebody counts in another one, or multiplies without rounding. */
export function checkDecimals(
  amount: number | null | undefined,
  currency: string | null | undefined,
  report: Report,
): void {
  if (!isGiven(amount) || !isGiven(currency)) return;
  const max = currencyDecimals(currency);
  if (decimalsOf(amount) <= max) return;
  const decimals = max === 0 ? "no decimals" : `at most ${count(max, "decimal")}`;
  report("amount", "INVALID_VALUE", mustBe("amount", `an amount of ${currency}, with ${decimals}`, amount));
}

/** Tolerance for clocks that differ. */
const fromNowMs = 300_000;

/** The latest time that events and orders may have. */
export function latestMoment(): Date {
  return new Date(Date.now() + fromNowMs);
}

export function checkPast(moment: Date, field: string, latest: Date, report: Report): void {
  if (moment > latest) report(field, "INVALID_VALUE", mustBe(field, "at most five minutes from now", moment));
}

export function checkRange(value: number | null | undefined, max: number, field: string, report: Report): void {
  if (!isGiven(value) || (value >= 0 && value <= max)) return;
  report(field, "INVALID_VALUE", mustBe(field, `from 0 to ${max}`, value));
}

export function checkQuantity(quantity: number, report: Report): void {
  if (Number.isInteger(quantity) && quantity >= 1 && quantity <= quantityMax) return;
  report("quantity", "INVALID_VALUE", mustBe("quantity", `a whole number from 1 to ${quantityMax}`, quantity));
}

/** What lines may exceed their order by, for shops that round each line. */
const roundedBy = toUnits(0.01);

/** Lines are a part of their order or refund: taxes and shipping may have none. */
export function checkLineSum(
  lines: readonly { readonly amount: number }[],
  amount: number | null | undefined,
  report: Report,
): void {
  if (!isGiven(amount) || amount < 0) return;
  const sum = lines.reduce((units, line) => units + toUnits(line.amount), 0);
  if (sum <= toUnits(amount) + roundedBy) return;
  report("lines", "INVALID_VALUE", `The lines add up to ${fromUnits(sum)}, more than the amount of ${amount}.`);
}
