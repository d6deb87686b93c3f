import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { saveMoments } from "../../../src/shows/moments/moments.save.js";
import {
  asInputs,
  expectedFigures,
  figuresOf,
  newShow,
  oldShow,
  onlyOldShows,
  type ShowKey,
  someEvents,
} from "../../support/figures.js";
import { openCommands } from "../../support/process/cli.js";

const { db, run, json, refusal, newStore, fileOf } = await openCommands();

const count = 60;
const events = someEvents(count);
const linesOf = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).join("\n");
const figures = (show: ShowKey) => figuresOf(db, show);

async function recordedShow(): Promise<ShowKey> {
  const show = await newShow(db);
  await recordEvents(db, show.storeId, show.lsId, asInputs(events));
  return show;
}

async function archivedShow(): Promise<ShowKey> {
  const show = await recordedShow();
  const startedAt = new Date("2026-05-04T18:30:00Z");
  const saved = { id: show.lsId, name: "Show", status: "ARCHIVED", startedAt, durationSeconds: 60 } as const;
  await saveLiveStream(db, show.storeId, saved);
  return show;
}

describe("events record", () => {
  test("records a file, and again as duplicates", async () => {
    const show = await newShow(db);
    const record = ["events", show.storeId, show.lsId, await fileOf(linesOf(events), "events.ndjson")];
    const result = { store: show.storeId, liveStream: show.lsId };
    expect(await json(...record)).toEqual({ ...result, accepted: count, duplicates: 0 });
    expect(await json(...record)).toEqual({ ...result, accepted: 0, duplicates: count });
    expect(await figures(show)).toEqual(expectedFigures(events));
    const stdout = `0 events were recorded; ${count} had been recorded before.\n`;
    expect(await run(...record)).toEqual({ status: 0, stdout, stderr: "" });
  });

  test("names each problem with its line, and records nothing", async () => {
    const show = await newShow(db);
    const wrong = '{"id":"x","type":"VIEW","channel":"LIVE","size":1}';
    const file = await fileOf(`${linesOf(events.slice(0, 2))}\n${wrong}\nno`, "events.ndjson");
    const reasons = [
      "3 problems. Nothing was stored.",
      "  line  column    reason",
      '  3     size      An event has no field "size".',
      "  3     viewerId  VIEW needs a viewerId.",
      "  4               The line is not JSON: see column 1.",
    ];
    expect(await refusal("events", show.storeId, show.lsId, file, "--json")).toEqual([1, reasons.join("\n")]);
    expect(await figures(show)).toEqual(expectedFigures([]));
  });

  test("takes a store whose name is that of a command", async () => {
    const show = await newShow(db, (await json("store", "create", "prune")).store);
    const file = await fileOf(linesOf(events.slice(0, 1)), "prune.ndjson");
    expect(await json("events", "record", "prune", show.lsId, file)).toMatchObject({ store: "prune", accepted: 1 });
  });
});

test("events are exported to a file, from which another show gets the same figures", async () => {
  const { storeId, lsId } = await recordedShow();
  const plain = await fileOf("older", "events.ndjson");
  for (const file of [plain, `${plain}.gz`]) {
    const result = { store: storeId, liveStream: lsId, file, events: count, isPruned: false };
    expect(await json("events", "export", storeId, lsId, file)).toEqual(result);
  }
  expect(gunzipSync(await readFile(`${plain}.gz`))).toEqual(await readFile(plain));
  const other = await newShow(db);
  await run("events", other.storeId, other.lsId, plain);
  expect(await figures(other)).toEqual(expectedFigures(events));
  const { stdout, stderr } = await run("events", "export", storeId, lsId, "--json");
  expect(stdout).toBe(await readFile(plain, "utf8"));
  expect(JSON.parse(stderr), "the summary").toMatchObject({ file: "-", events: count, isPruned: false });
});

test("a row of figures is exported for each show that started in the range", async () => {
  const { storeId, lsId } = await recordedShow();
  const file = await fileOf("older", "shows.csv");
  const exported = ["analytics", "export", storeId, file];
  const stdout = `The figures of 1 live stream were written to ${file}.\n`;
  expect(await run(...exported)).toEqual({ status: 0, stdout, stderr: "" });
  const [head = "", row = "", ...rest] = (await readFile(file, "utf8")).split("\n");
  expect([row.split(",").length, row.includes(lsId), rest]).toEqual([head.split(",").length, true, [""]]);
  const started = ["--from", "2026-05-04T18:30:00Z", "--until", "2026-05-04T18:30:01Z"];
  const compressed = `${file}.ndjson.gz`;
  expect(await json("analytics", "export", storeId, compressed, ...started)).toMatchObject({ shows: 1 });
  expect(JSON.parse(String(gunzipSync(await readFile(compressed))))).toMatchObject({ id: lsId });
  expect(await json(...exported, "--from", "2026-05-04T18:30:01Z")).toMatchObject({ shows: 0 });
});

test("a row of figures is exported for each moment of these shows", async () => {
  const { storeId, lsId } = await recordedShow();
  const startedAt = new Date("2026-05-04T18:30:00Z");
  await saveMoments(db, storeId, lsId, [{ id: "first", kind: "MARKER", startedAt }]);
  const file = await fileOf("older", "moments.csv");
  const exported = ["analytics", "export", storeId, file, "--moments"];
  const stdout = `The figures of 1 moment were written to ${file}.\n`;
  expect(await run(...exported)).toEqual({ status: 0, stdout, stderr: "" });
  expect(await readFile(file, "utf8")).toMatch(new RegExp(`^showId,id,.*\n"${lsId}","first",MARKER,.*\n$`, "u"));
  const result = { store: storeId, file, format: "csv", moments: 0 };
  expect(await json(...exported, "--from", "2026-05-04T18:30:01Z")).toEqual(result);
});

