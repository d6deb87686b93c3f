import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readProductCsv } from "../../../src/catalog/import/entryPoints/fileProducts.js";
import { readCsv } from "../../../src/files/csv/csv.js";
import { sharedBody } from "../../../src/lib/json/jsonBody.js";
import { threadsMax } from "../../../src/files/readingThread.js";
import { openFolder } from "../../support/folder.js";
import { header, row, lines, collect, readChunks, rowsOf } from "../../support/catalog/csvReading.js";

const folder = await openFolder();

/** How often this process, of which threads are a part, has a file open: as Linux lists it, or elsewhere other programs. */
async function openFiles(file: string): Promise<number> {
  const fds = "/proc/self/fd";
  if (!existsSync(fds)) {
    const { stdout } = spawnSync("lsof", ["-Fn", "-p", String(process.pid)], { encoding: "utf8" });
    return stdout.split("\n").filter((line) => line === `n${file}`).length;
  }
  const links = (await readdir(fds)).map((fd) => readlink(join(fds, fd)).catch(() => "")); // closed meanwhile
  return (await Promise.all(links)).filter((path) => path === file).length;
}

describe("the thread", () => {
  /** Longer than what is read without a thread. */
  const rows = 1_800;
  const text = lines(rows, row);

  /** The text as a JSON string in a body. */
  const asJson = (content: string | Buffer) => {
    const bytes = Buffer.concat([Buffer.from('"'), Buffer.from(content as string), Buffer.from('"')]);
    return { json: { body: sharedBody(bytes), start: 0, end: bytes.length, items: 1, first: '"' } };
  };
  const escaped = (content: string) => JSON.stringify(content).slice(1, -1);

  test("returns the same as reading in process, for a JSON string and for a file", async () => {
    const file = join(folder, "large.csv");
    const long = lines(2_400, row); // several pieces
    await writeFile(file, long);
    const inProcess = await collect(readCsv([{ text: long, bytesRead: long.length }]));
    expect(inProcess.result).toEqual({ rows: 2_400, problems: { list: [], total: 0 } });
    for (const source of [asJson(escaped(long)), { file }]) {
      const { chunks, result } = await readChunks(source);
      expect(chunks.map((chunk) => chunk.rows)).toEqual(Array(8).fill(300));
      expect(chunks.map(({ columns }) => columns)).toEqual(inProcess.chunks.map(({ columns }) => columns));
      expect(result).toEqual(inProcess.result);
      expect(chunks.at(-1)?.bytesRead).toBe(long.length);
    }
  });

  test("is free for others once the caller stops reading", async () => {
    const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    await readChunks(asJson(escaped(text))); // threads are running
    const before = ports();
    for (let times = 0; times <= threadsMax; times += 1) {
      const left = readProductCsv(asJson(escaped(text)));
      await left.next();
      await left.return({ rows: 0, problems: { list: [], total: 0 } });
    }
    await expect.poll(ports).toBeLessThanOrEqual(before + 8);
    expect((await readChunks(asJson(escaped(text)))).result.rows).toBe(rows);
  });

  test("closes a file that it does not read to its end", async () => {
    const file = join(folder, "left.csv");
    await writeFile(file, text);
    const left = async () => {
      const reading = readProductCsv({ file });
      await reading.next();
      await reading.return({ rows: 0, problems: { list: [], total: 0 } });
    };
    await Promise.all([left(), left()]);
    await expect.poll(() => openFiles(file)).toBe(0); // an idle thread ends, and its files with it, later
  });

  test("keeps no state of the previous reading, however it ended", async () => {
    const first = await readChunks(asJson(escaped(text)));
    for (const other of [`nothing\n${text}`, `${text}1,"`]) {
      const [again] = await Promise.all([readChunks(asJson(escaped(other))), readChunks(asJson(escaped(text)))]);
      const alone = await collect(readCsv([{ text: other, bytesRead: other.length }], { pathPrefix: ["csvContent"] }));
      expect(again.result).toEqual(alone.result);
      expect((await readChunks(asJson(escaped(text)))).chunks).toEqual(first.chunks);
    }
  });

  test("refuses an invalid JSON string, and reads the next one", async () => {
    const content = Buffer.from(escaped(text));
    const broken = Buffer.from(content);
    broken[100_000 + broken.subarray(100_000).indexOf("a")] = 0xff;
    for (let times = 0; times < 3; times += 1) {
      await expect(readChunks(asJson(broken))).rejects.toMatchObject({ code: "BAD_REQUEST" });
      expect((await readChunks(asJson(content))).result.rows).toBe(rows);
    }
  });

  test("reports why a file cannot be read", async () => {
    const file = join(folder, "missing.csv");
    await expect(readProductCsv({ file }).next()).rejects.toMatchObject({
      code: "ENOENT",
      path: file,
    });
  });

  test.each([
    ["after valid lines", Buffer.from(`${header}\n${row("1")}\n2,\xff\n`, "latin1"), 1, 3],
    ["within quotes", Buffer.from(`${header}\n${row("1")}\n2,"\n\n\xe9"\n`, "latin1"), 1, 3],
    [
      "cut off at the end",
      Buffer.concat([Buffer.from(`${header}\n${row("1")}\n2,`), Buffer.from("é").subarray(0, 1)]),
      1,
      3,
    ],
    ["in the header", Buffer.from(`id,\x80${header}`, "latin1"), 0, 1],
  ])("names the row where a file is not UTF-8: %s", async (_, bytes, rowsBefore, line) => {
    const file = join(folder, "notUtf8.csv");
    await writeFile(file, bytes);
    const { result } = await readChunks({ file });
    const message = expect.stringMatching(/^Line \d is not valid UTF-8\. .*Say which with encoding=NAME/u);
    expect(result).toEqual({
      rows: rowsBefore,
      problems: { list: [{ code: "MALFORMED", message, path: ["csvContent"], line }], total: 1 },
    });
  });

  test("reads characters that are cut by the pieces of a file", async () => {
    const file = join(folder, "characters.csv");
    const title = "€😀é".repeat(300);
    await writeFile(
      file,
      lines(100, (id) => row(id).replace("Title", title)),
    );
    const { chunks, result } = await readChunks({ file });
    expect(result).toEqual({ rows: 100, problems: { list: [], total: 0 } });
    expect(new Set(rowsOf(chunks).map((product) => product["title"]))).toEqual(new Set([title]));
  });
});
