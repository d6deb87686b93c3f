import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { type ReadingLimits, readOnThread, withThread } from "../../../../src/catalog/sources/thread.js";
import { asRefusal, threadsMax } from "../../../../src/catalog/sources/threads.js";
import { within } from "../../../support/busy.js";
import { collect, lines, row } from "../../../support/catalog/csvReading.js";
import { openFolder } from "../../../support/folder.js";

const folder = await openFolder();
const nothing = { rows: 0, problems: { list: [], total: 0 } };

/** A file with products, and then 200 MB of blank lines, which take seconds. */
const long = join(folder, "long.csv");
await writeFile(long, `${lines(900, row)}${"\n".repeat(200_000_000)}`);
const short = join(folder, "short.csv");
await writeFile(short, lines(3, row));

const read = (file: string, limits: ReadingLimits = {}) => readOnThread({ kind: "csvFile", file }, {}, limits);

/** Reads in a place of the store. */
const inPlace = (file: string, limits?: ReadingLimits) => withThread("store", () => collect(read(file, limits)));

test.each([
  ["a piece takes too long", { pieceMs: 1 }, "UNAVAILABLE", /takes too long\. Nothing was stored\.$/u],
  [
    "a file takes too much memory",
    { heapBytesMax: 1 },
    "PAYLOAD_TOO_LARGE",
    /too much memory\. Nothing was stored\.$/u,
  ],
  ["its caller has gone", { signal: AbortSignal.abort() }, "UNAVAILABLE", /has disconnected\. Nothing was stored\.$/u],
])("where %s, the caller is told, and both place and thread are free again", async (_, limits, code, message) => {
  for (let times = 0; times <= threadsMax; times += 1) {
    await expect(inPlace(long, limits)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  }
  const { result } = await inPlace(short);
  expect(result).toMatchObject({ rows: 3, problems: { total: 0 } });
});

test("a caller who leaves in the middle ends the reading at once, wherever it is", async () => {
  const caller = new AbortController();
  const reading = read(long, { signal: caller.signal });
  for (let chunks = 0; chunks < 3; chunks += 1) expect(await reading.next()).toMatchObject({ done: false });
  const next = reading.next(); // in the blank lines
  const begun = performance.now();
  caller.abort();
  await expect(next).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(performance.now() - begun).toBeLessThan(within(1_000));
});

test("a reading that is not wanted any more is ended within a second or so, though no chunk follows", async () => {
  const reading = read(long);
  await reading.next();
  const begun = performance.now();
  await reading.return(nothing);
  expect(performance.now() - begun).toBeLessThan(within(2_500));
});

test("a thread that V8 has ended for its memory is told as a file that takes too much", async () => {
  const worker = new Worker("const all = []; for (;;) all.push({});", {
    eval: true,
    resourceLimits: { maxOldGenerationSizeMb: 8 },
  });
  const error = await new Promise((resolve) => worker.once("error", resolve));
  expect(asRefusal(error)).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  const other = new Error("another");
  expect(asRefusal(other)).toBe(other);
});
