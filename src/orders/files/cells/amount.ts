import { areGroups } from "../../../files/formats/values/prices.js";

/** What separates the decimals of an amount, or its groups of digits. */
type Mark = "." | ",";

interface PlainAmount {
  readonly kind: "plain";
  readonly value: number;
  /** What separates decimals in this cell, if it shows that. */
  readonly decimalMark: Mark | undefined;
}

/** A single mark before exactly three digits: `1,234` and `1.234` may be thousands or have three decimals. */
interface AmbiguousAmount {
  readonly kind: "ambiguous";
  readonly mark: Mark;
  readonly asGroups: number;
  readonly asDecimals: number;
}

export type CellAmount = PlainAmount | AmbiguousAmount;

const charactersMax = 64;
const digit = /\d/u;
const otherThanMarks = /[^.,' ]/u;

/**
 * Reads a cell that only holds an amount: digits, perhaps in groups of three or Indian groups (`1,00,000`), with either decimal mark, a
 * minus, and signs or codes of the currency at either end.
 *
 * @param currency the store's, null if it has none
 * @returns undefined for anything else
 */
export function readAmount(text: string, currency: string | null): CellAmount | undefined {
  if (text.length > charactersMax) return undefined;
  const first = text.search(digit);
  if (first === -1) return undefined;
  let end = text.length;
  while (!digit.test(text.charAt(end - 1))) end -= 1;
  const before = text.slice(0, first).trim().replace("−", "-");
  const isNegative = before.startsWith("-") || before.endsWith("-");
  const sign = before.replace("-", "").trim();
  const isSign = (other: string) => other === "" || isSignOf(other, currency);
  if (!isSign(sign) || !isSign(text.slice(end).trim())) return undefined;
  const size = readDigits(text.slice(first, end));
  if (size === undefined || !isNegative) return size;
  if (size.kind === "plain") return { ...size, value: 0 - size.value };
  return { ...size, asGroups: -size.asGroups, asDecimals: -size.asDecimals };
}

function readDigits(text: string): CellAmount | undefined {
  const body = text.replaceAll(/[\u00a0\u2009\u202f]/gu, " ").replaceAll("’", "'");
  const parts = body.split(/\D/u);
  const marks = body.replaceAll(/\d/gu, "");
  if (parts.includes("") || otherThanMarks.test(marks)) return undefined;
  const last = marks.at(-1);
  if (last === undefined) return plain(parts, "", undefined);
  const earlier = new Set(marks.slice(0, -1));
  if (earlier.size > 1) return undefined;
  if (!isMark(last) || earlier.has(last)) {
    const isOneKind = earlier.size === 0 || earlier.has(last);
    return isOneKind && areOwnGroups(parts) ? plain(parts, "", otherOf(last)) : undefined;
  }
  return withDecimals(parts, last, earlier.size > 0);
}

/** @param last separates decimals, unless it is the only mark */
function withDecimals(parts: readonly string[], last: Mark, isGrouped: boolean): CellAmount | undefined {
  const [whole, fraction] = [parts.slice(0, -1), parts.at(-1) ?? ""];
  if (!isGrouped) return readSingle(whole.join(""), fraction, last);
  return areOwnGroups(whole) ? plain(whole, fraction, last) : undefined;
}

/** Digits with a single mark among them. */
function readSingle(whole: string, fraction: string, mark: Mark): CellAmount {
  if (fraction.length !== 3 || !/^[1-9]\d{0,2}$/u.test(whole)) return plain([whole], fraction, mark);
  const [asGroups, asDecimals] = [Number(whole + fraction), Number(`${whole}.${fraction}`)];
  return { kind: "ambiguous", mark, asGroups, asDecimals };
}

function plain(whole: readonly string[], fraction: string, decimalMark: Mark | undefined): PlainAmount {
  return { kind: "plain", value: Number(`${whole.join("")}.${fraction || "0"}`), decimalMark };
}

function isMark(text: string): text is Mark {
  return text === "." || text === ",";
}

/** If this mark separates groups, the other one separates decimals. */
function otherOf(mark: string): Mark | undefined {
  return mark === "." ? "," : mark === "," ? "." : undefined;
}

function areOwnGroups(parts: readonly string[]): boolean {
  return parts[0]?.startsWith("0") === false && areGroups(parts);
}

/** What the cells of a column show about which mark separates decimals. */
export class ColumnMarks {
  readonly #shown = new Set<Mark>();
  readonly #firstAmbiguous = new Map<Mark, number>();

  note(amount: CellAmount, line: number): void {
    if (amount.kind === "ambiguous") {
      if (!this.#firstAmbiguous.has(amount.mark)) this.#firstAmbiguous.set(amount.mark, line);
    } else if (amount.decimalMark !== undefined) this.#shown.add(amount.decimalMark);
  }

  /** The first line with an ambiguous amount that no other cell explains. @param decimals of the currency */
  ambiguousLine(decimals: number): number | undefined {
    if (decimals === 0 || this.#shown.size === 1 || this.#firstAmbiguous.size === 0) return undefined;
    return Math.min(...this.#firstAmbiguous.values());
  }

  /** Undefined for an ambiguous amount that no other cell explains. @param decimals of the currency */
  valueOf(amount: CellAmount, decimals: number): number | undefined {
    if (amount.kind === "plain") return amount.value;
    if (decimals === 0) return amount.asGroups;
    if (this.#shown.size !== 1) return undefined;
    return this.#shown.has(amount.mark) ? amount.asDecimals : amount.asGroups;
  }
}

/** Abbreviations of currencies in shops, besides the signs that `Intl` knows, in lower case and without a point. */
const abbreviations: Readonly<Record<string, readonly string[]>> = {
  AED: ["dh", "dhs"],
  CHF: ["fr", "sfr"],
  INR: ["rs"],
  RUB: ["руб"],
  TRY: ["tl"],
  UAH: ["грн"],
};

const codes: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** A sign, perhaps with the country: `€`, `US$`. */
const signShape = /^(\p{L}{0,3})(\p{Sc})$/u;

/**
 * Whether the text beside an amount can be the sign, the abbreviation or the code of a currency.
 *
 * @param currency of the amounts; null if it may be any
 */
function isSignOf(text: string, currency: string | null): boolean {
  const sign = text.normalize("NFKC").replace(/\.$/u, ""); // ₨ is Rs, and ￥ is ¥
  const code = sign.toUpperCase();
  if (codes.has(code)) return currency === null || currency === code;
  if (currency !== null) return isOwnSign(sign, currency);
  return signShape.test(sign) || [...codes].some((each) => isAbbreviation(sign, each));
}

function isOwnSign(sign: string, currency: string): boolean {
  const [, country, symbol] = signShape.exec(sign) ?? [];
  if (symbol === undefined || country === undefined) return isAbbreviation(sign, currency);
  const own = signsOf(currency);
  if (own.includes(sign.toLowerCase())) return true;
  return currency.startsWith(country.toUpperCase()) && own.some((each) => each.endsWith(symbol));
}

function isAbbreviation(text: string, currency: string): boolean {
  return signsOf(currency).includes(text.toLowerCase());
}

const signs = new Map<string, readonly string[]>();

/** In lower case. */
function signsOf(currency: string): readonly string[] {
  const before = signs.get(currency);
  if (before !== undefined) return before;
  const own = (["symbol", "narrowSymbol"] as const).flatMap((currencyDisplay) =>
    new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay })
      .formatToParts(0)
      .filter(({ type }) => type === "currency")
      .map(({ value }) => value.toLowerCase()),
  );
  // 100K is a hundred thousand, and not an amount of Myanmar.
  const found = [...own, ...(abbreviations[currency] ?? [])].filter((sign) => sign !== "k");
  signs.set(currency, found);
  return found;
}
