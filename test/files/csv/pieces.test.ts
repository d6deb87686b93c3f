import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCsv } from "../../../src/files/csv/csv.js";
import { filePieces } from "../../../src/files/csv/csvPieces.js";
import { recordCharactersMax, RecordSplitter } from "../../../src/files/csv/records.js";
import { collect, header, row } from "../../support/catalog/csvReading.js";
import { openFolder } from "../../support/folder.js";

/** Files are read in pieces of so many bytes. */
const pieceBytes = 256 * 1024;

const folder = await openFolder();

async function piecesOf(content: string | Buffer) {
  const file = join(folder, "file.csv");
  await writeFile(file, content);
  const pieces = [];
  for await (const piece of filePieces(file)) pieces.push(piece);
  return pieces;
}

const characters = ["é", "€", "😀", "\uFEFF"];
const cuts = characters.flatMap((character) =>
  Array.from({ length: Buffer.byteLength(character) + 1 }, (_, cut) => [character, cut] as const),
);

test.each(cuts)("a file is read whole where %j has %i of its bytes in the first piece", async (character, cut) => {
  const text = `${"x".repeat(pieceBytes - cut)}${character}y`;
  const pieces = await piecesOf(text);
  expect(pieces.map((piece) => piece.text).join("") === text, "the text is the same").toBe(true);
  expect(pieces.map(({ bytesRead, invalidAs }) => [bytesRead, invalidAs])).toEqual([
    [pieceBytes, undefined],
    [Buffer.byteLength(text), undefined],
  ]);
});

test.each(characters)("a file that ends within %j is not UTF-8", async (character) => {
  const bytes = Buffer.from(`x${character}`);
  for (let end = 2; end < bytes.length; end += 1) {
    const invalid = bytes.subarray(1, end);
    const last = (await piecesOf(bytes.subarray(0, end))).at(-1);
    expect(last).toEqual({ text: "", bytesRead: end, invalidAs: "UTF-8", invalid });
  }
});

test("a byte order mark is left out at the start of a file, and is text at the start of a later piece", async () => {
  const mark = "\uFEFF";
  const first = `${"x".repeat(pieceBytes - Buffer.byteLength(mark) - 1)}\n`;
  const splitter = new RecordSplitter();
  const records = (await piecesOf(`${mark}${first}${mark}y\n`)).flatMap(({ text }) => splitter.push(text));
  expect(records.map(({ text }) => text)).toEqual([first.trimEnd(), `${mark}y`]);
});

test("a record may have 4 Mi characters and not one more, though it ends in the piece in which it begins", () => {
  const longest = "x".repeat(recordCharactersMax);
  expect(new RecordSplitter().push(`${longest}\n`).map(({ fault }) => fault)).toEqual([undefined]);
  expect(new RecordSplitter().push(`${longest}x\n`)).toEqual([{ text: "", line: 1, fault: "tooLong" }]);
});

test.each([
  [
    "a quote that is never closed",
    '"',
    `A quote is never closed, or the row is longer than ${recordCharactersMax} characters.`,
  ],
  ["a line without end", "", `The row is longer than ${recordCharactersMax} characters.`],
])("%s costs its row alone, however long it is: the others are read, in linear time", async (_, start, message) => {
  const [pieces, xs] = [100, "x".repeat(pieceBytes)];
  const long = (function* () {
    yield { text: `${header}\n${row("1")}\n${start}`, bytesRead: 1 };
    for (let piece = 0; piece < pieces; piece += 1) yield { text: xs, bytesRead: 1 };
    yield { text: `\n${row("2")}\n`, bytesRead: 1 };
  })();
  const before = process.cpuUsage();
  const { result } = await collect(readCsv(long));
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  expect(result.problems.list).toEqual([{ code: "MALFORMED", message, path: [], line: 3 }]);
  expect(result.rows).toBe(3);
});
