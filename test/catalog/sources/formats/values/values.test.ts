import { describe, expect, test } from "vitest";
import { isWithin } from "../../../../../src/catalog/sources/formats/values/dates.js";
import { parseFlag } from "../../../../../src/catalog/sources/formats/finish.js";
import { splitUrls } from "../../../../../src/catalog/sources/formats/values/images.js";
import { parsePrice } from "../../../../../src/catalog/sources/formats/values/prices.js";
import { compileTemplate } from "../../../../../src/catalog/sources/formats/values/template.js";

describe("prices", () => {
  test.each([
    ["12.90", 12.9],
    ["12,90", 12.9],
    ["12.90 EUR", 12.9],
    ["12,90€", 12.9],
    ["€ 12,9", 12.9],
    ["CHF 1'234.50", 1234.5],
    ["1.234,50", 1234.5],
    ["1,234.50 USD", 1234.5],
    ["1 234,50 zł", 1234.5],
    ["1\u{202f}234,50", 1234.5],
    ["1.234.567", 1234567],
    ["1,234", 1234],
    ["0,500", 0.5],
    ["1.234", 1.234],
    ["52.000000", 52],
    ["129,-", 129],
    [".99", 0.99],
    ["US$12", 12],
    ["-3,50", -3.5],
    ["007,50", 7.5],
    ["", null],
  ])("%j is %j", (text, price) => {
    expect(parsePrice(text)).toBe(price);
  });

  test.each([
    "twelve",
    "12.90 - 15.00",
    "12,34,56.78.9",
    "1.23,45.6",
    "12 EUR 13",
    "€",
    "1".repeat(500),
    "1e400",
    "1,2,3",
  ])("%j is not a price, and stays as it is", (text) => {
    expect(parsePrice(text)).toBe(text);
  });
});

test.each([
  ["https://a.example/1.jpg, https://a.example/2.jpg", 2],
  ["https://a.example/1.jpg,https://a.example/2.jpg", 2],
  ["https://a.example/1.jpg|https://a.example/2.jpg", 2],
  ["https://a.example/w_10,h_20/1.jpg", 1],
  ['["https://a.example/1.jpg","https://a.example/2.jpg"]', 2],
  ["", 0],
])("%j has %i URLs", (text, count) => {
  expect(splitUrls(text)).toHaveLength(count);
});

/** Spreadsheets write yes and no in their language; Google, Meta and schema.org have words of their own. */
const words = {
  yes: `1|12|Yes|on|ja|oui|sí|WAHR|VRAI|VERDADERO|VERO|WAAR|PRAWDA|SANT|in stock|in_stock|InStock|https://schema.org/InStock
    |http://schema.org/PreOrder|preorder|pre-order|pre_order|backorder|back order|available for order|limited availability|published`,
  no: `0|-1|0.0000|no|off|nein|non|FALSCH|FAUX|FALSO|ONWAAR|FAŁSZ|FALSKT|out of stock|out_of_stock|OutOfStock|https://schema.org/OutOfStock
    |sold out|sold_out|SoldOut|discontinued|reserved|mark as sold|pending`,
};
const listed = (list: string) => list.split("|").map((word) => word.trim());

test("words of several languages and numbers in stock say whether something is available", () => {
  expect(listed(words.yes).filter((word) => parseFlag(word) !== true)).toEqual([]);
  expect(listed(words.no).filter((word) => parseFlag(word) !== false)).toEqual([]);
  expect(parseFlag("")).toBeNull();
  for (const word of ["maybe", "trueish", "x".repeat(500)]) expect(parseFlag(word)).toBe(word);
  expect([parseFlag("12", false), parseFlag("1", false), parseFlag("-1", false)]).toEqual(["12", true, false]);
});

const noon = Date.parse("2026-03-10T12:00:00Z");

test.each([
  ["", "", true],
  ["2026-03-10", "2026-03-10", true], // an end without a time includes its day
  ["2026-03-11", "", false],
  ["", "2026-03-09", false],
  ["2026-03-10T13:00:00+01:00", "", true],
  ["2026-03-10T12:01:00Z", "", false],
  ["", "2026-03-10 11:59:59", false],
  ["16.03.15, 17:08", "28 Feb 2999", true],
  ["1577836800", "4102444800", true],
  ["1577836800000", "", true],
  ["31.12.2023", "31.12.2999", true],
  ["28/02/2015", "28/02/2999", true],
  ["2/28/15", "2/28/27", true],
  ["Jan 5, 2020", "2020-01-31", false],
  ["Mar 10, 2026 1:00 pm", "", false],
  ["", "03.03.2026 23:59", false],
] as const)("noon is from %j to %j: %s", (from, to, expected) => {
  expect(isWithin(noon, from, to)).toBe(expected);
});

test.each(["05/01/2027", "soon", "31.02.2020", "foo 2020", "99", "2020-13-01", "2026-03-10T25:00", "x".repeat(100)])(
  "it is not known whether a time is before or after %j",
  (date) => {
    expect([isWithin(noon, date, ""), isWithin(noon, "", date)]).toEqual([undefined, undefined]);
  },
);

describe("templates of URLs", () => {
  const fill = (template: string, values: Record<string, string>) =>
    compileTemplate(template).fill((name) => values[name] ?? "");

  test("encode each value, and take the first alternative that has one", () => {
    expect(fill("https://shop.example/{a|b}?c={C}", { b: "x y/ö", c: "1" })).toBe(
      "https://shop.example/x%20y%2F%C3%B6?c=1",
    );
    expect(fill("//shop.example/{a}", {})).toBeUndefined();
  });

  test.each(["shop.example/{a}", "https://shop.example/{a", "https://shop.example/{}", "ftp://a/{b}", "https://{a|}/"])(
    "%j is refused",
    (template) => {
      expect(() => compileTemplate(template)).toThrow(/^The URL template/u);
    },
  );
});
