import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EventFileProgress, recordEventFile } from "../../../src/analytics/events/events.file.js";
import { saveLiveStream } from "../../../src/analytics/shows/liveStream.save.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { testDatabase } from "../../support/app.js";
import { expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import type { SentEvent } from "../../support/oracle.js";

let database: OpenDatabase;
let db: OpenDatabase["client"];
let folder: string;
beforeAll(async () => {
  database = testDatabase();
  db = database.client;
  folder = await mkdtemp(join(tmpdir(), "vt-events-"));
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const mebibyte = 1024 * 1024;
const view = { id: "e", type: "VIEW", channel: "LIVE", viewerId: "ann", occurredAt: "2026-05-04T18:30:00Z" };
const line = (fields: object = {}) => JSON.stringify({ ...view, ...fields });
const lines = (events: readonly SentEvent[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

let files = 0;
async function fileOf(content: string | Buffer): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.ndjson`);
  await writeFile(path, content);
  return path;
}

type Options = Parameters<typeof recordEventFile>[4];
async function recordText({ storeId, lsId }: ShowKey, content: string | Buffer, options: Options = {}) {
  return recordEventFile(db, storeId, lsId, await fileOf(content), options);
}

test.each([1, 4])(
  "a file gives the figures of its events, and a second run only duplicates (%i at a time)",
  async (partitions) => {
    const show = await newShow(db);
    const events = someEvents(5_000);
    const content = lines(events);
    expect(await recordText(show, content, { partitions })).toEqual({ accepted: 5_000, duplicates: 0 });
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
    expect(await recordText(show, content, { partitions })).toEqual({ accepted: 0, duplicates: 5_000 });
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  },
);

describe("the form of the file", () => {
  test.each([
    ["an empty file", "", 0],
    ["nothing but blank lines", "\n \t\r\n\n", 0],
    ["no line end after the last line", `${line()}\n${line({ id: "f" })}`, 2],
    ["CRLF, and blank lines", `\r\n${line()}\r\n\r\n${line({ id: "f" })}\r\n`, 2],
    ["a byte order mark", `\ufeff${line()}\n`, 1],
    ["fields that are null, and white space within the line", ` ${line({ device: null, seconds: null })} \n`, 1],
    ["a line of exactly 1 MiB", `${line().padEnd(mebibyte)}\r\n${line({ id: "f" })}`, 2],
  ])("%s is taken", async (_, content, accepted) => {
    expect(await recordText(await newShow(db), content)).toEqual({ accepted, duplicates: 0 });
  });

  test("characters of several bytes may cross the end of a block", async () => {
    const show = await newShow(db);
    const { storeId } = show;
    const ids = Array.from({ length: 2_000 }, (_, n) => `${n} ${"👗é".repeat(50)}`);
    await recordText(show, ids.map((id) => line({ id })).join("\n"));
    const stored = await db.shopperEvent.findMany({ where: { storeId }, select: { id: true } });
    expect(stored.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("times are stored in UTC with milliseconds", async () => {
    const show = await newShow(db);
    await recordText(show, line({ occurredAt: "2026-05-04T20:30:00.1239+02:00" }));
    const stored = await db.shopperEvent.findMany({ where: { storeId: show.storeId } });
    expect(stored).toMatchObject([{ id: "e", occurredAt: new Date("2026-05-04T18:30:00.123Z") }]);
  });
});

test("a folder is refused, and a missing file", async () => {
  const { storeId, lsId } = await newShow(db);
  const recording = recordEventFile(db, storeId, lsId, folder);
  await expect(recording).rejects.toThrow("is not a file that can be read twice.");
  await expect(recordEventFile(db, storeId, lsId, join(folder, "missing"))).rejects.toThrow("ENOENT");
});

describe("a recording that is interrupted", () => {
  test("is completed by a second run, and each event counts once", async () => {
    const show = await newShow(db);
    const events = someEvents(6_000);
    const stop = ({ phase, events: recorded }: EventFileProgress) => {
      if (phase === "recording" && recorded > 0) throw new Error("stopped");
    };
    await expect(recordText(show, lines(events), { onProgress: stop })).rejects.toThrow("stopped");
    const before = await db.shopperEvent.count({ where: { storeId: show.storeId } });
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(6_000);
    expect(await recordText(show, lines(events))).toEqual({ accepted: 6_000 - before, duplicates: before });
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });

  test("reports the reason and how many events were recorded before", async () => {
    const show = await newShow(db);
    let archiving: Promise<unknown> | undefined;
    const onProgress = () => {
      archiving ??= archive(show);
    };
    const message =
      /^The show is archived and takes no more events\. \d+ events of the file were recorded before; run the command again for the rest\.$/u;
    await expect(recordText(show, lines(someEvents(20_000)), { onProgress })).rejects.toThrow(message);
    await archiving;
  });
});
function archive({ storeId, lsId }: ShowKey) {
  const startedAt = new Date("2026-05-04T18:30:00Z");
  return saveLiveStream(db, storeId, { id: lsId, name: "Over", status: "ARCHIVED", startedAt, durationSeconds: 60 });
}
