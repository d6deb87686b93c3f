import { expect, test } from "vitest";
import { readFile } from "../../support/catalog/formats.js";

const header = "id,sku,title,available,featured_image,url";
const row = (id: string) => `${id},S-${id},Mug,true,//cdn.example/1,//shop.example/1`;
const read = (lines: readonly string[], options = {}) =>
  readFile(lines.join("\n"), { errorPolicy: "REJECT_FAILED", ...options });

test("blank rows and empty columns at the end, as spreadsheets leave them, are no rows and no columns", async () => {
  const { products, problems } = await read([
    `${header},,`,
    `${row("1")},,`,
    ",,,,,,,",
    row("2"),
    ",,",
    '"",,,,,""',
    `${row("3")},`,
    ",,,,,,,,,,,,,,",
  ]);
  expect(problems).toEqual([]);
  expect(products.map(({ id, line }) => [id, line])).toEqual([
    ["1", "2"],
    ["2", "4"],
    ["3", "7"],
  ]);
});

test("what stands beyond the columns, and a row that is too short, are problems of the row", async () => {
  const { problems } = await read([`${header},`, `${row("1")},x`, "2,S-2", row("3")]);
  expect(problems).toEqual([
    "2 : The row has 7 cells, but the header has 6.",
    "3 : The row has 2 cells, but the header has 6.",
  ]);
});

test("blank rows do not count as rows, nor as failed ones", async () => {
  const { products, problems } = await read([header, row("1"), ",,,,,", ",,,,,"], { rowsMax: 1 });
  expect({ ids: products.map(({ id }) => id), problems }).toEqual({ ids: ["1"], problems: [] });
});

test("a file that no layout knows is one problem, which says how to map it", async () => {
  const unknown = Array.from({ length: 26 }, (_, at) => `Spalte ${at}`).join(",");
  for (const [isCommand, advice, other] of [
    [true, "--map id=COLUMN", "map=id:COLUMN"],
    [false, "map=id:COLUMN", "--map"],
  ] as const) {
    const { problems } = await read([unknown, unknown], { isCommand });
    expect(problems).toEqual([expect.stringContaining(advice)]);
    expect(problems[0]).toContain("docs/formats.md");
    expect(problems[0]).not.toContain(other);
  }
  const { problems } = await read([header.replace("title", "titel"), row("1")]);
  expect(problems).toEqual(['1 titel: A product has no column "titel".', "1 title: The column title is required."]);
});
