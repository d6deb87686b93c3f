import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultIn, parseJson, placeIn } from "../../../src/lib/json/parseJson.js";
import { cutBody, parseBody, parseUnparsed, sharedBody } from "../../../src/lib/json/jsonBody.js";
import { depthMax, JsonScanner, longFromBytes } from "../../../src/lib/json/scanJson.js";
import { parsedSlices, stringSlices } from "../../../src/lib/json/elements.js";

const long = "x".repeat(longFromBytes);

/** Scans a text that arrives in pieces of so many bytes. */
function scan(text: string | Buffer, pieceBytes = Infinity) {
  const bytes = Buffer.from(text as string);
  const scanner = new JsonScanner();
  const step = Math.min(pieceBytes, Math.max(1, bytes.length));
  for (let at = 0; at < bytes.length; at += step) scanner.push(bytes.subarray(at, at + step));
  return { bytes, scanner };
}

async function parse(text: string | Buffer, parent: readonly string[] = [], pieceBytes?: number) {
  const { bytes, scanner } = scan(text, pieceBytes);
  return parseBody(cutBody(scanner.end(bytes), parent), sharedBody(bytes));
}

/** A body with its long values parsed as well. */
async function whole(text: string | Buffer, parent: readonly string[] = []): Promise<unknown> {
  const { value, unparsed } = await parse(text, parent);
  const members = parent.reduce((at, name) => at?.[name], value as any);
  for (const [name, given] of Object.entries(members ?? {})) {
    const found = unparsed.get(given as string);
    if (found !== undefined) members[name] = await parseUnparsed(found);
  }
  return value;
}

describe("levels of arrays and objects", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test(`may be ${depthMax}`, () => {
    expect(() => scan(nested(depthMax))).not.toThrow();
    expect(() => scan(`{"a":"${"[".repeat(100)}\\"${"[".repeat(100)}"}`)).not.toThrow();
  });

  test("above that are refused as soon as they arrive, however the bytes are split", () => {
    const message = `The body may have at most ${depthMax} levels of arrays and objects.`;
    for (const piece of [1, 7, Infinity]) expect(() => scan(nested(depthMax + 1), piece)).toThrow(message);
    expect(() => scan("[".repeat(16_000_000))).toThrow(message);
    expect(() => scan(`{"a":"\\\\","b":${'{"c":'.repeat(depthMax)}`, 3)).toThrow(message);
  });
});

describe("long values", () => {
  test("of the members of an object are left unparsed, however the body is split", async () => {
    const text = `{ "a" :1,"list": [1,[2,{"b":3}], "${long}" ] ,"text":"${long}\\"","short":"x","object":{"list":"${long}"}}`;
    for (const piece of [1_000, 4_096, Infinity]) {
      const { value, unparsed, length } = await parse(text, [], piece);
      const { list, text: csv, object, ...others } = value as Record<string, string>;
      expect(others).toEqual({ a: 1, short: "x" });
      expect(length).toBe(text.length);
      const shown = [list, csv, object].map(async (placeholder) => {
        const { body, first, start, end, items } = unparsed.get(String(placeholder)) ?? expect.fail("not left");
        const bytes = await body.bytes();
        expect(bytes.toString("utf8", start, start + 1)).toBe(first);
        return [items, bytes.toString("utf8", start, start + 2), bytes.toString("utf8", end - 2, end)];
      });
      expect(await Promise.all(shown)).toEqual([
        [3, "[1", " ]"],
        [1, '"x', '""'],
        [1, '{"', '"}'],
      ]);
    }
  });

  test("are those of the requested member, the last one if it is repeated", async () => {
    const text = `{"variables":{"p":["${long}"]},"query":"q","p":["${long}"],"variables":{"p":["${long}",2],"q":"é"}}`;
    const { value, unparsed } = await parse(text, ["variables"]);
    expect(unparsed.size).toBe(2);
    const { variables, query } = value as { variables: { p: string; q: string }; query: string };
    expect([query, variables.q]).toEqual(["q", "é"]);
    expect(unparsed.get(variables.p)?.items).toBe(2);
    expect(await whole(text, ["variables"])).toEqual(JSON.parse(text));
  });

  test("whose name is written with escapes are found as well", async () => {
    const text = `{"variabl\\u0065s":{"\\u0070":["${long}"]}}`;
    expect((await parse(text, ["variables"])).unparsed.size).toBe(1);
    expect(await whole(text, ["variables"])).toEqual(JSON.parse(text));
  });

  test("do not change the parsed body", async () => {
    const filler = fc.constantFrom("", long, `${long}é😀`, '\\"'.repeat(40_000), "[{".repeat(40_000));
    const values = fc.json({ depthSize: "small", maxDepth: 4 });
    const property = fc.asyncProperty(fc.array(fc.tuple(values, filler), { maxLength: 4 }), async (parts) => {
      const members = parts.map(([json, text], index) => `"m${index}" : [${json}, "${text}" ,${json}]`);
      const text = `{${members.join(" , ")}}`;
      expect(await whole(text)).toEqual(JSON.parse(text));
    });
    await fc.assert(property);
  });

  test.each([
    ["a comma too many in the list", `{"list":["${long}",]}`],
    ["two commas", `{"list":["${long}",,1]}`],
    ["no comma", `{"list":["${long}" 1]}`],
    ["a bracket of another kind", `{"list":[{"a":"${long}"]]}`],
    ["a bracket that is closed twice", `{"list":["${long}"]]}`],
    ["a list that does not end", `{"list":["${long}"`],
    ["something after it", `{"list":["${long}"] 1}`],
    ["something after the body", `{"list":["${long}"]}}`],
    ["bytes that are not UTF-8", Buffer.from(`{"list":["${long}\xff"]}`, "latin1")],
    ["a string that does not end", `{"text":"${long}`],
    ["an escape that does not exist", `{"text":"${long}\\x"}`],
  ])("that are not JSON are refused, and the message says where: %s", async (_, text) => {
    const others = Buffer.from(`{"é":1,\n"first":["${long}"],`);
    const sent = Buffer.concat([others, Buffer.from(text).subarray(1)]);
    for (const bytes of [Buffer.from(text), sent]) {
      const { line, column } = placeIn(bytes, faultIn(bytes));
      const message = `The body is not valid JSON in UTF-8: see line ${line}, column ${column}.`;
      await expect(whole(bytes)).rejects.toMatchObject({ code: "BAD_REQUEST", message });
    }
  });

  test("may be of any size, but the rest of a body has half a MiB at most", async () => {
    const members = Array.from({ length: 10_000 }, (_, index) => `"m${index}":"${"x".repeat(50)}"`);
    await expect(parse(`{${members.join(",")}}`)).rejects.toThrow("Apart from long lists");
    expect((await parse(`{"a":1}${" ".repeat(1_000_000)}`)).value).toEqual({ a: 1 });
  });
});

