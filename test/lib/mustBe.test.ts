import fc from "fast-check";
import { expect, test } from "vitest";
import { mustBe, shownValue } from "../../src/lib/mustBe.js";
import { anyText } from "../support/fuzz/anyText.js";

test.each([
  ["cheap", '"cheap"'],
  ["", '""'],
  ['say "hi"', '"say \\"hi\\""'],
  [-1.5, "-1.5"],
  [Infinity, "Infinity"],
  [true, "true"],
  [null, "null"],
  [undefined, "undefined"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [["secret"], "an array"],
  [{ password: "secret" }, "an object"],
  ["x".repeat(61), `"${"x".repeat(60)}…"`],
  [
    "a\u0000\n\u001b[31m\u007f\u0085\u202e\u2028\u200b\u00a0b",
    '"a\\u0000\\n\\u001b[31m\\u007f\\u0085\\u202e\\u2028\\u200b\\u00a0b"',
  ],
  ["\u{e0041}", '"\\udb40\\udc41"'],
  ["Größe 鞋 👟", '"Größe 鞋 👟"'],
  [`${"x".repeat(59)}👟`, `"${"x".repeat(59)}…"`],
])("%j is shown as %s", (value, shown) => {
  expect(mustBe("price", "a number", value)).toBe(`price must be a number, not ${shown}.`);
});

test.each([
  ["vt_Zk3-secret_9", '"…"'],
  ["Bearer abc.def", '"Bearer …"'],
  ["ftp://user:secret@a.example/x", '"ftp://…@a.example/x"'],
  [`ftp://user:${"s".repeat(300)}@a.example/`, '"ftp://…@a.example/"'],
  ["ftp://a.example/x?access_token=secret&size=1", '"ftp://a.example/x?access_token=…&size=1"'],
])("a secret in a value is not shown: %s", (value, shown) => {
  expect(shownValue(value)).toBe(shown);
});

test("whatever the text, what is shown is short, well-formed and has no invisible character", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 5_000 }), (text) => {
      const shown = shownValue(text);
      expect(shown.length).toBeLessThanOrEqual(61 * 6 + 2);
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
