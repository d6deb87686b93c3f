/** How shops abbreviate a currency beside the signs that `Intl` knows, in lower case and without a point. */
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
 * Whether the text that stands beside an amount can be the sign, the abbreviation or the code of a currency.
 *
 * @param currency in which amounts are; null if any currency may be meant
 */
export function isSignOf(text: string, currency: string | null): boolean {
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
