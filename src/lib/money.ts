/** Amounts are added up as whole numbers of ten-thousandths, the most decimals of ISO 4217: exact up to 900 billion. */
export const decimalsMax = 4;
const unitsOfOne = 10 ** decimalsMax;

export function toUnits(amount: number): number {
  return Math.round(amount * unitsOfOne);
}

/** A sum of amounts, without what binary fractions add. */
export function exact(amount: number): number {
  return fromUnits(toUnits(amount));
}

export function fromUnits(units: number): number {
  return units / unitsOfOne;
}

/**
 * Divides a total in proportion to weights, in whole steps: what is left goes to those with the largest remainders, the first ones
 * of equal ones.
 *
 * @param weights not negative; if all are 0, the first gets everything
 * @param step every share is a multiple of it, as far as the total is
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
