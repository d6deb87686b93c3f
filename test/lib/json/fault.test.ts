import fc from "fast-check";
import { expect, test } from "vitest";
import { faultIn, notJson, placeIn } from "../../../src/lib/json/parseJson.js";

test.each([
  ["", 0],
  ["{", 1],
  [`{"a":}`, 5],
  [`{"a":1,}`, 7],
  [`{a:1}`, 1],
  [`{"a" 1}`, 5],
  ["[1,]", 3],
  ["[,1]", 1],
  ["[1 2]", 3],
  ["[1}", 2],
  ["01", 1],
  ["-", 0],
  ["1.", 0],
  ["1e+", 0],
  ["NaN", 0],
  ["nul", 0],
  ["trux", 0],
  [`"a`, 0],
  [`"\n"`, 0],
  [`"\\x"`, 0],
  [`"\\u12g4"`, 0],
  ["1]", 1],
  ["{} {}", 3],
  ["\uFEFF[1", 5],
  [`\uFEFF["größe" x]`, 14],
  ["[1 /* a comment */]", 3],
  ["[\v1]", 1],
  [`["a"\u2028]`, 4],
])("%j stops being JSON at byte %i", (text, at) => {
  expect(faultIn(Buffer.from(text))).toBe(at);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
});

test("more levels than the stack has room for are a fault", () => {
  expect(faultIn(Buffer.from("[".repeat(1_000_000)))).toBe(1_000);
});

test("what is not UTF-8 is found too, before what is wrong behind it", () => {
  expect(faultIn(Buffer.from([0x22, 0x61, 0xff, 0x22, 0x2c]))).toBe(2);
  expect(faultIn(Buffer.from([0x22, 0xc3]))).toBe(0);
});

test("valid JSON has no fault, and what precedes the fault of any other text can be continued", () => {
  const property = fc.property(
    fc.json(),
    fc.nat(),
    fc.constantFrom("", ",", "}", "]", ":", "x", "1"),
    (json, place, put) => {
      expect(faultIn(Buffer.from(json))).toBe(Buffer.byteLength(json));
      const at = place % (json.length + 1);
      const text = json.slice(0, at) + put + json.slice(at + 1);
      let isValid = true;
      try {
        JSON.parse(text);
      } catch {
        isValid = false;
      }
      const bytes = Buffer.from(text);
      const fault = faultIn(bytes);
      if (isValid) expect(fault).toBe(bytes.length);
      else if (fault < bytes.length) expect(faultIn(bytes.subarray(0, fault))).toBe(fault);
    },
  );
  fc.assert(property);
});

test("a place is a line and a column of characters, both from 1", () => {
  const bytes = Buffer.from(`{\n  "größe": 1,\n  "b": x\n}`);
  expect(placeIn(bytes, faultIn(bytes))).toEqual({ line: 3, column: 8 });
  expect(notJson(`{"größe": }`)).toBe("The line is not JSON: see column 11.");
});
