import { expect, test } from "vitest";
import { realIdOf } from "../../src/tracker/guard.js";

test.each([
  "undefined",
  "null",
  "NaN",
  "[object Object]",
  " 0 ",
  "",
  " ",
  "x".repeat(256),
  {},
  [],
  null,
  undefined,
  Number.NaN,
])("%j names no order and no viewer", (sent) => expect(realIdOf(sent)).toBeUndefined());

test("a number is an id as a text", () => {
  expect([realIdOf(1001), realIdOf("1001"), realIdOf("gid://shopify/Order/1001")]).toEqual([
    "1001",
    "1001",
    "gid://shopify/Order/1001",
  ]);
});
