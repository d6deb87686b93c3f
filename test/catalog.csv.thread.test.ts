import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepWorker, takeWorker } from "../src/catalog/product.csv.threads.js";
import { readProductCsv } from "../src/catalog/product.csv.reader.js";
import { readCsv } from "../src/catalog/product.csv.js";
import { recordCharactersMax } from "../src/catalog/csv.records.js";
import { header, row, lines, collect, readChunks, read, problemsOf, rowsOf } from "./support/csvReading.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vitrine-csv-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a record without end", () => {
  const tooLong = (message: string) => [{ code: "MALFORMED", message, path: ["csvContent"], line: 3 }];

  test.each([
    ["a quote never closed within 4 MB", `"${"text, ".repeat(660_000)}`, "A quote is never closed."],
    [
      "a quote never closed within 30 MB",
      `"${"a\n".repeat(15_000_000)}`,
      `A quote is never closed, or the row is longer than ${recordCharactersMax} characters.`,
    ],
    ["a line of 8 MB", "x".repeat(8_000_000), `The row is longer than ${recordCharactersMax} characters.`],
  ])("ends the reading soon: %s", async (_, record, message) => {
    const started = performance.now();
    expect(await problemsOf(`${header}\n${row("1")}\n${record}`)).toEqual(tooLong(message));
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test.each([
    ["commas", ","],
    ["quotes", '"'],
    ["quoted cells", '"",'],
    ["white space", " "],
    ["cells of white space", " ,"],
    ["quotes among white space", ' "" '],
  ])("costs no more than its length where it is full of %s", async (_, unit) => {
    const started = performance.now();
    const { result } = await read(`${header}\n${row("1")}\nx,${unit.repeat(4_000_000 / unit.length)}\n${row("2")}\n`);
    expect(result.rows).toBe(3);
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});

describe("the thread", () => {
  const text = lines(10_000, row);

  test("gives what reading in process gives, for a text and for a file", async () => {
    const file = join(folder, "large.csv");
    await writeFile(file, text);
    const inProcess = await collect(readCsv([{ text, bytesRead: text.length }]));
    expect(inProcess.result).toEqual({ rows: 10_000, problems: { list: [], total: 0 } });
    for (const source of [{ text }, { file }]) {
      const { chunks, result } = await readChunks(source);
      expect(chunks.map(({ columns }) => columns)).toEqual(inProcess.chunks.map(({ columns }) => columns));
      expect(result).toEqual(inProcess.result);
      expect(chunks.at(-1)?.bytesRead).toBe(text.length);
    }
  });

  test("ends when the caller leaves", async () => {
    const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const before = threads();
    const left = readProductCsv({ text });
    await left.next();
    expect(threads()).toBeGreaterThan(before);
    await left.return({ rows: 0, problems: { list: [], total: 0 } });
    expect(threads()).toBe(before);
  });

  test("is used again for the next reading, whatever the one before it was; of two, one is kept", async () => {
    const wrongHeader = `nothing\n${text}`;
    const unclosed = `${text}1,"`;
    const first = await readChunks({ text });
    for (const other of [wrongHeader, unclosed, text]) {
      const [again] = await Promise.all([readChunks({ text: other }), readChunks({ text })]);
      const alone = await collect(readCsv([{ text: other, bytesRead: other.length }], { pathPrefix: ["csvContent"] }));
      expect(again.result).toEqual(alone.result);
      expect((await readChunks({ text })).chunks).toEqual(first.chunks);
    }
    const [one, two] = [takeWorker(), takeWorker()];
    await Promise.all([keepWorker(one), keepWorker(two)]);
    expect(two.threadId, "it has ended").toBe(-1);
    expect(takeWorker()).toBe(one);
    await one.terminate();
    const third = takeWorker();
    expect(third, "one that ended is not given").not.toBe(one);
    await third.terminate();
  });

  test("is used again after content that is none of a JSON string, of which nothing is left in it", async () => {
    const content = Buffer.from(JSON.stringify(text).slice(1, -1));
    const sound = await readChunks({ text });
    const broken = Buffer.from(content);
    broken[200_000 + broken.subarray(200_000).indexOf("a")] = 0xff;
    const worker = takeWorker();
    await keepWorker(worker);
    for (let times = 0; times < 3; times += 1) {
      await expect(readChunks({ json: broken })).rejects.toMatchObject({ code: "BAD_REQUEST" });
      const { chunks, result } = await readChunks({ json: content });
      expect(rowsOf(chunks)).toEqual(rowsOf(sound.chunks));
      expect(result).toEqual(sound.result);
      expect(chunks.at(-1)?.bytesRead).toBe(text.length);
    }
    expect(takeWorker(), "the same all the time").toBe(worker);
    await worker.terminate();
  });

  test("passes on why a file cannot be read", async () => {
    const file = join(folder, "missing.csv");
    await expect(readProductCsv({ file }).next()).rejects.toMatchObject({
      code: "ENOENT",
      path: file,
    });
  });

  test.each([
    ["after sound lines", Buffer.from(`${header}\n${row("1")}\n2,\xff\n`, "latin1"), 1, 3],
    ["within quotes", Buffer.from(`${header}\n${row("1")}\n2,"\n\n\xe9"\n`, "latin1"), 1, 3],
    [
      "cut off at the end",
      Buffer.concat([Buffer.from(`${header}\n${row("1")}\n2,`), Buffer.from("é").subarray(0, 1)]),
      1,
      3,
    ],
    ["in the header", Buffer.from(`id,\x80${header}`, "latin1"), 0, 1],
  ])("names the row where a file is not UTF-8: %s", async (_, bytes, rows, line) => {
    const file = join(folder, "notUtf8.csv");
    await writeFile(file, bytes);
    const { result } = await readChunks({ file });
    const message = expect.stringMatching(/^Line \d is not valid UTF-8\.$/u);
    expect(result).toEqual({
      rows,
      problems: { list: [{ code: "MALFORMED", message, path: ["csvContent"], line }], total: 1 },
    });
  });

  test("reads characters that are cut by the pieces of a file", async () => {
    const file = join(folder, "characters.csv");
    const title = "€😀é".repeat(300);
    await writeFile(
      file,
      lines(600, (id) => row(id).replace("Title", title)),
    );
    const { chunks, result } = await readChunks({ file });
    expect(result).toEqual({ rows: 600, problems: { list: [], total: 0 } });
    expect(new Set(rowsOf(chunks).map((product) => product["title"]))).toEqual(new Set([title]));
  });
});