test("an invalid export is refused with the reason, and no file is created", async () => {
  const { storeId, lsId } = await recordedShow();
  const file = await fileOf("kept", "x.csv");
  const target = dirname(file);
  const refusals: [string[], number, string][] = [
    [["analytics", "export", storeId, join(target, "no", "x.csv")], 1, "there is no folder"],
    [["analytics", "export", storeId, file, "--from", "yesterday"], 2, "ISO 8601"],
    [["analytics", "export", storeId, file, "--format", "xml"], 2, "csv, ndjson"],
    [["analytics", "export", storeId, file, "--moments", "--format", "ndjson"], 1, "each show has its moments"],
    [["analytics", "export", storeId, join(target, "x.ndjson"), "--moments"], 1, "--moments writes CSV"],
    [
      ["analytics", "export", storeId, file, "--from", "2026-05-05T00:00:00Z", "--until", "2026-05-04T00:00:00Z"],
      1,
      "--until must be at or after --from.",
    ],
    [["events", "export", storeId, "nothing", file], 1, "The store has no live stream with this id."],
    [["events", "export", storeId, lsId, target], 1, "is not a file that can be replaced"],
  ];
  for (const [args, status, text] of refusals) {
    expect(await refusal(...args)).toEqual([status, expect.stringContaining(text)]);
  }
  expect([await readdir(target), await readFile(file, "utf8")]).toEqual([["x.csv"], "kept"]);
});

test("analytics rebuild restores the totals of a show, or of all shows of a store", async () => {
  const show = await recordedShow();
  const { storeId, lsId } = show;
  for (const args of [[storeId, lsId], [storeId]]) {
    await db.liveStreamTotal.deleteMany({ where: { storeId } });
    expect(await json("analytics", "rebuild", ...args)).toEqual({ store: storeId, rebuilt: [lsId], pruned: [] });
    expect(await figures(show)).toEqual(expectedFigures(events));
  }
  const stdout = "The analytics of 1 live stream were rebuilt.\n";
  expect(await run("analytics", "rebuild", storeId)).toEqual({ status: 0, stdout, stderr: "" });
});

describe("events prune", () => {
  test("removes the events of archived shows, which keep their figures; a rebuild skips them", async () => {
    const show = await archivedShow();
    const { storeId, lsId } = show;
    const before = ["--before", "2026-06-01"];
    const removed = { store: storeId, shows: [lsId], events: count, viewerRows: expect.any(Number) };
    expect(await json("events", "prune", storeId, ...before)).toEqual(removed);
    const none = "0 events of 0 live streams were removed, and 0 rows about their viewers. Totals stay.\n";
    expect((await run("events", "prune", storeId, lsId, ...before)).stdout).toBe(none);
    expect(await json("analytics", "rebuild", storeId)).toEqual({ store: storeId, rebuilt: [], pruned: [lsId] });
    expect((await run("analytics", "rebuild", storeId)).stdout).toBe(
      "The analytics of 0 live streams were rebuilt. Skipped: 1 live stream, whose events were pruned.\n",
    );
    const reason = `The events of ${lsId} were pruned: its totals cannot be rebuilt.`;
    expect(await refusal("analytics", "rebuild", storeId, lsId)).toEqual([1, reason]);
    const file = await fileOf(linesOf(events), "events.ndjson");
    const closed = "The show is archived and takes no more events.";
    expect(await refusal("events", storeId, lsId, file)).toEqual([1, closed]);
    expect(await figures(show)).toEqual(expectedFigures(events));
  });

  test("removes old events of ended shows with --all-stores; totals stay, and cannot be rebuilt", async () => {
    await onlyOldShows();
    const { show, events: sent } = await oldShow(db, 300);
    const { storeId, lsId } = show;
    const result = await json("events", "prune", "--all-stores", "--before", "2020-05-04T19:30:00Z");
    const any = expect.any(Number);
    expect(result).toMatchObject({ stores: any, events: any, viewerRows: any });
    expect(result["shows"]).toContainEqual({ store: storeId, id: lsId });
    expect(await db.showEvent.count({ where: { storeId } })).toBeLessThan(sent.length);
    const reason = `The events of ${lsId} were pruned: its totals cannot be rebuilt.`;
    expect(await refusal("analytics", "rebuild", storeId, lsId)).toEqual([1, reason]);
    expect(await figures(show)).toEqual(expectedFigures(sent));
    for (const wrong of [[], [storeId, "--all-stores"]]) {
      const missing = "Give a store or --all-stores.";
      expect(await refusal("events", "prune", ...wrong, "--before", "2026-05-04")).toEqual([1, missing]);
    }
  });

  test("refuses a time that is missing or lies in the future", async () => {
    const store = await newStore();
    const missing = expect.stringContaining("required option '--before <time>' not specified");
    expect(await refusal("events", "prune", store)).toEqual([2, missing]);
    const later = expect.stringContaining("The time is in the future.");
    expect(await refusal("events", "prune", store, "--before", "2999-01-01")).toEqual([2, later]);
  });
});
