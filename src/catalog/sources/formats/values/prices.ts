const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;
const withCurrency =
  /^(?:[\p{L}\p{Sc}]{1,4}\.?)?\s*(-?(?:[\d.,'’][\d.,'’\s]*)?\d)(?:[.,][-–—]{0,2})?\s*(?:[\p{L}\p{Sc}]{1,4}\.?)?$/u;
const grouped = /^\d{1,3}(?:[.,'’\s]\d{3})+$/u;

/**
 * Reads prices as shops write them: `12.90`, `12,90`, `12.90 EUR`, `1.234,50`, `1,234.50`, `€ 1 234,50`. A comma before
 * exactly three digits groups thousands (`1,234`); a single point is always decimal. Null if there is none, and the
 * text itself if it is no price.
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
  if (/\D/u.test(fraction) || separators.size > 1 || (separators.size === 1 && !grouped.test(whole))) return undefined;
  return `${negative ? "-" : ""}${whole.replaceAll(/\D/gu, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}

/** -1 without decimals. */
function decimalPoint(text: string): number {
  const [comma, point] = [text.lastIndexOf(","), text.lastIndexOf(".")];
  if (comma !== -1 && point !== -1) return Math.max(comma, point);
  const last = Math.max(comma, point);
  const isRepeated = last !== text.indexOf(comma === -1 ? "." : ",");
  if (isRepeated || (comma !== -1 && /^[1-9]\d{0,2},\d{3}$/u.test(text))) return -1;
  return last;
}
