import fc from "fast-check";
import { expect, test } from "vitest";
import { readFile } from "../../support/catalog/formats.js";
import { read, row, stored, header, collect } from "../../support/catalog/csvReading.js";
import { readNdjson } from "../../../src/files/json/ndjsonLines.js";
import { utf8Bytes, utf8Pieces } from "../../../src/files/csv/csvPieces.js";
import { RecordSplitter, recordCharactersMax } from "../../../src/files/csv/records.js";

const problem = (line: number, message: string) => ({ code: "MALFORMED", message, path: ["csvContent"], line });
const good = (line: number, id: string) => ({ ...stored(line, id) });
const cells = ["Mug", "Mug, big", 'Cup 5"', "two\nlines", ", first", "last,", '"', "ä", ""];

interface Damaged {
  readonly at: number;
  readonly how: "drop" | "insert" | "cut" | "byte" | "delimiter";
  readonly where: number;
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

/** A row with one fault, in bytes: it may be read as another row, or not at all. */
function damagedRow(text: string, { how, where }: Damaged): Buffer {
  const quotes = [...text.matchAll(/"/gu)].map(({ index }) => index);
  const quote = quotes[where % quotes.length] ?? 0;
  const at = where % text.length;
  if (how === "drop") return Buffer.from(text.slice(0, quote) + text.slice(quote + 1));
  if (how === "insert") return Buffer.from(`${text.slice(0, at)}"${text.slice(at)}`);
  if (how === "cut") return Buffer.from(text.slice(0, at));
  if (how === "delimiter") return Buffer.from(`${text.slice(0, at)},${text.slice(at)}`);
  return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0xff]), Buffer.from(text.slice(at))]);
}

test("damaged rows: no other row is lost", async () => {
  const random = fc.record({
    titles: fc.array(fc.array(fc.constantFrom(...cells), { minLength: 2, maxLength: 2 }), {
      minLength: 3,
      maxLength: 9,
    }),
    damaged: fc.record({
      at: fc.nat(8),
      how: fc.constantFrom("drop", "insert", "cut", "byte", "delimiter"),
      where: fc.nat(200),
    }),
    isOwn: fc.boolean(),
    lineEnd: fc.constantFrom("\n", "\r\n"),
    pieceBytes: fc.constantFrom(7, 100_000),
  });
  await fc.assert(
    fc.asyncProperty(random, async ({ titles, damaged, isOwn, lineEnd, pieceBytes }) => {
      const at = damaged.at % titles.length;
      const rows = titles.map(([title = "", description = ""], index) =>
        [`id${index}`, `sku${index}`, `T${title}`, "true", "//a.b/1", "//a.b", `ü${description}`].map(quoted).join(","),
      );
      const lines = rows.flatMap((text, index) => [
        index === at ? damagedRow(text, damaged as Damaged) : Buffer.from(text),
        Buffer.from(lineEnd),
      ]);
      const content = Buffer.concat([Buffer.from(`${header},description${lineEnd}`), ...lines]);
      const options = { errorPolicy: "REJECT_FAILED", pieceBytes, ...(!isOwn && { map: { title: "title" } }) } as const;
      const { products } = await readFile(content, options);
      const ids = products.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(rows.map((_, index) => `id${index}`).filter((_, n) => n !== at)));
    }),
    { numRuns: 100 },
  );
});

test("a row with a quote that is never closed ends where the next one begins", async () => {
  const text = `${header}\n${row("1")}\n2,"s-2,\n${row("3")}\n4,"s-4,T,true,//a,",//a"\n\n5,"s\n`;
  const { rows, result } = await read(text);
  expect(rows).toEqual([good(2, "1"), good(4, "3")]);
  expect(result.problems.list).toEqual([
    problem(3, "A quote is never closed."),
    problem(5, "The row has 3 cells, but the header has 6."),
    problem(7, "A quote is never closed."),
  ]);
});

test("a record that is sound, but has fewer or more cells than the header, stays one", async () => {
  const text = `${header}\n1,"two\nlines",3\n${row("2")}\n`;
  const { rows, result } = await read(text);
  expect(rows).toEqual([good(4, "2")]);
  expect(result.problems.list).toEqual([problem(2, "The row has 3 cells, but the header has 6.")]);
});

test("a row that is too long ends at its line, and the others are read", () => {
  for (const opening of ["", '"']) {
    const text = `a,b\n1,2\n3,${opening}${"x".repeat(recordCharactersMax)}\n4,5\n6,7\n`;
    for (const length of [65_536, text.length]) {
      const splitter = new RecordSplitter(",");
      const records = [];
      for (let at = 0; at < text.length; at += length) records.push(...splitter.push(text.slice(at, at + length)));
      const found = [...records, ...splitter.end()].map(({ line, text: record }) => `${line} ${record}`);
      expect(found).toEqual(["1 a,b", "2 1,2", "3 ", "4 4,5", "5 6,7"]);
    }
  }
});

