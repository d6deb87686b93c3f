import { describe, expect, test } from "vitest";
import { header, row, stored, lines, read, readChunks, rowsOf, problemsOf } from "../../support/catalog/csvReading.js";

describe("a problem of the header", () => {
  test.each(["", "\uFEFF", "\n \r\n\n"])("is that there is none: %j", async (text) => {
    const message = "The CSV text is empty: it must start with a line of column names.";
    expect(await problemsOf(text)).toEqual([{ code: "REQUIRED", message, path: ["csvContent"] }]);
  });

  test("is every missing, unknown, nameless or repeated column, and ends the reading", async () => {
    const problem = (code: string, name: string, message: string) => ({
      code,
      message,
      path: ["csvContent", name],
      line: 3,
    });
    expect(await read(`\n\nsku,id,sku,colour,,url,featured_image,__proto__\n1,2`)).toEqual({
      rows: [],
      result: {
        rows: 0,
        problems: {
          list: [
            problem("DUPLICATE", "sku", "The column sku appears more than once."),
            problem("UNKNOWN_FIELD", "colour", 'A product has no column "colour".'),
            problem("UNKNOWN_FIELD", "", "Column 5 has no name."),
            problem("UNKNOWN_FIELD", "__proto__", 'A product has no column "__proto__".'),
            problem("REQUIRED", "title", "The column title is required."),
            problem("REQUIRED", "available", "The column available is required."),
          ],
          total: 6,
        },
      },
    });
  });
});

describe("a problem of a row", () => {
  test("has the line on which the row starts and the column, and hides no later problem", async () => {
    const text = [
      `${header},price,images,description`,
      `"1","s\n1",,maybe,https://a,javascript:x,"two\n",[1],`,
      `,,"\n",,,,,,`,
      `3,s-3,T,true,//a,//a,1e999,"[""//a"",",`,
      `4,s-4,T,true,//a,//a,01,"[""//a"",5]",`,
      `5,s-5,T,true,//a,//a,,"{""a"":1}",`,
    ].join("\n");
    expect(
      (await read(text)).result.problems.list.map(({ code, path, line }) => [line, path.slice(1).join("."), code]),
    ).toEqual([
      [2, "sku", "INVALID_VALUE"],
      [2, "title", "REQUIRED"],
      [2, "price", "INVALID_TYPE"],
      [2, "available", "INVALID_TYPE"],
      [2, "images.0", "INVALID_TYPE"],
      [2, "url", "INVALID_VALUE"],
      [5, "id", "REQUIRED"],
      [5, "sku", "REQUIRED"],
      [5, "title", "REQUIRED"],
      [5, "available", "REQUIRED"],
      [5, "featured_image", "REQUIRED"],
      [5, "url", "REQUIRED"],
      [7, "price", "INVALID_VALUE"],
      [7, "images", "INVALID_TYPE"],
      [8, "price", "INVALID_TYPE"],
      [8, "images.1", "INVALID_TYPE"],
      [9, "images.0", "INVALID_VALUE"],
    ]);
  });

  test.each(["+1", "01", "1.", ".5", "0x10", "1_000", "1,5", "Infinity", "NaN", "1 2", "１"])(
    "is a price that is not a JSON number: %s",
    async (price) => {
      expect(await problemsOf(`${header},price\n${row("1")},"${price}"`)).toEqual([
        {
          code: "INVALID_TYPE",
          message: `price must be a number, not "${price}".`,
          path: ["csvContent", "price"],
          line: 2,
        },
      ]);
    },
  );

  test("is a wrong number of cells; empty ones at the end, and rows of empty cells, do not count", async () => {
    const problem = (line: number, cells: number) => ({
      code: "MALFORMED",
      message: `The row has ${cells} cells, but the header has 6.`,
      path: ["csvContent"],
      line,
    });
    expect(await problemsOf(`${header}\n${row("1")},x\n${row("2")},\n3\n,,\n,,4\n`)).toEqual([
      problem(2, 7),
      problem(4, 1),
      problem(6, 3),
    ]);
  });

  test("is text after a closing quote; the next line is read as usual", async () => {
    expect(await read(`${header}\n"1"a,2\n${row("2")}\n"3" "",4`)).toEqual({
      rows: [stored(3, "2")],
      result: {
        rows: 3,
        problems: {
          list: [2, 4].map((line) => ({
            code: "MALFORMED",
            message: "A closing quote must be followed by a comma or the end of the line.",
            path: ["csvContent"],
            line,
          })),
          total: 2,
        },
      },
    });
  });

  test("leaves its id and sku in the chunk where they can be stored, so that duplicates are still found", async () => {
    const cells = ["T", "maybe", "//a", "//a"].join(",");
    const text = `${header}\n1,s-1,${cells}\n,s-2,${cells}\n\0,\uD800,${cells}\n4, ,${cells}`;
    const { chunks } = await readChunks({ text });
    expect(rowsOf(chunks)).toEqual([]);
    expect(chunks.flatMap(({ invalid }) => invalid)).toEqual([
      { line: 2, id: "1", sku: "s-1" },
      { line: 3, sku: "s-2" },
      { line: 5, id: "4" },
    ]);
  });

  test("is listed a hundred times at most, and always counted", async () => {
    const { problems, rows } = (await read(lines(1_000, (id) => `${id},,,`))).result;
    expect([rows, problems.list.length, problems.total]).toEqual([1_000, 100, 1_000]);
  });

  test("shows only the beginning of the input", async () => {
    const long = "x\n".repeat(50_000);
    const texts = [
      `"${long}"`,
      `${header},"${long}"\n`,
      `${header}\n"${long}`,
      `${header}\n"${long}"x`,
      `${header}\n"${long}","${long}"`,
    ];
    for (const text of texts) {
      for (const { message, path } of await problemsOf(text))
        expect(`${message}${path.join()}`.length).toBeLessThan(250);
    }
  });
});

test("more rows than allowed are a problem, and the reading ends there", async () => {
  const limited = (rows: number) => read(`${lines(rows, row)}\n"`, { rowsMax: 3 });
  const message = "The CSV text must have at most 3 rows below its header (MAX_BULK_PRODUCTS).";
  expect(await limited(4)).toEqual({
    rows: [stored(2, "1"), stored(3, "2"), stored(4, "3")],
    result: {
      rows: 3,
      problems: { list: [{ code: "TOO_LONG", message, path: ["csvContent"], line: 5 }], total: 1 },
    },
  });
  expect((await read(lines(3, row), { rowsMax: 3 })).result).toEqual({
    rows: 3,
    problems: { list: [], total: 0 },
  });
});