describe("an array in slices", () => {
  const objects = fc.dictionary(fc.string(), fc.json({ maxDepth: 2 })).map((object) => JSON.stringify(object));
  const tricky = fc.constantFrom('{"a":"},{"}', '[{"a":{}},{}]', '{"a":{"b":{}},"c":1}', '"},"', "{}");
  const element = fc.oneof(fc.json({ maxDepth: 3 }), objects, tricky);
  const spaces = fc.constantFrom("", " ", "\n  ");

  test("is the same as when parsed as a whole", () => {
    const property = fc.property(fc.array(element, { maxLength: 20 }), spaces, (items, space) => {
      const text = Buffer.from(`[${items.join(`,${space}`)}]`);
      for (let sliceBytes = 0; sliceBytes <= 60; sliceBytes += 1) {
        const slices = [...parsedSlices(text, 1, text.length - 1, { sliceBytes })];
        for (const { elements, bytes } of slices) {
          if (elements !== undefined && elements.length > 1) expect(bytes).toBeLessThanOrEqual(2 * sliceBytes + 1);
        }
        expect(slices.flatMap(({ elements }) => elements)).toEqual(JSON.parse(text.toString()));
      }
    });
    fc.assert(property);
  });

  test("is refused if the whole is", () => {
    const property = fc.property(
      fc.array(element, { maxLength: 10 }),
      fc.nat(40),
      fc.nat(200),
      (items, sliceBytes, at) => {
        const joined = items.join(",");
        const place = Math.min(at, joined.length);
        for (const edit of ["", ",", "}", "{", "]", '"', "\\", "x"]) {
          const text = Buffer.from(`[${joined.slice(0, place)}${edit}${joined.slice(place + 1)}]`);
          const parsed = attempt(() => JSON.parse(text.toString()));
          const slices = () =>
            [...parsedSlices(text, 1, text.length - 1, { sliceBytes })].flatMap(({ elements }) => elements);
          expect(attempt(slices)).toEqual(parsed);
        }
      },
    );
    fc.assert(property);
  });

  test("leaves out an element that is too long", () => {
    const text = Buffer.from(`[{"a":1},{"a":"${"x".repeat(100)}"},{"a":2}]`);
    const slices = [...parsedSlices(text, 1, text.length - 1, { sliceBytes: 4, elementBytesMax: 50 })];
    expect(slices.map(({ elements }) => elements)).toEqual([[{ a: 1 }], undefined, [{ a: 2 }]]);
  });
});

/** What a function gives, or undefined if it throws. */
function attempt(compute: () => unknown): unknown {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

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
/** Lengths of slices, each of which splits a text elsewhere. */
const lengths = Array.from({ length: 25 }, (_, index) => 16 + index);

function readInSlices(content: Buffer, bytes: number): string {
  const slices = [...stringSlices(content, 0, content.length, bytes)];
  for (const { start, end } of slices) expect(end - start).toBeLessThanOrEqual(bytes);
  const quoted = slices.map(({ start, end }) => Buffer.from(`"${content.toString("latin1", start, end)}"`, "latin1"));
  return quoted.map((text) => parseJson(text)).join("");
}

test("a string is the same in slices as a whole, wherever it is split", () => {
  const property = fc.property(contents, (content) => {
    for (const bytes of lengths) expect(readInSlices(Buffer.from(content), bytes)).toBe(JSON.parse(`"${content}"`));
  });
  fc.assert(property);
});

test.each([
  ["bytes that are not UTF-8", Buffer.from([0xc3])],
  ["a byte that goes on with a character that never began", Buffer.from([0x80, 0x80, 0x80, 0x80])],
  ["a line break", Buffer.from("\n")],
  ["an escape that does not exist", Buffer.from("\\x")],
  ["an escape that is not whole", Buffer.from("\\u12g")],
  ["an escape without what it escapes", Buffer.from("\\")],
])("%s are refused in whatever slice they are", (_, wrong) => {
  const property = fc.property(contents, contents, (before, after) => {
    // What follows must not make the escape whole.
    const rest = wrong.at(-1) === 0x5c ? "" : ` ${after}`;
    const content = Buffer.concat([Buffer.from(before), wrong, Buffer.from(rest)]);
    for (const bytes of lengths) {
      expect(() => readInSlices(content, bytes)).toThrow("The body is not valid JSON in UTF-8: see line ");
    }
  });
  fc.assert(property);
});