test("a file that is made to have the same text tried again and again takes linear time", () => {
  const width = 900;
  const columns = Array.from({ length: width }, (_, n) => `c${n}`).join(",");
  for (const line of ['a","b\n', '1,""x\na","b\n', '"\n', "x\n", '"x\n']) {
    const text = `${columns}\n"${line.repeat(1_000_000 / line.length)}`;
    const splitter = new RecordSplitter(",");
    const before = process.cpuUsage();
    splitter.push(text);
    splitter.end();
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
  }
});

test.each([
  ['1,"5\\",x",3', "before a delimiter"],
  ['1,"5\\"",x,3', "at the end of a cell"],
  ['1,"a \\"b\\" c",3', "within a cell"],
])("PHP's backslash before a quote is named: %s, %s", async (line) => {
  const php = `id,title,price\n0,a,1\n${line}\n2,b,3\n`;
  const options = { map: { sku: "id" }, defaults: { available: "true", url: "//a.b", featured_image: "//a.b/1" } };
  const { products, problems } = await readFile(php, { ...options, errorPolicy: "REJECT_FAILED" });
  expect(products.map(({ id }) => id)).toEqual(["0", "2"]);
  expect(problems).toEqual([expect.stringMatching(/^3 : .*PHP's fputcsv writes \\"/u)]);
});

test("a backslash that ends a cell is text", async () => {
  const own = `${header},description\n${row("1")},"C:\\"\n`;
  expect((await readFile(own)).products).toMatchObject([{ description: "C:\\" }]);
});

const utf8 = Buffer.from(`${header}\n${row("1").replace("Title", "Töpfchen")}\n`);
const bad = Buffer.concat([Buffer.from(`${row("2").replace("Title", "T")}\n`)]);
bad[bad.indexOf("T")] = 0xe4;

test.each([
  ["after a line beyond ASCII", Buffer.concat([utf8, bad, Buffer.from(`${row("3")}\n`)]), 3, ["1", "3"]],
  [
    "before it",
    Buffer.concat([Buffer.from(`${header}\n`), bad, Buffer.from(`${row("3").replace("Title", "Käse")}\n`)]),
    2,
    ["3"],
  ],
  [
    "in the last line, cut off",
    Buffer.concat([utf8, Buffer.from(row("3").slice(0, -1)), Buffer.from([0xc3])]),
    3,
    ["1"],
  ],
])("a bad byte %s is a fault of its row", async (_, content, line, ids) => {
  for (const options of [{}, { map: { title: "title" } }]) {
    for (const pieceBytes of [5, 100_000]) {
      const { products, problems } = await readFile(content, { ...options, pieceBytes, errorPolicy: "REJECT_FAILED" });
      expect(products.map(({ id }) => id)).toEqual(ids);
      expect(problems).toEqual([`${line} : Line ${line} is not valid UTF-8.`]);
    }
  }
});

test("a bad byte is a fault of its line in NDJSON, and of its item in XML", async () => {
  const line = (id: string, title: string) =>
    `{"id":"${id}","sku":"${id}","title":"${title}","available":true,"featured_image":"//a.b/1","url":"//a.b"}\n`;
  const wrong = Buffer.from(line("2", "T"));
  wrong[wrong.indexOf("T")] = 0xe4;
  const open = async function* () {
    yield Buffer.concat([Buffer.from(line("1", "ä")), wrong, Buffer.from(line("3", "x"))]);
  };
  const { chunks, result } = await collect(readNdjson(utf8Pieces(open(), open), { errorPolicy: "REJECT_FAILED" }));
  expect(chunks.map(({ rows }) => rows)).toEqual([2]);
  expect(result.failed?.list).toEqual([
    {
      line: 2,
      problems: [{ code: "MALFORMED", message: "Line 2 is not valid UTF-8.", path: [], line: 2 }],
      problemsTotal: 1,
    },
  ]);

  const item = (id: string, title: string) =>
    `<item><g:id>${id}</g:id><title>${title}</title><link>//a.b</link><g:image_link>//a.b/1</g:image_link><g:price>1</g:price><g:availability>in stock</g:availability></item>\n`;
  const wrongItem = Buffer.from(item("2", "T~"));
  wrongItem[wrongItem.indexOf("~")] = 0xe4;
  const start = Buffer.from('<rss xmlns:g="http://base.google.com/ns/1.0"><channel>\n');
  const end = Buffer.from("</channel></rss>\n");
  const feed = Buffer.concat([start, Buffer.from(item("1", "ä")), wrongItem, Buffer.from(item("3", "x")), end]);
  const { products, problems } = await readFile(feed, { errorPolicy: "REJECT_FAILED" });
  expect(products.map(({ id }) => id)).toEqual(["1", "3"]);
  expect(problems).toEqual(["3 : Line 3 is not valid UTF-8."]);
});

test("bytes that are not UTF-8 are written as they were", async () => {
  const content = Buffer.concat([Buffer.from("ä"), Buffer.from([0xff, 0x41, 0xc3]), Buffer.from("€\n")]);
  const open = async function* () {
    yield Buffer.concat([Buffer.from("ü\n"), content]);
  };
  let text = "";
  for await (const piece of utf8Pieces(open(), open)) text += piece.text;
  expect(utf8Bytes(text)).toEqual(Buffer.concat([Buffer.from("ü\n"), content]));
});
