import { currencyDecimals, decimalsOf } from "../../access/stores/store.currency.js";
import type { Problem } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { count } from "../../lib/text.js";
import { fromUnits, toUnits } from "../orders/units.js";

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
export function identifiesNobody(viewerId: string): boolean {
  const text = viewerId.trim();
  return nobody.test(text) || unfilled.test(text);
}

export function checkIdentifies(viewerId: string, report: Report): void {
  if (!identifiesNobody(viewerId)) return;
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

/** Neither null nor left out. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
