import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ColumnMarks, readAmount } from "../../../../src/orders/files/cells/amount.js";
import { expectLinear } from "../../../support/repetitions.js";

/** The value of a cell that can be read in one way alone; "ambiguous", or undefined where it cannot be read. */
function valueOf(text: string, currency: string | null = "EUR"): number | "ambiguous" | undefined {
  const amount = readAmount(text, currency);
  return amount?.kind === "ambiguous" ? "ambiguous" : amount?.value;
}

test.each<[string, number]>([
  ["120.50", 120.5],
  ["120,50", 120.5],
  ["0", 0],
  ["007.5", 7.5],
  ["1,234.56", 1234.56],
  ["1.234,56", 1234.56],
  ["1 234,56", 1234.56],
  ["1\u00a0234,56", 1234.56],
  ["1\u202f234\u202f567.5", 1234567.5],
  ["1'234.56", 1234.56],
  ["1’234’567", 1234567],
  ["1 234", 1234],
  ["1,234,567", 1234567],
  ["1.234.567", 1234567],
  ["1,00,000", 100000],
  ["12,34,567.89", 1234567.89],
  ["1.00.000,5", 100000.5],
  ["0.500", 0.5],
  ["1234.500", 1234.5],
  ["1,234.567", 1234.567],
  ["100.0000", 100],
  ["€ 120,50", 120.5],
  ["120,50 €", 120.5],
  ["EUR 120.50", 120.5],
  ["120.50eur", 120.5],
  ["€120.50 EUR", 120.5],
  ["-20.00", -20],
  ["−20.00", -20],
  ["€ -20.00", -20],
  ["-€20.00", -20],
  ["-0.00", 0],
])("%j is %d", (text, value) => {
  expect(valueOf(text)).toBe(value);
});

test.each<[string, string, number]>([
  ["Rs. 500", "INR", 500],
  ["₹1,00,000.50", "INR", 100000.5],
  ["₨ 500", "PKR", 500],
  ["R 99.90", "ZAR", 99.9],
  ["kr. 99,90", "DKK", 99.9],
  ["99,90 zł", "PLN", 99.9],
  ["A$99.90", "AUD", 99.9],
  ["US$99.90", "USD", 99.9],
  ["￥1200", "JPY", 1200],
  ["Fr. 99.90", "CHF", 99.9],
])("%j is of the store's currency %s", (text, currency, value) => {
  expect(valueOf(text, currency)).toBe(value);
  expect(valueOf(text, null)).toBe(value);
});

const wrong =
  "|N/A|-|free|1e3|100K|2M|50%|12/5|(5.00)|5.00-|--5|+5|1,23,45|12,3456,789|1,2345,678|0,123,456|1,234,56|1,234.567.8|1.234,567,8|" +
  "1 23|1  234|1, 234|.50|50.|100,-|1;5|٣٤|$5|US$5|5 USD|kr 5|Rs. 500|€€5|5 EUR EUR|5 e|1.234 567,8|1'234 567";

test.each(wrong.split("|"))("%j is no amount of EUR", (text) => {
  expect(valueOf(text)).toBeUndefined();
});

test("a dollar of another country is not one of the store's", () => {
  expect(valueOf("US$5", "AUD")).toBeUndefined();
  expect(valueOf("C$5", "USD")).toBeUndefined();
});

test("a single mark before exactly three digits is explained by the currency or by another cell, or not at all", () => {
  const among = (texts: readonly string[], decimals: number) => {
    const marks = new ColumnMarks();
    const amounts = texts.flatMap((text) => readAmount(text, null) ?? []);
    amounts.forEach((amount, index) => marks.note(amount, index + 2));
    return [marks.ambiguousLine(decimals), ...amounts.map((amount) => marks.valueOf(amount, decimals))];
  };
  expect(among(["5", "1,234", "1.234"], 2)).toEqual([3, 5, undefined, undefined]);
  expect(among(["1,234"], 0)).toEqual([undefined, 1234]);
  expect(among(["1.234", "12,50"], 2)).toEqual([undefined, 1234, 12.5]);
  expect(among(["1.234", "12.50"], 3)).toEqual([undefined, 1.234, 12.5]);
  expect(among(["-1,234", "1.234.567"], 2)).toEqual([undefined, -1.234, 1234567]);
  expect(among(["1,234", "1,234,567"], 2)).toEqual([undefined, 1234, 1234567]);
  expect(among(["12.50", "12,50", "1,234"], 2)).toEqual([4, 12.5, 12.5, undefined]);
  expect(among(["1 234", "1,234"], 2)).toEqual([3, 1234, undefined]);
});

const style = fc.record({
  whole: fc.bigInt({ min: 0n, max: 10n ** 11n }).map(String),
  fraction: fc.string({ unit: fc.constantFrom(..."0123456789".split("")), maxLength: 4 }),
  grouping: fc.constantFrom("none", "thousands", "india"),
  groupMark: fc.constantFrom(".", ",", " ", "'", "\u202f"),
  decimalMark: fc.constantFrom(".", ","),
  before: fc.constantFrom("", "€", "€ ", "EUR ", "-", "-€"),
  after: fc.constantFrom("", " €", "EUR"),
});

test("whatever way an amount is written, it is read as that amount, or is ambiguous where two ways look the same", () => {
  fc.assert(
    fc.property(style, ({ whole, fraction, grouping, groupMark, decimalMark, before, after }) => {
      fc.pre(groupMark !== decimalMark || grouping === "none");
      const groups = { none: /(?!)/gu, thousands: /\B(?=(?:\d{3})+$)/gu, india: /\B(?=(?:\d{2})*\d{3}$)/gu };
      const grouped = whole.replaceAll(groups[grouping], groupMark);
      const text = `${before}${grouped}${fraction && decimalMark}${fraction}${after}`;
      const marks = `${grouped}${fraction && decimalMark}`.replaceAll(/\d/gu, "");
      const isSingle = marks === "." || marks === ",";
      const digitsAfter = grouped === whole ? fraction : "000";
      const isAmbiguous = isSingle && digitsAfter.length === 3 && /^[1-9]\d{0,2}(?!\d)/u.test(grouped);
      const value = Number(`${whole}.${fraction || "0"}`) * (before.startsWith("-") ? -1 : 1);
      expect(valueOf(text), text).toBe(isAmbiguous ? "ambiguous" : value + 0);
    }),
  );
});

test("no digit of a cell is ever left out", () => {
  const cell = fc.string({ unit: fc.constantFrom(..."0123456789.,' -€eEK()/".split("")), maxLength: 12 });
  fc.assert(
    fc.property(cell, (text) => {
      const amount = readAmount(text, "EUR");
      if (amount === undefined) return;
      const read = amount.kind === "plain" ? [amount.value] : [amount.asGroups, amount.asDecimals];
      const digits = (of: string) => of.replaceAll(/\D/gu, "").replaceAll(/^0+|0+$/gu, "");
      for (const value of read) expect(digits(value.toFixed(12)), text).toBe(digits(text));
    }),
  );
});

test("a cell of any length takes linear time", async () => {
  await expectLinear((text) => readAmount(text, "EUR"));
  await expectLinear((text) => readAmount(`1${text}`, null));
});
