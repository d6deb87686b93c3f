import { describe, expect, test } from "vitest";
import { parseFlag } from "../../../../src/files/formats/completeProduct.js";
import { DateReader } from "../../../../src/files/formats/values/dates.js";
import { splitUrls } from "../../../../src/files/formats/values/images.js";
import { computedPrice, parsePrice } from "../../../../src/files/formats/values/prices.js";
import { compileTemplate } from "../../../../src/files/formats/values/template.js";

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
    ["1,00,000", 100000],
    ["₹ 12,34,567.50", 1234567.5],
    ["Rs. 1,00,000.00", 100000],
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
    "1,00,00",
    "100,00,000",
    "1,00,0000",
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
  ["https://a.example/1.jpg,", 1],
  ["https://a.example/1.jpg\r", 1],
])("%j has %i URLs", (text, count) => {
  expect(splitUrls(text)).toHaveLength(count);
});

test.each([
  "https://a.example/1.jpg\u200b",
  "https://a.example/1.jpg,",
  "https://a.example/1.jpg\r",
  "https://a.example/1.jpg;\r\n",
  " https://a.example/1.jpg | ",
  '["https://a.example/1.jpg,","https://a.example/1.jpg\\r"]',
])("what stands at the end of an entry is not part of its address: %j", (text) => {
  expect([...new Set(splitUrls(text))]).toEqual(["https://a.example/1.jpg"]);
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
const { isWithin, isWithinRange } = {
  isWithin: (time: number, from: string, to: string, zone = "UTC") => new DateReader(zone).isWithin(time, from, to),
  isWithinRange: (text: string, zone = "UTC") => new DateReader(zone).isWithinRange(noon, text),
};

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

test.each([
  ["", "2026-03-10 08:00", "America/New_York", true], // which is noon of UTC
  ["", "2026-03-10 07:59", "America/New_York", false],
  ["2026-03-10 21:01", "", "Asia/Tokyo", false],
  ["2026-03-11", "", "Pacific/Auckland", true],
  ["", "2026-03-10", "Pacific/Auckland", false],
  ["", "10.03.2026", "Pacific/Honolulu", true],
  ["2026-03-10T12:01Z", "", "Asia/Tokyo", false],
] as const)("dates without a zone are of the shop's: from %j to %j in %s: %s", (from, to, zone, expected) => {
  expect(isWithin(noon, from, to, zone)).toBe(expected);
});

test.each([
  ["2026-03-10T11:00+0000/2026-03-10T13:00+0000", true],
  ["2026-03-10T00:00-0800 / 2026-03-10T03:59-0800", false],
  ["2026-03-10/2026-03-10", true],
  ["2026-03-10T0:00-23:59/2026-03-10T0:00-23:59", true], // as Meta's template
  ["2026-03-09T0:00-23:59/2026-03-10T0:00-11:59", false],
  ["2026-03-09/", true],
  ["/2026-03-09", false],
  ["2026-03-09--2026-03-11", true],
  ["2026-03-09 - 2026-03-11", true],
  ["2026-03-09 10:00 \u2013 2026-03-11 10:00", true],
  ["2026-03-09T10:00 2026-03-10T11:59", false],
  ["09.03.2026 bis 11.03.2026", true],
  ["Mar 9, 2026 to Mar 11, 2026", true],
  ["13/02/2026 / 14/03/2026", true],
  ["13/02/2026-14/02/2026", false],
  ["20260309T0000Z/20260311T0000Z", true],
  ["Mon, 09 Mar 2026 10:00 GMT / Wed, 11 Mar 2026 10:00 +0100", true],
  ["1577836800/4102444800", true],
  ["2026-03-10", undefined],
  ["/", undefined],
  ["05/01/2027 / 06/01/2027", undefined],
  ["2026-03-09/2026-03-10/2026-03-11", undefined],
  ["x".repeat(500), undefined],
] as const)("noon is in the range %j: %s", (text, expected) => {
  expect(isWithinRange(text)).toBe(expected);
});

test("a range without a zone is of the shop's", () => {
  expect(isWithinRange("2026-03-10T13:00/2026-03-10T13:30", "Europe/Berlin")).toBe(true);
  expect(isWithinRange("2026-03-10T12:00/2026-03-10T12:30", "Europe/Berlin")).toBe(false);
});

test.each([
  [1.005, { less: -0 }, 2, 1.01],
  [10, { less: 8.995 }, 2, 1.01],
  [20.1, { percent: 15 }, 2, 17.09], // 17.085
  [0.1, { less: -0.2 }, 2, 0.3],
  [1.15, { percent: 50 }, 2, 0.58], // 0.575
  [999, { percent: 12.5 }, 0, 874],
  [9.9995, {}, 3, 10],
  [0.1, { less: 1.105 }, 2, -1.01], // -1.005
  [1e21, { percent: 50 }, 2, 5e20],
  [1e-7, {}, 2, 0],
] as const)("%d with %j, in steps of %i decimals, is %d", (price, change, decimals, expected) => {
  expect(computedPrice(price, change, decimals)).toBe(expected);
});

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
