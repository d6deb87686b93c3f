import { expect, test } from "vitest";
import { SentDigits } from "../../../src/lib/json/digits.js";

const text = String.raw`[
  {"price": 1e400, "id":"\"price\": 2e400", "sku": 12345678901234567890},
  {"note": "price", "price" : 5, "x": {"price": "1e401"}},
  {"price":1e402,"sku":12345678901234567891}
]`;

test("numbers of a member are found in their order, as they were sent", () => {
  const digits = new SentDigits(() => text);
  expect(digits.of("price", Infinity)).toBe("1e400");
  expect(digits.of("sku", Number("12345678901234567890"))).toBe("12345678901234567890");
  expect(digits.of("price", Infinity)).toBe("1e402");
  expect(digits.of("sku", Number("12345678901234567890"))).toBe("12345678901234567891");
  expect(digits.of("price", Infinity)).toBeUndefined();
});

test("a number that no member has by this name is not found", () => {
  expect(new SentDigits(() => text).of("price", 7)).toBeUndefined();
  expect(new SentDigits(() => text).of("title", 5)).toBeUndefined();
});
