import type { KnownMoney, KnownOrder, NewestState, OrderLine, OrderRefund } from "./order.state.js";
import { divide, fromUnits, toUnits } from "../../lib/money.js";

/** What counts of an order, in units (lib/money.ts). */
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
export function counted(order: Pick<KnownOrder, "isPaid" | "placedAt" | "money">): CountedOrder | undefined {
  const { isPaid, placedAt, money } = order;
  const { newest, ofFiles } = money;
  if (!isPaid || newest === null) return undefined;
  const gross = toUnits(money.gross);
  const refunds = countedRefunds(money, newest, gross);
  const refunded = refunds.reduce((sum, { units }) => sum + units, 0);
  const ofFile = ofFiles === undefined ? 0 : ofFiles.isGone ? gross : Math.min(gross, toUnits(ofFiles.refunded));
  if (ofFile > refunded) refunds.push({ at: placedAt.getTime(), units: ofFile - refunded, lines: [] });
  return { gross, lines: linesOf(money, newest), refunds };
}

function linesOf({ lined, ofFiles }: KnownMoney, { lines, isTimed, amount }: NewestState): readonly OrderLine[] {
  if (lines.length > 0) return lines;
  return isTimed && lined?.amount === amount ? lined.lines : (ofFiles?.lines ?? []);
}

/** Those that are known by their ids, and what else is left of the order no more. */
function countedRefunds(money: KnownMoney, newest: NewestState, gross: number) {
  const { deletedAt, restoredAt = 0 } = money;
  const refunds = money.refunds.filter(({ id, isApart }) => isApart === true || newest.listed.includes(id));
  const isDeleted = deletedAt !== undefined && deletedAt >= newest.changedAt && deletedAt > restoredAt;
  const unitsOf = ({ amount, amountWithTaxes = amount }: OrderRefund) =>
    toUnits(newest.areTaxesIncluded ? amountWithTaxes : amount);
  const later = refunds.filter(({ id }) => !newest.listed.includes(id));
  const left = later.reduce((units, refund) => units - unitsOf(refund), toUnits(newest.remaining));
  let rest = newest.isCancelled || isDeleted ? gross : Math.min(gross, Math.max(0, gross - left));
  const counts: CountedRefund[] = [];
  for (const refund of refunds) {
    const units = Math.min(rest, unitsOf(refund));
    if (units === 0) continue;
    counts.push({ at: refund.at, units, lines: scaled(refund.lines, units) });
    rest -= units;
  }
  if (rest > 0) counts.push({ at: isDeleted ? deletedAt : newest.changedAt, units: rest, lines: [] });
  return counts;
}

/** The lines of a refund, whose amounts add up to it. */
function scaled(lines: readonly OrderLine[], units: number): readonly OrderLine[] {
  const weights = lines.map(({ amount }) => toUnits(amount));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum === units || sum === 0) return lines;
  const shares = divide(units, weights);
  return lines.map((line, index) => ({ ...line, amount: fromUnits(shares[index] ?? 0) }));
}

/** The part of an order that is left after refunds. */
export function netOf({ gross, refunds }: CountedOrder): number {
  return fromUnits(refunds.reduce((units, refund) => units - refund.units, gross));
}
