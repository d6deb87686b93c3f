import { describe, expect, test } from "vitest";
import { chunkRowsMax } from "../../../src/files/chunkRows.js";
import { textArrayLiteral } from "../../../src/database/rawParameters.js";
import {
  emptyRow,
  header,
  row,
  stored,
  lines,
  problemsOf,
  readChunks,
  read,
} from "../../support/catalog/csvReading.js";

test("an array literal preserves every text, and distinguishes null from the word", () => {
  expect(
    textArrayLiteral(["a", null, "null", "NULL", "", " ", "a b", "{", ",", 'a"\\', "https://a.example/?b=c&d"]),
  ).toBe('{a,NULL,"null","NULL",""," ","a b","{",",","a\\"\\\\",https://a.example/?b=c&d}');
  expect(textArrayLiteral([])).toBe("{}");
});

describe("a text of products", () => {
  test("gives its rows as columns, each with the line it starts on", async () => {
    expect(await read(`${header}\n${row("1")}\n${row("2")}\n`)).toEqual({
      rows: [stored(2, "1"), stored(3, "2")],
      result: { rows: 2, problems: { list: [], total: 0 } },
    });
  });

  test.each([
    ["a byte order mark", `\uFEFF${header}\n${row("1")}\n${row("2")}\n`, [2, 3]],
    ["CRLF line ends", `${header}\r\n${row("1")}\r\n${row("2")}\r\n`, [2, 3]],
    ["LF and CRLF mixed", `${header}\n${row("1")}\r\n${row("2")}\n`, [2, 3]],
    ["CR line ends", `${header}\r${row("1")}\r${row("2")}\r`, [2, 3]],
    ["no line end at its end", `${header}\n${row("1")}\n${row("2")}`, [2, 3]],
    ["blank lines and lines of white space", `\n \n${header}\r\n\r\n${row("1")}\n\t\n\n${row("2")}\n\n  `, [5, 8]],
    ["names with white space around them", ` ${header.replaceAll(",", " ,\t")} \n${row("1")}\n${row("2")}`, [2, 3]],
    ["white space around quoted cells", `${header}\n "1" ,${row("1").slice(2)}\n${row("2")}`, [2, 3]],
  ])("may have %s", async (_, text, [first = 0, second = 0]) => {
    expect(await read(text)).toEqual({
      rows: [stored(first, "1"), stored(second, "2")],
      result: { rows: 2, problems: { list: [], total: 0 } },
    });
  });

  test("keeps white space of quoted cells, and has none around those that are not quoted", async () => {
    const cells = (id: string, title: string, url: string, price: string) =>
      `${id},s-1,${title},true,https://a.example/i.jpg,${url},${price}`;
    const first = `${header},price`;
    const expected = { ...stored(2, "1"), url: "https://a.example/p", price: "12.5" };
    expect(await read(`${first}\n${cells(" 1\t", "  Title ", "\u00A0https://a.example/p ", " 12.5 ")}`)).toEqual({
      rows: [expected],
      result: { rows: 1, problems: { list: [], total: 0 } },
    });
    const { rows } = await read(`${first}\n${cells("1", '" Title "', "https://a.example/p", '"12.5"')}`);
    expect(rows).toEqual([{ ...expected, title: " Title " }]);
  });

  test.each([
    ["price", '" 12 "', "INVALID_TYPE"],
    ["price", '" "', "INVALID_TYPE"],
    ["available", '" true"', "INVALID_TYPE"],
    ["url", '" https://a.example/p"', "INVALID_VALUE"],
    ["images", '" https://a.example/p"', "INVALID_VALUE"],
  ])("a quoted cell is not trimmed into another value: %s %s", async (column, cell, code) => {
    const columns = [...new Set([...header.split(","), column])];
    const values = new Map([
      ...header.split(",").map((name, index) => [name, row("1").split(",")[index]] as const),
      [column, cell],
    ]);
    const found = await problemsOf(`${columns.join(",")}\n${columns.map((name) => values.get(name)).join(",")}`);
    expect(found.map((problem) => [problem.code, problem.path[1]])).toEqual([[code, column]]);
  });

  test("may have its columns in any order and hold every kind of value", async () => {
    const text = [
      "price,images,description,available,price_max,url,title,price_min,sku,id,featured_image",
      `-0, https://a.example/1.jpg ," ",TRUE,1e3,//a.example,"Say ""hi"", \\ or",0.10,s-1,1,http://a.example`,
      ` 1.25 ,"[""https://a.example/1.jpg"",""https://a.example/a,b.jpg""]","two\r\nlines", False ,,//a.example,5" disk,,s-2,2,//a`,
      `,[],,false,,//a.example,T,,s-3,3,//a`,
    ].join("\n");
    const rows = [
      {
        ...emptyRow,
        line: "2",
        id: "1",
        sku: "s-1",
        title: 'Say "hi", \\ or',
        description: " ",
        price: "0",
        price_min: "0.1",
        price_max: "1000",
        available: "true",
        images: "{https://a.example/1.jpg}",
        featured_image: "http://a.example",
        url: "//a.example",
        searchWords: " say hi or s 1",
      },
      {
        ...emptyRow,
        line: "3",
        id: "2",
        sku: "s-2",
        title: '5" disk',
        description: "two\r\nlines",
        price: "1.25",
        price_min: null,
        price_max: null,
        available: "false",
        images: '{https://a.example/1.jpg,"https://a.example/a,b.jpg"}',
        featured_image: "//a",
        url: "//a.example",
        searchWords: " 5 disk s 2",
      },
      {
        ...emptyRow,
        line: "5",
        id: "3",
        sku: "s-3",
        title: "T",
        description: null,
        price: null,
        price_min: null,
        price_max: null,
        available: "false",
        images: "{}",
        featured_image: "//a",
        url: "//a.example",
        searchWords: " t s 3",
      },
    ];
    expect(await read(text)).toEqual({
      rows,
      result: { rows: 3, problems: { list: [], total: 0 } },
    });
  });

  test("may be a header alone", async () => {
    expect(await read(header)).toEqual({
      rows: [],
      result: { rows: 0, problems: { list: [], total: 0 } },
    });
  });

  test("is returned in chunks of a bounded number of rows, or fewer large ones", async () => {
    const small = await readChunks({ text: lines(2 * chunkRowsMax + 100, row) });
    expect(small.chunks.map(({ rows }) => rows)).toEqual([chunkRowsMax, chunkRowsMax, 100]);
    const description = "x".repeat(60_000);
    const large = await readChunks({
      text: lines(40, (id) => `${row(id)},${description}`, `${header},description`),
    });
    expect(large.chunks.map(({ rows }) => rows)).toEqual([35, 5]);
  });
});
