import { describe, expect, test } from "vitest";
import { isWithin } from "../../../../../src/catalog/sources/formats/values/dates.js";
import { parseFlag } from "../../../../../src/catalog/sources/formats/values/flags.js";
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

test("words and numbers in stock say whether something is available", () => {
  const flags = [
    "1",
    "Yes",
    "in stock",
    "in_stock",
    "preorder",
    "backorder",
    "12",
    "0",
    "out of stock",
    "-1",
    "",
    "maybe",
  ];
  expect(flags.map((flag) => parseFlag(flag))).toEqual([
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    null,
    "maybe",
  ]);
});

test("an end without a time includes its day; an invalid date says nothing", () => {
  const noon = Date.parse("2026-03-10T12:00:00Z");
  expect(isWithin(noon, "2026-03-10", "2026-03-10")).toBe(true);
  expect(isWithin(noon, "2026-03-11", "")).toBe(false);
  expect(isWithin(noon, "", "2026-03-09")).toBe(false);
  expect(isWithin(noon, "soon", "")).toBeUndefined();
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
