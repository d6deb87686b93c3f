import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../src/json.js";
import { contentPieces, takeLongString } from "../src/jsonString.js";

/** What the content of a JSON string is made of, as it may be written. */
const atoms = ["a", " ", "é", "€", "😀", "\uFEFF", "\\n", '\\"', "\\\\", "\\/", "\\u00e9", "\\uD83D\\ude00", "\\ud800"];
const contents = fc
  .array(
    fc.oneof(
      fc.constantFrom(...atoms),
      fc.nat(40).map((times) => "\\\\".repeat(times)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));
const pieceBytes = fc.integer({ min: 16, max: 40 });

const parsed = (content: string) => JSON.parse(`"${content}"`) as string;

function readInPieces(content: Buffer, bytes: number): string {
  return Array.from(contentPieces(content, bytes), parseJson).join("");
}

test("a string is the same in pieces as whole, wherever it is cut", () => {
  fc.assert(
    fc.property(contents, pieceBytes, (content, bytes) => {
      const pieces = [...contentPieces(Buffer.from(content), bytes)];
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(bytes + 2);
      expect(pieces.map(parseJson).join("")).toBe(parsed(content));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["bytes that are not UTF-8", Buffer.from([0xc3])],
  ["a byte that goes on with a character that never began", Buffer.from([0x80, 0x80, 0x80, 0x80])],
  ["a line break", Buffer.from("\n")],
  ["an escape that does not exist", Buffer.from("\\x")],
  ["an escape that is not whole", Buffer.from("\\u12g")],
  ["an escape without what it escapes", Buffer.from("\\")],
])("%s are refused in whatever piece they are", (_, wrong) => {
  fc.assert(
    fc.property(contents, contents, pieceBytes, (before, after, bytes) => {
      // What follows must not make the escape whole.
      const content = Buffer.concat([
        Buffer.from(before),
        wrong,
        Buffer.from(wrong.at(-1) === 0x5c ? "" : ` ${after}`),
      ]);
      expect(() => readInPieces(content, bytes)).toThrow("The body is not valid JSON in UTF-8.");
    }),
    { numRuns: 300 },
  );
});

test("the long member of a text is taken out of it, whatever stands around", async () => {
  const around = fc.json({ depthSize: "small", maxDepth: 3 });
  const property = fc.asyncProperty(around, around, contents, async (before, after, content) => {
    const long = `${content}${"x".repeat(200)}`;
    const text = `{"before": ${before}, "long":"${long}" , "after":${after}}`;
    const taken = await takeLongString(Buffer.from(text), "long", 200);
    expect(taken?.content.toString()).toBe(long);
    expect(taken?.json.toString().replace(taken.ticket, () => long)).toBe(text);
    expect(JSON.parse(String(taken?.json))).toEqual({ ...JSON.parse(text), long: taken?.ticket });
  });
  await fc.assert(property, { numRuns: 300 });
});

const long = "x".repeat(100);
test.each([
  ["it is not long enough", `{"long": "${long.slice(1)}", "${long}": [${"1,".repeat(500)}2]}`],
  ["there are two", `{"long": "${long}", "long": "${long}"}`],
  ["another one is long", `{"other": "${long}", "long": "", "xlong":"${long}", "long ":"${long}"}`],
  ["the long string is an item or a name", `["long", "${long}", {"${long}": 1, "long": ["${long}"]}]`],
  ["the name is written with escapes", `{"l\\u006fng": "${long}"}`],
  ["it never ends", `{"long":"${long}`],
  ["its last quote is escaped", `{"long":"${long}\\"`],
  ["there is no string at all", `[${"1,".repeat(500)}2]`],
  ["there is a string and nothing before it", `"${long}"`],
  ["there is a colon and nothing before it", ` : "${long}"`],
  ["there is nothing", ""],
])("nothing is taken where %s", async (_, text) => {
  expect(await takeLongString(Buffer.from(text), "long", 100)).toBeUndefined();
});

test.each([
  `{"long":"${long}"}`,
  `{"a":[{"b":0,"long" \t:\r\n "${long}"}]}`,
  `"long":"${long}"`,
  `{"other":"${long}","long":"${long}"}`,
])("it is taken from %s", async (text) => {
  const taken = await takeLongString(Buffer.from(text), "long", 100);
  expect(taken?.content.toString()).toBe(long);
  expect(taken?.json.toString().replace(taken.ticket, () => long)).toBe(text);
});

test("a string of many megabytes is found where it stands, beside millions of short ones", async () => {
  const short = '"\\"",'.repeat(1_000_000);
  const content = "row,\\n".repeat(1_000_000);
  const taken = await takeLongString(Buffer.from(`[${short}{"long":"${content}"},${short}0]`), "long", 1_000_000);
  expect(taken?.content.equals(Buffer.from(content))).toBe(true);
  expect(taken?.json.toString()).toBe(`[${short}{"long":"${taken?.ticket}"},${short}0]`);
});
