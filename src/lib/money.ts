/** Amounts are added as whole ten-thousandths, because ISO 4217 has at most four decimals: exact up to 900 billion. */
export const decimalsMax = 4;
const unitsOfOne = 10 ** decimalsMax;

export function toUnits(amount: number): number {
  return Math.round(amount * unitsOfOne);
}

/** A sum of amounts without the error of binary fractions. */
export function exact(amount: number): number {
  return fromUnits(toUnits(amount));
}

export function fromUnits(units: number): number {
  return units / unitsOfOne;
}

/**
 * Divides a total in proportion to weights, in whole steps. The rest goes to the largest remainders, and among equal ones to the
 * first.
 *
 * @param weights not negative; if all are 0, the first gets everything
 * @param step every share is a multiple of it if the total is
 */
export function divide(total: number, weights: readonly number[], step = 1): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum === 0) return weights.map((_, index) => (index === 0 ? total : 0));
  const shares = weights.map((weight) => Number((BigInt(total) * BigInt(weight)) / BigInt(sum) / BigInt(step)) * step);
  let rest = total - shares.reduce((all, share) => all + share, 0);
  const byRemainder = weights
    .map((weight, index) => ({
      index,
      remainder: BigInt(total) * BigInt(weight) - BigInt(shares[index] ?? 0) * BigInt(sum),
    }))
    .toSorted((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1));
  for (const { index } of byRemainder) {
    const more = Math.min(rest, step);
    shares[index] = (shares[index] ?? 0) + more;
    rest -= more;
  }
  return shares;
}
