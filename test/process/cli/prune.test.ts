// @tier all
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/access/stores/store.js";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { saveLiveStream } from "../../../src/analytics/shows/liveStream.save.js";
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
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";

const { place, database } = await openSharedPlace();

const events = someEvents(300);

async function archivedShow(): Promise<ShowKey> {
  const show = await newShow(database.client);
  await recordEvents(database.client, show.storeId, show.lsId, asInputs(events));
  await saveLiveStream(database.client, show.storeId, {
    id: show.lsId,
    name: "Show",
    status: "ARCHIVED",
    startedAt: new Date("2026-05-04T18:30:00Z"),
    durationSeconds: 60,
  });
  return show;
}

const failed = (status: number, stderr: string) => ({ status, stdout: "", stderr: `vitrine: ${stderr}\n` });

describe("vitrine events prune", () => {
  test("removes the events of archived shows, which keep their figures; a rebuild skips them", async () => {
    const show = await archivedShow();
    const { storeId, lsId } = show;
    const prune = ["events", "prune", storeId, "--before", "2026-06-01"];
    expect(await cliJson(prune, place.env)).toEqual({
      store: storeId,
      shows: [lsId],
      events: 300,
      viewerRows: expect.any(Number),
    });
    expect(await cli([...prune.slice(0, 3), lsId, ...prune.slice(3)], place.env)).toEqual({
      status: 0,
      stdout: "0 events of 0 live streams were removed, and 0 rows about their viewers. Totals stay.\n",
      stderr: "",
    });
    expect(await cliJson(["analytics", "rebuild", storeId], place.env)).toEqual({
      store: storeId,
      rebuilt: [],
      pruned: [lsId],
    });
    expect((await cli(["analytics", "rebuild", storeId], place.env)).stdout).toBe(
      "The analytics of 0 live streams were rebuilt. Skipped: 1 live stream, whose events were pruned.\n",
    );
    const reason = `The events of ${lsId} were pruned: its totals cannot be rebuilt.`;
    expect(await cli(["analytics", "rebuild", storeId, lsId], place.env)).toEqual(failed(1, reason));
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(events));
  });

  test("with --all-stores, old events of ended shows are removed, and totals can still be rebuilt", async () => {
    await onlyOldShows();
    const { show, events: sent } = await oldShow(database.client, 300);
    const { storeId, lsId } = show;
    const result = await cliJson(["events", "prune", "--all-stores", "--before", "2020-05-04T19:30:00Z"], place.env);
    expect(result).toMatchObject({
      stores: expect.any(Number),
      events: expect.any(Number),
      viewerRows: expect.any(Number),
    });
    expect(result["shows"]).toContainEqual({ store: storeId, id: lsId });
    expect(await database.client.showEvent.count({ where: { storeId } })).toBeLessThan(sent.length);
    await cli(["analytics", "rebuild", storeId, lsId], place.env);
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(sent));
    for (const wrong of [[], [storeId, "--all-stores"]]) {
      expect(await cli(["events", "prune", ...wrong, "--before", "2026-05-04"], place.env)).toEqual(
        failed(1, "Give a store or --all-stores."),
      );
    }
  });

  test("refuses a file of events for an archived show", async () => {
    const { storeId, lsId } = await archivedShow();
    await cliJson(["events", "prune", storeId, "--before", "2026-06-01"], place.env);
    const file = join(place.dataDir, `${lsId}.ndjson`);
    await writeFile(file, events.map((event) => JSON.stringify(event)).join("\n"));
    const reason = "The show is archived and takes no more events.";
    expect(await cli(["events", storeId, lsId, file], place.env)).toEqual(failed(1, reason));
  });

  test("refuses an invalid, future or missing time", async () => {
    const { storeId } = await archivedShow();
    const prune = async (...rest: string[]) => {
      const { status, stdout, stderr } = await cli(["events", "prune", storeId, ...rest], place.env);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      return stderr;
    };
    const [none, later, bad] = await Promise.all([
      prune(),
      prune("--before", "2999-01-01"),
      prune("--before", "yesterday"),
    ]);
    expect(none).toContain("required option '--before <time>' not specified");
    expect(later).toContain("The time lies in the future.");
    expect(bad).toContain("Give an ISO 8601 time");
    expect(await database.client.showEvent.count({ where: { storeId } })).toBe(300);
  });

  test("events record accepts a store named prune", async () => {
    await createStore(database.client, "prune", "Prune");
    const show = await newShow(database.client, "prune");
    const file = join(place.dataDir, "prune.ndjson");
    await writeFile(file, JSON.stringify(events[0]));
    expect(await cliJson(["events", "record", "prune", show.lsId, file], place.env)).toEqual({
      store: "prune",
      liveStream: show.lsId,
      accepted: 1,
      duplicates: 0,
    });
  });
});
