import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import {
  asRefusal,
  type ReadingLimits,
  readOnThread,
  threadsMax,
  withThread,
} from "../../../src/files/readingThread.js";
import { sharedBody } from "../../../src/lib/json/jsonBody.js";
import { collect, lines, row } from "../../support/catalog/csvReading.js";
import { openFolder } from "../../support/folder.js";

const folder = await openFolder();
const nothing = { rows: 0, problems: { list: [], total: 0 } };

const short = join(folder, "short.csv");
await writeFile(short, lines(3, row));

/** A thread waits for a body that never arrives. */
const body = { ...sharedBody(Buffer.from('""')), sendTo: () => undefined };
const endless = { kind: "csvJson", json: { body, start: 0, end: 2, items: 1, first: '"' } } as const;
const file = { kind: "csvFile", file: short } as const;

test.each([
  ["a piece takes too long", endless, { pieceMs: 1 }, "UNAVAILABLE", /took too long\. Nothing was stored\.$/u],
  [
    "a file takes too much memory",
    file,
    { heapBytesMax: 1 },
    "PAYLOAD_TOO_LARGE",
    /too much memory\. Nothing was stored\.$/u,
  ],
  [
    "its caller has gone",
    endless,
    { signal: AbortSignal.abort() },
    "UNAVAILABLE",
    /has disconnected\. Nothing was stored\.$/u,
  ],
] as const)(
  "where %s, the caller is told, and both place and thread are free again",
  async (_, source, limits, code, message) => {
    const inPlace = (given: typeof source, most?: ReadingLimits) =>
      withThread("store", () => collect(readOnThread(given, {}, most)));
    const refused = Array.from({ length: threadsMax + 1 }, () => inPlace(source, limits));
    const expected = { code, message: expect.stringMatching(message) };
    await Promise.all(refused.map((reading) => expect(reading).rejects.toMatchObject(expected)));
    expect((await inPlace(file)).result).toMatchObject({ rows: 3, problems: { total: 0 } });
  },
);

test("a caller who leaves while a thread works ends the reading", async () => {
  const caller = new AbortController();
  const next = readOnThread(endless, {}, { signal: caller.signal }).next();
  caller.abort();
  await expect(next).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("the thread of a reading that is not wanted any more is ended, though no chunk follows", async () => {
  const signals: AbortSignal[] = [];
  const run: ReadingLimits["run"] = ({ port }, _, signal) => {
    signals.push(signal);
    port.postMessage({ kind: "chunk", chunk: { rows: 1, bytesRead: 1, columns: {} } });
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
  };
  const reading = readOnThread(file, {}, { run, endMs: 1 });
  expect(await reading.next()).toMatchObject({ value: { rows: 1 } });
  await reading.return(nothing);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
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
