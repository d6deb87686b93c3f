import * as fc from "fast-check";
import { anyText } from "./anyText.js";

/** Text that has broken programs before: what the server, the database, a page or a terminal may take for something else. */
const naughty = [
  "\0",
  "a\0b",
  "\u0001\u0008\u000b\u001b[31m\u007f\u0085",
  "\ud800",
  "\udfff\ud800",
  "a\udc00",
  "\ufeffx",
  "\ufffe\uffff",
  "\u202eright to left\u202c",
  "\u200b\u2060\u00ad",
  "\u00a0",
  "\u2028\u2029",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "Z̸̧̛̤͙͂̊̑a̵͔̓̃l̶̢̂g̷̞͑o̴",
  "ﷺ",
  "İIıi",
  "ſßẞﬀ",
  '\'; DROP TABLE "Product"; --',
  "' OR '1'='1",
  '\\\'; TRUNCATE "Store" CASCADE; --',
  "'||pg_sleep(60)||'",
  "$1",
  "$$",
  "%s%n%d",
  "{a,b}",
  'a","b',
  "NULL",
  "null",
  "undefined",
  "NaN",
  "true",
  "0",
  "-0",
  "1e308",
  "\\",
  "\\u0000",
  "\\x00",
  '"',
  "`",
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "<!--#exec cmd=ls-->",
  "${7*7}",
  "{{7*7}}",
  "#{7*7}",
  "%{7*7}",
  "../../../../etc/passwd",
  "..\\..\\win.ini",
  "file:///etc/passwd",
  "/dev/zero",
  "con",
  "=1+1|' /C calc'!A0",
  "\r\nX-Injected: 1",
  "javascript:alert(1)",
  "data:text/html,x",
  "//[::1]:99999/",
  "https://user:pass@shop.example:0/%zz?a=%00#\u0000",
  "http://\u202e.example/",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__typename",
  "bulk",
  ".",
  "..",
  "%",
  "%2F",
  "%00",
  "a/b",
  "a?b#c",
  "a b",
  "+",
  "2026-02-30T00:00:00Z",
  "+275760-09-13T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  "0000-01-01T00:00:00Z",
  "WyJyYWluLWNvYXQiXQ",
  "WyJcdWQ4MDAiXQ",
  "WyIyMDI2LTA1LTA0VDE4OjMwOjAwWiIsIlx1ZDgwMCJd",
  "WyI5OTk5LTEyLTMxVDIzOjU5OjU5Ljk5OVoiLCJ4Il0",
] as const;

/** Around every limit of a text: characters of one, two, three and four bytes, which no database can make shorter. */
const long = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(254, 255, 256, 999, 1_000, 1_001, 2_047, 2_048, 2_049) },
      { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 200_000) },
    ),
    fc.constantFrom([0x21, 94], [0xa1, 700], [0x4e00, 20_000], [0x20000, 40_000]),
    fc.nat(),
  )
  .map(([length, [from = 0, count = 1], seed]) => {
    let state = seed;
    return Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return String.fromCodePoint(from + (state % count));
    }).join("");
  });

/** Any text: naughty, random, or long. */
export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 16, arbitrary: fc.constantFrom(...naughty) },
  { weight: 6, arbitrary: anyText({ maxLength: 20 }) },
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
      .map((units) => String.fromCharCode(...units)),
  },
  { weight: 1, arbitrary: long },
);

/** Numbers as they stand in JSON, far beyond what doubles, integers and decimals hold. */
export const rawNumbers: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "0.1",
    "1e308",
    "-1e308",
    "1e309",
    "1e999999",
    "1e-320",
    "5e-324",
    "1e-999",
  ),
  fc.constantFrom("9007199254740991", "9007199254740993", "2147483647", "2147483648", "-2147483649", "4294967296"),
  fc.constantFrom(
    "1.0",
    "100",
    "101",
    "60",
    "86400",
    "1E2",
    "0.30000000000000004",
    "1.7976931348623157e308",
    "9".repeat(400),
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
);

/** Texts of which several fit into a path and query string of 8,192 characters, however they are encoded. */
export const shortTexts = texts.filter((text) => text.length <= 100);
