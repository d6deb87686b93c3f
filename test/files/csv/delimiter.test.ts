import { describe, expect, test } from "vitest";
import { readCsv } from "../../../src/files/csv/csv.js";
import { textPieces } from "../../../src/files/csv/csvPieces.js";
import { collect, rowsOf } from "../../support/catalog/csvReading.js";

const names = ["id", "sku", "title", "available", "featured_image", "url"];
const cells = ["1", "s-1", "Shirt", "true", "//a.example/1", "//a.example"];
const stored = { id: "1", sku: "s-1", title: "Shirt", url: "//a.example" };

async function read(text: string, pieceCharacters = text.length + 1) {
  const { chunks, result } = await collect(readCsv(textPieces(text, pieceCharacters)));
  return { rows: rowsOf(chunks), problems: result.problems.list.map(({ message }) => message) };
}

const delimiters = [
  ["comma", ","],
  ["semicolon", ";"],
  ["tab", "\t"],
] as const;

describe.each(delimiters)("cells separated by a %s", (name, delimiter) => {
  const line = (list: readonly string[]) => list.join(delimiter);

  test("are read, whatever the case of the names, in pieces of any size", async () => {
    const headers = [names, names.map((column) => column.toUpperCase()), names.map((column) => ` "${column}" `)];
    for (const header of headers) {
      const text = `\n\t\n${line(header)}\r\n\n${line(cells)}`;
      for (const size of [1, 2, 7, 1_000]) {
        expect(await read(text, size)).toEqual({ rows: [expect.objectContaining(stored)], problems: [] });
      }
    }
  });

  test("may contain the other delimiters, quotes and line breaks, or be empty", async () => {
    const title = 'a,b;c\td "e"\nf';
    const quoted = `"${title.replaceAll('"', '""')}"`;
    const { rows, problems } = await read(
      [line([...names, "description", "price"]), line([...cells.with(2, ` ${quoted} `), "", ""])].join("\n"),
    );
    expect(problems).toEqual([]);
    expect(rows).toEqual([expect.objectContaining({ ...stored, title, description: null, price: null })]);
  });

  test("may be empty in the first column", async () => {
    const { problems } = await read([line(["price", ...names]), line(["", ...cells])].join("\n"));
    expect(problems).toEqual([]);
  });

  test("are counted, and a quote is closed before the next one", async () => {
    const text = [line(names), line([...cells, "x"]), `"1"x${delimiter}2`].join("\n");
    expect((await read(text)).problems).toEqual([
      "The row has 7 cells, but the header has 6.",
      `A closing quote must be followed by a ${name} or the end of the line.`,
    ]);
  });
});

describe("a header in which two delimiters stand", () => {
  test("is read with the one that separates more known columns; the message of the remaining cell names it", async () => {
    const { problems } = await read("id;sku;title;available;featured_image,url\n");
    expect(problems).toEqual([
      'A product has no column "featured_image,url". Columns are separated by a comma, a semicolon or a tab; this header was read with a semicolon.',
      "The column featured_image is required.",
      "The column url is required.",
    ]);
  });

  test("is read with commas if both separate as many", async () => {
    const { problems } = await read("id,sku;title\n");
    expect(problems[0]).toBe(
      'A product has no column "sku;title". Columns are separated by a comma, a semicolon or a tab; this header was read with a comma.',
    );
  });

  test("in quotes is a column of that name", async () => {
    const { problems } = await read(`"id,sku";title;available;featured_image;url\n`);
    expect(problems[0]).toContain('A product has no column "id,sku".');
  });
});

test.each(["id|sku|title|available|featured_image|url", "id sku", "nothing;of;this"])(
  "a header whose delimiter is none of them is refused, and shows how it was read: %s",
  async (header) => {
    const { problems } = await read(`${header}\n1|2\n`);
    expect(problems[0]).toContain(`A product has no column "${header}".`);
  },
);

test("rows of another delimiter than their header have one cell", async () => {
  expect((await read(`${names.join(",")}\n${cells.join(";")}\n`)).problems).toEqual([
    "The row has 1 cells, but the header has 6.",
  ]);
});

test("a column name in upper and lower case counts as repeated", async () => {
  const { problems } = await read(`${[...names, "ID"].join(",")}\n`);
  expect(problems).toEqual(["The column id appears more than once."]);
});

test.each(["Art;Titel;Preis", "Art\tTitel", "Art,Titel,Preis"])(
  "a short header of another system is one problem, which says how columns are mapped: %s",
  async (header) => {
    expect((await read(`${header}\n1;x;2\n`)).problems).toEqual([
      expect.stringMatching(/Say which column a field is in, with .*\(docs\/formats\.md\)\.$/u),
    ]);
  },
);
