import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EventFileProgress, recordEventFile } from "../../../src/events/files/events.file.js";
import { line, lines, openEventFiles } from "../../support/figures/eventFiles.js";
import { expectedFigures, figuresOf, newShow, someEvents } from "../../support/figures.js";
import { storedEventIds } from "../../support/figures/storedEvents.js";

const files = await openEventFiles();

const mebibyte = 1024 * 1024;

test.each([1, 4])(
  "records the events of a file, and in a second run only duplicates (%i batches at a time)",
  async (partitions) => {
    const show = await newShow(files.db);
    const events = someEvents(600);
    const content = lines(events);
    expect(await files.recordText(show, content, { partitions })).toEqual({ accepted: 600, duplicates: 0 });
    expect(await figuresOf(files.db, show)).toEqual(expectedFigures(events));
    expect(await files.recordText(show, content, { partitions })).toEqual({ accepted: 0, duplicates: 600 });
    expect(await figuresOf(files.db, show)).toEqual(expectedFigures(events));
  },
);

describe("the format of the file", () => {
  test.each([
    ["an empty file", "", 0],
    ["nothing but blank lines", "\n \t\r\n\n", 0],
    ["no line end after the last line", `${line()}\n${line({ id: "f" })}`, 2],
    ["CRLF, and blank lines", `\r\n${line()}\r\n\r\n${line({ id: "f" })}\r\n`, 2],
    ["a byte order mark", `\ufeff${line()}\n`, 1],
    ["fields that are null, and white space within the line", ` ${line({ device: null, seconds: null })} \n`, 1],
    ["a line of exactly 1 MiB", `${line().padEnd(mebibyte)}\r\n${line({ id: "f" })}`, 2],
  ])("allows %s", async (_, content, accepted) => {
    expect(await files.recordText(await newShow(files.db), content)).toEqual({ accepted, duplicates: 0 });
  });

  test("characters of several bytes may cross the end of a block", async () => {
    const show = await newShow(files.db);
    const ids = Array.from({ length: 400 }, (_, n) => `${n} ${"👗é".repeat(50)}`);
    await files.recordText(show, ids.map((id) => line({ id })).join("\n"));
    expect(await storedEventIds(files.db, show)).toEqual(ids.toSorted());
  });

  test("times are stored in UTC with milliseconds", async () => {
    const show = await newShow(files.db);
    await files.recordText(show, line({ occurredAt: "2026-05-04t20:30:00.1239+02:00" }));
    const stored = await files.db.showEvent.findMany({ where: { storeId: show.storeId } });
    expect(stored).toMatchObject([{ occurredAt: new Date("2026-05-04T18:30:00.123Z") }]);
  });
});

test("refuses a folder and a missing file", async () => {
  const { storeId, lsId } = await newShow(files.db);
  const recording = recordEventFile(files.db, storeId, lsId, files.folder);
  await expect(recording).rejects.toThrow("is not a file that can be read twice.");
  await expect(recordEventFile(files.db, storeId, lsId, join(files.folder, "missing"))).rejects.toThrow("ENOENT");
});

describe("a recording that is interrupted", () => {
  test("is completed by a second run, and each event counts once", async () => {
    const show = await newShow(files.db);
    const events = someEvents(4_300);
    const long = lines(events).replaceAll("\n", `${" ".repeat(800)}\n`); // so that the file is read in several blocks
    const stop = ({ phase, events: recorded }: EventFileProgress) => {
      if (phase === "recording" && recorded > 0) throw new Error("stopped");
    };
    await expect(files.recordText(show, long, { partitions: 1, onProgress: stop })).rejects.toThrow("stopped");
    const before = await files.db.showEvent.count({ where: { storeId: show.storeId } });
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(4_300);
    expect(await files.recordText(show, lines(events))).toEqual({ accepted: 4_300 - before, duplicates: before });
    expect(await figuresOf(files.db, show)).toEqual(expectedFigures(events));
  });

  test("reports the reason and how many events were recorded before", async () => {
    const show = await newShow(files.db);
    let archiving: Promise<unknown> | undefined;
    const onProgress = () => {
      archiving ??= files.archive(show);
    };
    const message =
      /^The show is archived and takes no more events\. \d+ events of the file were recorded before; run the command again for the rest\.$/u;
    await expect(files.recordText(show, lines(someEvents(8_000)), { onProgress })).rejects.toThrow(message);
    await archiving;
  });
});
