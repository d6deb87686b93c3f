const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;
const withCurrency =
  /^(?:[\p{L}\p{Sc}]{1,4}\.?)?\s*(-?(?:[\d.,'’][\d.,'’\s]*)?\d)(?:[.,][-–—]{0,2})?\s*(?:[\p{L}\p{Sc}]{1,4}\.?)?$/u;

/**
 * Reads prices as shops write them: `12.90`, `12,90`, `12.90 EUR`, `1.234,50`, `1,234.50`, `€ 1 234,50`, `₹ 1,00,000`. A comma before
 * exactly three digits groups thousands (`1,234`); a single point is always decimal. Null for an empty text; a text that is not a
 * price is returned unchanged.
 */
export function parsePrice(text: string): number | string | null {
  if (text === "") return null;
  if (text.length > charactersMax) return text;
  if (plainNumber.test(text)) return finite(text, text);
  const amount = withCurrency.exec(text)?.[1];
  const digits = amount === undefined ? undefined : decimal(amount);
  return digits === undefined ? text : finite(digits, text);
}

function finite(digits: string, text: string): number | string {
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}

const charactersMax = 64;

function decimal(amount: string): string | undefined {
  const negative = amount.startsWith("-");
  const text = negative ? amount.slice(1) : amount;
  const point = decimalPoint(text);
  const whole = point === -1 ? text : text.slice(0, point);
  const fraction = point === -1 ? "" : text.slice(point + 1);
  const separators = new Set(whole.replaceAll(/\d/gu, ""));
  if (/\D/u.test(fraction) || separators.size > 1 || (separators.size === 1 && !areGroups(whole.split(/\D/u))))
    return undefined;
  return `${negative ? "-" : ""}${whole.replaceAll(/\D/gu, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}

/** The index of the decimal point, or -1. */
function decimalPoint(text: string): number {
  const [comma, point] = [text.lastIndexOf(","), text.lastIndexOf(".")];
  if (comma !== -1 && point !== -1) return Math.max(comma, point);
  const last = Math.max(comma, point);
  const isRepeated = last !== text.indexOf(comma === -1 ? "." : ",");
  if (isRepeated || (comma !== -1 && /^[1-9]\d{0,2},\d{3}$/u.test(text))) return -1;
  return last;
}

/** Whether these are groups of three digits, or Indian groups: three at the end, and two in each group before. */
export function areGroups([first = "", ...others]: readonly string[]): boolean {
  if (others.at(-1)?.length !== 3) return false;
  const middle = new Set(others.slice(0, -1).map(({ length }) => length));
  if (middle.size === 0) return first.length >= 1 && first.length <= 3;
  return middle.size === 1 && ((middle.has(3) && first.length <= 3) || (middle.has(2) && first.length <= 2));
}

/** A number as an integer with so many decimals. */
interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/** The shortest decimal of this number, which is how it was written. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const [digits, decimals] = [BigInt(whole + fraction), fraction.length - Number(exponent)];
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 };
}

/** `price` less a percentage and an amount, computed exactly and rounded half away from zero to the currency's decimals. */
export function computedPrice(
  price: number,
  { percent = 0, less = 0 }: { readonly percent?: number; readonly less?: number },
  decimals: number,
): number {
  const [of, share, amount] = [decimalOf(price), decimalOf(percent), decimalOf(less)];
  const scale = of.decimals + share.decimals + 2 + amount.decimals + decimals;
  const scaled = (digits: bigint, own: number) => digits * 10n ** BigInt(scale - own);
  const left = scaled(
    of.digits * (100n * 10n ** BigInt(share.decimals) - share.digits),
    of.decimals + share.decimals + 2,
  );
  const exact = left - scaled(amount.digits, amount.decimals);
  const step = 10n ** BigInt(scale - decimals);
  const half = exact < 0n ? -step / 2n : step / 2n;
  return Number(`${(exact + half) / step}e-${decimals}`);
}
