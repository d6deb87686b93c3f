import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EventFileProgress, recordEventFile } from "../../src/analytics/events/events.file.js";
import { sendPartitioned } from "../../src/analytics/events/events.partitions.js";
import type { ShopperEventInput } from "../../src/analytics/events/events.input.js";
import { saveLiveStream } from "../../src/analytics/shows/liveStream.save.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { testDatabase } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";
import type { SentEvent } from "../support/oracle.js";

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

/** What is wrong with a file that must be refused, and of which nothing may be stored. */
async function problemsOf(content: string | Buffer) {
  const show = await newShow(db);
  const error: any = await recordText(show, content).then(
    (receipt) => expect.fail(`was recorded: ${JSON.stringify(receipt)}`),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "AppError", code: "VALIDATION_FAILED" });
  expect(await db.shopperEvent.count({ where: { storeId: show.storeId } })).toBe(0);
  return { problems: error.problems, total: error.problemsTotal };
}

const problem = (number: number, field: string | undefined, code: string, message: string) => ({
  line: number,
  path: field === undefined ? [] : [field],
  code,
  message,
});

test.each([1, 4])(
  "a file gives the figures of its events, and a second run finds duplicates only (%i at a time)",
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

  test("characters of several bytes stay whole wherever blocks end", async () => {
    const show = await newShow(db);
    const { storeId } = show;
    const ids = Array.from({ length: 2_000 }, (_, n) => `${n} ${"👗é".repeat(50)}`);
    await recordText(show, ids.map((id) => line({ id })).join("\n"));
    const stored = await db.shopperEvent.findMany({ where: { storeId }, select: { id: true } });
    expect(stored.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("what happened when is kept in milliseconds of UTC", async () => {
    const show = await newShow(db);
    await recordText(show, line({ occurredAt: "2026-05-04T20:30:00.1239+02:00" }));
    const stored = await db.shopperEvent.findMany({ where: { storeId: show.storeId } });
    expect(stored).toMatchObject([{ id: "e", occurredAt: new Date("2026-05-04T18:30:00.123Z") }]);
  });
});

describe("one bad line, and nothing of the file is stored", () => {
  test.each([
    ["{", undefined, "MALFORMED", "The line is not JSON."],
    [`${line()},`, undefined, "MALFORMED", "The line is not JSON."],
    [`[${line()}]`, undefined, "INVALID_TYPE", "The line is not a JSON object."],
    ["null", undefined, "INVALID_TYPE", "The line is not a JSON object."],
    [line({ id: undefined }), "id", "REQUIRED", "id is required."],
    [line({ id: null }), "id", "REQUIRED", "id is required."],
    [line({ id: 5 }), "id", "INVALID_TYPE", "id must be a string."],
    [line({ id: " " }), "id", "REQUIRED", "id must not be blank."],
    [line({ id: "e\0" }), "id", "INVALID_VALUE", "id must not contain a NUL character."],
    [line({ type: "view" }), "type", "INVALID_TYPE", "type must be VIEW, ADD_TO_CART or ORDER."],
    [line({ channel: "TV" }), "channel", "INVALID_TYPE", "channel must be LIVE, REPLAY or REFERRAL."],
    [line({ channel: "REFERRAL" }), "channel", "INVALID_VALUE", "The channel REFERRAL is for ORDER only."],
    [line({ viewerId: null }), "viewerId", "REQUIRED", "VIEW needs a viewerId."],
    [line({ viewerId: 7 }), "viewerId", "INVALID_TYPE", "viewerId must be a string."],
    [line({ seconds: "12" }), "seconds", "INVALID_TYPE", "seconds must be a number."],
    [line({ seconds: -1 }), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400."],
    [line().replace("}", ',"seconds":1e999}'), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400."],
    [line({ type: "ORDER" }), "amount", "REQUIRED", "An ORDER needs an amount."],
    [line({ type: "ORDER", amount: true }), "amount", "INVALID_TYPE", "amount must be a number."],
    [
      line({ occurredAt: "today" }),
      "occurredAt",
      "INVALID_TYPE",
      "occurredAt must be an ISO 8601 timestamp with a time zone.",
    ],
    [
      line({ occurredAt: "0000-05-04T18:30:00Z" }),
      "occurredAt",
      "INVALID_TYPE",
      "occurredAt must be an ISO 8601 timestamp with a time zone.",
    ],
    [
      line({ occurredAt: "2026-05-03T18:29:59.999Z" }),
      "occurredAt",
      "INVALID_VALUE",
      "occurredAt must be at most a day before the start of the show.",
    ],
    [
      line({ occurredAt: "9999-05-04T18:30:00Z" }),
      "occurredAt",
      "INVALID_VALUE",
      "occurredAt must be at most five minutes from now.",
    ],
    [line({ colour: "red" }), "colour", "UNKNOWN_FIELD", 'An event has no field "colour".'],
    [line().replace("}", ',"__proto__":{}}'), "__proto__", "UNKNOWN_FIELD", 'An event has no field "__proto__".'],
    [line().padEnd(mebibyte + 1), undefined, "TOO_LONG", "The line is longer than 1048576 bytes."],
    ["x".repeat(5 * mebibyte), undefined, "TOO_LONG", "The line is longer than 1048576 bytes."],
  ])("number %#", async (bad, field, code, message) => {
    const content = `${line({ id: "before" })}\n\n${bad}\n${line({ id: "after" })}`;
    expect(await problemsOf(content)).toEqual({ problems: [problem(3, field, code, message)], total: 1 });
  });

  test("bytes that are not UTF-8", async () => {
    const content = Buffer.concat([Buffer.from(`${line()}\n`), Buffer.from(line({ device: "Hös" }), "latin1")]);
    const expected = problem(2, undefined, "MALFORMED", "The line is not valid UTF-8.");
    expect(await problemsOf(content)).toEqual({ problems: [expected], total: 1 });
  });

  test("all problems of all lines are named, also those of fields beside one that cannot be read", async () => {
    const content = [line({ type: 1, seconds: -1, size: "M" }), line(), "?", line({ id: 4, viewerId: undefined })];
    expect(await problemsOf(content.join("\n"))).toEqual({
      problems: [
        problem(1, "size", "UNKNOWN_FIELD", 'An event has no field "size".'),
        problem(1, "type", "INVALID_TYPE", "type must be VIEW, ADD_TO_CART or ORDER."),
        problem(1, "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400."),
        problem(3, undefined, "MALFORMED", "The line is not JSON."),
        problem(4, "id", "INVALID_TYPE", "id must be a string."),
        problem(4, "viewerId", "REQUIRED", "VIEW needs a viewerId."),
      ],
      total: 6,
    });
  });

  test("of more than a hundred problems the first hundred are named and the rest counted", async () => {
    const good = lines(someEvents(3_000));
    const { problems, total } = await problemsOf(`${good}${"{\n".repeat(5_000)}${good}`);
    expect(problems).toEqual(
      Array.from({ length: 100 }, (_, n) => problem(3_001 + n, undefined, "MALFORMED", "The line is not JSON.")),
    );
    expect(total).toBe(5_000);
  });
});

describe("what takes no events is refused before the file is looked at", () => {
  test("a show that the store does not have", async () => {
    const [{ storeId }, foreign] = [await newShow(db), await newShow(db)];
    for (const lsId of ["nowhere", foreign.lsId]) {
      const recording = recordEventFile(db, storeId, lsId, join(folder, "no such file"));
      await expect(recording).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
    }
  });

  test("a show that is archived", async () => {
    const show = await newShow(db);
    await archive(show);
    const recording = recordEventFile(db, show.storeId, show.lsId, join(folder, "no such file"));
    await expect(recording).rejects.toMatchObject({ message: "The show is archived and takes no more events." });
  });
});

test("a folder is refused, and a missing file", async () => {
  const { storeId, lsId } = await newShow(db);
  const recording = recordEventFile(db, storeId, lsId, folder);
  await expect(recording).rejects.toThrow("is not a file that can be read twice.");
  await expect(recordEventFile(db, storeId, lsId, join(folder, "missing"))).rejects.toThrow("ENOENT");
});

describe("a recording that ends in its middle", () => {
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

  test("says why, and how many events were recorded before", async () => {
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

describe("partitions", () => {
  const events = asInputs(someEvents(1_000));
  async function* source() {
    yield events.slice(0, 300);
    yield events.slice(300);
  }

  test("never more batches than partitions are on their way, and each viewer's events arrive in the order given", async () => {
    const [sent, sizes]: [ShopperEventInput[], number[]] = [[], []];
    let [running, most] = [0, 0];
    const send = async (batch: readonly ShopperEventInput[]) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, batch.length % 7));
      running -= 1;
      sent.push(...batch);
      sizes.push(batch.length);
      return { accepted: batch.length - 1, duplicates: 1 };
    };
    const receipt = await sendPartitioned(source(), send, { partitions: 3, batchEvents: 50 });
    expect(receipt).toEqual({ accepted: 1_000 - sizes.length, duplicates: sizes.length });
    expect({ most, largest: Math.max(...sizes) }).toEqual({ most: 3, largest: 50 });
    const keyOf = ({ id, viewerId }: ShopperEventInput) => viewerId ?? id;
    for (const key of new Set(events.map(keyOf))) {
      const ofViewer = (list: readonly ShopperEventInput[]) => list.filter((event) => keyOf(event) === key);
      expect(ofViewer(sent)).toEqual(ofViewer(events));
    }
  });

  test("when a batch fails no more are sent, and those on their way are waited for", async () => {
    let [begun, ended] = [0, 0];
    const send = async (batch: readonly ShopperEventInput[]) => {
      begun += 1;
      if (begun === 2) throw new Error("refused");
      await new Promise((resolve) => setTimeout(resolve, 10));
      ended += 1;
      return { accepted: batch.length, duplicates: 0 };
    };
    await expect(sendPartitioned(source(), send, { partitions: 3, batchEvents: 50 })).rejects.toThrow("refused");
    expect(ended).toBe(begun - 1);
    expect(begun).toBeLessThan(8);
  });
});

function archive({ storeId, lsId }: ShowKey) {
  const startedAt = new Date("2026-05-04T18:30:00Z");
  return saveLiveStream(db, storeId, { id: lsId, name: "Over", status: "ARCHIVED", startedAt, durationSeconds: 60 });
}
