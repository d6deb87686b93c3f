import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseTextArray, textArrayLiteral } from "../../../src/database/rawParameters.js";
import { openTestDatabase } from "../../support/app.js";
import { anyUrl } from "../../support/fuzz/anyUrl.js";
import { anyText } from "../../support/fuzz/anyText.js";

const database = openTestDatabase();

const special = fc.constantFrom(
  "",
  "NULL",
  "null",
  "{",
  "}",
  "{}",
  ",",
  '"',
  "\\",
  " ",
  "a,b",
  '\\"',
  "[0:1]={a}",
  "Zoë 👗",
);
const element = fc.option(
  fc.oneof(
    special,
    anyUrl,
    anyText().map((text) => text.replaceAll("\0", "")),
  ),
  {
    nil: null,
  },
);

test("text arrays round-trip through the database, and are parsed as PostgreSQL writes them", async () => {
  const lists = fc.array(fc.array(element, { maxLength: 8 }), { minLength: 1, maxLength: 16 });
  const property = fc.asyncProperty(lists, async (all) => {
    const rows = await database.client.$queryRaw<{ parsed: unknown; written: string }[]>`
      SELECT literal::text[] AS parsed, literal::text[]::text AS written
      FROM unnest(${all.map(textArrayLiteral)}::text[]) WITH ORDINALITY AS u(literal, place) ORDER BY place`;
    expect(rows.map(({ parsed }) => parsed)).toEqual(all);
    expect(rows.map(({ written }) => parseTextArray(written))).toEqual(all);
  });
  await fc.assert(property);
});

test.each([
  ["{}", []],
  ["{a}", ["a"]],
  ["{https://a.example/1.jpg,https://a.example/2.jpg}", ["https://a.example/1.jpg", "https://a.example/2.jpg"]],
  ['{"a b",NULL,"NULL","a\\"\\\\b",""}', ["a b", null, "NULL", 'a"\\b', ""]],
])("%s", (literal, list) => {
  expect(parseTextArray(literal)).toEqual(list);
});
