import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { recordEventFile } from "../../../src/events/files/events.file.js";
import { line, lines, openEventFiles } from "../../support/figures/eventFiles.js";
import { newShow, someEvents } from "../../support/figures.js";

const files = await openEventFiles();

const mebibyte = 1024 * 1024;

const refusing = await newShow(files.db);

/** What is wrong with a file that must be refused, and of which nothing may be stored. */
async function problemsOf(content: string | Buffer) {
  const error: any = await files.recordText(refusing, content).then(
    (receipt) => expect.fail(`was recorded: ${JSON.stringify(receipt)}`),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "AppError", code: "VALIDATION_FAILED" });
  expect(await files.db.showEvent.count({ where: { storeId: refusing.storeId } })).toBe(0);
  return { problems: error.problems, total: error.problemsTotal };
}

const problem = (number: number, field: string | undefined, code: string, message: string) => ({
  line: number,
  path: field === undefined ? [] : [field],
  code,
  message,
});

describe("with one invalid line, nothing of the file is stored", () => {
  test.each([
    ["{", undefined, "MALFORMED", "The line is not JSON: see column 2."],
    [`${line()},`, undefined, "MALFORMED", `The line is not JSON: see column ${line().length + 1}.`],
    [`[${line()}]`, undefined, "INVALID_TYPE", "The line is not a JSON object."],
    ["null", undefined, "INVALID_TYPE", "The line is not a JSON object."],
    [line({ id: undefined }), "id", "REQUIRED", "id is required."],
    [line({ id: 5 }), "id", "INVALID_TYPE", "id must be a string, not 5."],
    [line({ id: " " }), "id", "REQUIRED", "id must not be blank."],
    [line({ type: "view" }), "type", "INVALID_TYPE", 'type must be VIEW, ADD_TO_CART, ORDER or REFUND, not "view".'],
    [line({ channel: "TV" }), "channel", "INVALID_TYPE", 'channel must be LIVE, REPLAY, REFERRAL or AUTO, not "TV".'],
    [line({ viewerId: null }), "viewerId", "REQUIRED", "VIEW needs a viewerId."],
    [line({ seconds: "12" }), "seconds", "INVALID_TYPE", 'seconds must be a number, not "12".'],
    [line({ seconds: -1 }), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not -1."],
    [
      line().replace("}", ',"seconds":1e999}'),
      "seconds",
      "INVALID_VALUE",
      "seconds must be from 0 to 86400, not Infinity.",
    ],
    [
      line({ occurredAt: "today" }),
      "occurredAt",
      "INVALID_TYPE",
      'occurredAt must be an ISO 8601 timestamp with a time zone, not "today".',
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

  test("a file that is packed is named, with what to do", async () => {
    const message = "The file is compressed with gzip, and not NDJSON: unpack it, or export it as that.";
    await expect(files.recordText(refusing, gzipSync(line()))).rejects.toMatchObject({ code: "BAD_REQUEST", message });
  });

  test("all problems of all lines are reported, also of fields beside an unreadable one", async () => {
    const content = [line({ type: 1, seconds: -1, size: "M" }), line(), "?", line({ id: 4, viewerId: undefined })];
    expect(await problemsOf(content.join("\n"))).toEqual({
      problems: [
        problem(1, "size", "UNKNOWN_FIELD", 'An event has no field "size".'),
        problem(1, "type", "INVALID_TYPE", "type must be VIEW, ADD_TO_CART, ORDER or REFUND, not 1."),
        problem(1, "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not -1."),
        problem(3, undefined, "MALFORMED", "The line is not JSON: see column 1."),
        problem(4, "id", "INVALID_TYPE", "id must be a string, not 4."),
        problem(4, "viewerId", "REQUIRED", "VIEW needs a viewerId."),
      ],
      total: 6,
    });
  });

  test("the first 100 problems are listed, and all are counted", async () => {
    const good = lines(someEvents(300));
    const { problems, total } = await problemsOf(`${good}${"{\n".repeat(500)}${good}`);
    expect(problems).toEqual(
      Array.from({ length: 100 }, (_, n) =>
        problem(301 + n, undefined, "MALFORMED", "The line is not JSON: see column 2."),
      ),
    );
    expect(total).toBe(500);
  });
});

describe("a show that takes no events is refused before the file is opened", () => {
  test("a show that the store does not have", async () => {
    const [{ storeId }, foreign] = [await newShow(files.db), await newShow(files.db)];
    for (const lsId of ["nowhere", foreign.lsId]) {
      const recording = recordEventFile(files.db, storeId, lsId, join(files.folder, "no such file"));
      await expect(recording).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
    }
  });

  test("a show that is archived", async () => {
    const show = await newShow(files.db);
    await files.archive(show);
    const recording = recordEventFile(files.db, show.storeId, show.lsId, join(files.folder, "no such file"));
    await expect(recording).rejects.toMatchObject({ message: "The show is archived and takes no more events." });
  });
});
