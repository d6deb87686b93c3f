// @tier all
import { mkdir, mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { programInShell, shellOf } from "../../support/process/shell.js";

const { place, database } = await openSharedPlace();
const folder = join(place.dataDir, "exports");
await mkdir(folder, { recursive: true });

const shell = (lines: string) => shellOf(lines, place.env);
const events = someEvents(1_200);

async function recordedShow(): Promise<ShowKey> {
  const show = await newShow(database.client);
  await recordEvents(database.client, show.storeId, show.lsId, asInputs(events));
  return show;
}

test("events are exported to a file, from which another show gets the same figures", async () => {
  const { storeId, lsId } = await recordedShow();
  for (const name of ["events.ndjson", "events.ndjson.gz"]) {
    const file = join(folder, name);
    const result = { store: storeId, liveStream: lsId, file, events: 1_200, isPruned: false };
    expect(await cliJson(["events", "export", storeId, lsId, file], place.env)).toEqual(result);
  }
  const plain = await readFile(join(folder, "events.ndjson"));
  expect(gunzipSync(await readFile(join(folder, "events.ndjson.gz")))).toEqual(plain);
  const other = await newShow(database.client);
  await cli(["events", other.storeId, other.lsId, join(folder, "events.ndjson")], place.env);
  expect(await figuresOf(database.client, other)).toEqual(expectedFigures(events));
});

test("exports a row of figures for each show that started in the range", async () => {
  const { storeId, lsId } = await recordedShow();
  const [csv, ndjson] = [join(folder, "shows.csv"), join(folder, "shows.ndjson.gz")];
  const result = await cli(["analytics", "export", storeId, csv], place.env);
  expect(result).toEqual({ status: 0, stdout: `The figures of 1 live stream were written to ${csv}.\n`, stderr: "" });
  const [head = "", row = "", ...rest] = (await readFile(csv, "utf8")).split("\n");
  expect({ columns: row.split(",").length, id: row.includes(lsId), rest }).toEqual({
    columns: head.split(",").length,
    id: true,
    rest: [""],
  });
  const started = ["--from", "2026-05-04T18:30:00Z", "--until", "2026-05-04T18:30:01Z"];
  expect(await cliJson(["analytics", "export", storeId, ndjson, ...started], place.env)).toMatchObject({ shows: 1 });
  expect(JSON.parse(String(gunzipSync(await readFile(ndjson))))).toMatchObject({ id: lsId });
  const later = ["--from", "2026-05-04T18:30:01Z"];
  expect(await cliJson(["analytics", "export", storeId, ndjson, ...later], place.env)).toMatchObject({ shows: 0 });
});

test("an export without a file is written to standard output, and its summary as JSON to standard error", async () => {
  const { storeId, lsId } = await recordedShow();
  const { stdout, stderr } = await shell(`vitrine events export ${storeId} ${lsId} --json`);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1_200);
  expect(JSON.parse(stderr)).toEqual({ store: storeId, liveStream: lsId, file: "-", events: 1_200, isPruned: false });
});

test("an export ends without an error when its reader closes the pipe", async () => {
  const { storeId, lsId } = await recordedShow();
  const first = await shell(`vitrine events export ${storeId} ${lsId} | head -n 1`);
  expect({ ...first, stdout: typeof JSON.parse(first.stdout).id }).toEqual({ status: 0, stdout: "string", stderr: "" });
  const nothing = await shell(`vitrine analytics export ${storeId} | true`);
  expect(nothing).toEqual({ status: 0, stdout: "", stderr: "" });
});

test.each(["analytics export STORE", "events export STORE SHOW"])(
  "%s fails if its output cannot be written",
  async (command) => {
    const { storeId, lsId } = await recordedShow();
    const args = command.replace("STORE", storeId).replace("SHOW", lsId);
    const stderr = expect.stringContaining("ENOSPC");
    expect(await shell(`vitrine ${args} >/dev/full`)).toEqual({ status: 1, stdout: "", stderr });
  },
);

test("an export that is interrupted leaves no file", async () => {
  const { storeId, lsId } = await recordedShow();
  const target = await mkdtemp(join(folder, "interrupted"));
  // The draft beside its target is there before the database is asked.
  const { status } = await shell(`
    ${programInShell} events export ${storeId} ${lsId} ${target}/events.ndjson &
    until [ -n "$(ls ${target})" ]; do kill -0 $! || exit 99; sleep 0.01; done
    kill -TERM $!; wait $!`);
  expect({ status, files: await readdir(target) }).toEqual({ status: 143, files: [] });
});

test("an invalid export is refused with the reason, and no file is created", async () => {
  const { storeId, lsId } = await recordedShow();
  const target = await mkdtemp(join(folder, "refused"));
  const file = join(target, "x.csv");
  const refusals: [string[], number, string][] = [
    [["analytics", "export", "nowhere", file], 1, "There is no store nowhere."],
    [["analytics", "export", storeId, join(target, "no", "x.csv")], 1, "there is no folder"],
    [["analytics", "export", storeId, file, "--from", "yesterday"], 2, "ISO 8601"],
    [["analytics", "export", storeId, file, "--format", "xml"], 2, "csv, ndjson"],
    [
      ["analytics", "export", storeId, file, "--from", "2026-05-05T00:00:00Z", "--until", "2026-05-04T00:00:00Z"],
      1,
      "--until must be at or after --from.",
    ],
    [["events", "export", "nowhere", lsId, file], 1, "There is no store nowhere."],
    [["events", "export", storeId, "nothing", file], 1, "The store has no live stream with this id."],
    [["events", "export", storeId, lsId, target], 1, "is not a file that can be replaced"],
  ];
  for (const [args, status, text] of refusals) {
    const result = await cli(args, place.env);
    expect({ args, ...result }).toEqual({ args, status, stdout: "", stderr: expect.stringContaining(text) });
  }
  expect(await readdir(target)).toEqual([]);
});
