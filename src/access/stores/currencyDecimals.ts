/** Of amounts of a store that has no currency. */
const decimalsByDefault = 2;
const known = new Map<string, number>();

/** How many decimals amounts of a currency have (ISO 4217): 0 of JPY, 2 of EUR, 3 of KWD. */
export function currencyDecimals(currency: string | null): number {
  if (currency === null) return decimalsByDefault;
  const before = known.get(currency);
  if (before !== undefined) return before;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const decimals = format.resolvedOptions().maximumFractionDigits ?? decimalsByDefault;
  known.set(currency, decimals);
  return decimals;
}

/** How many decimals JSON shows of a number: 3 of 1.005, 7 of 1e-7. */
export function decimalsOf(value: number): number {
  if (Number.isInteger(value)) return 0;
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [, fraction = ""] = mantissa.split(".");
  return Math.max(0, fraction.length - Number(exponent));
}
