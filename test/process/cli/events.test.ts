// @tier all
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { cli, cliJson, openSharedPlace } from "../../support/process/cli.js";

const redisUrl = process.env["TEST_REDIS_URL"] ?? "";

const { place, database } = await openSharedPlace();

/** A new show, and the command that records a file with these lines for it. */
async function prepare(lines: readonly string[]) {
  const show = await newShow(database.client);
  const file = join(place.dataDir, `${show.lsId}.ndjson`);
  await writeFile(file, lines.join("\n"));
  return { show, file, command: ["events", show.storeId, show.lsId, file] };
}

const figures = (show: ShowKey) => figuresOf(database.client, show);
const failed = (stderr: string) => ({ status: 1, stdout: "", stderr: `vitrine: ${stderr}` });

describe("vitrine events", () => {
  test("records a file, and again as duplicates", async () => {
    const events = someEvents(2_500);
    const { show, command } = await prepare(events.map((event) => JSON.stringify(event)));
    const result = { store: show.storeId, liveStream: show.lsId };
    expect(await cliJson(command, place.env)).toEqual({ ...result, accepted: 2_500, duplicates: 0 });
    expect(await cliJson(command, place.env)).toEqual({ ...result, accepted: 0, duplicates: 2_500 });
    expect(await figures(show)).toEqual(expectedFigures(events));
    const stdout = "0 events were recorded; 2500 had been recorded before.\n";
    expect(await cli(command, place.env)).toEqual({ status: 0, stdout, stderr: "" });
  });

  test("names each problem with its line, and records nothing", async () => {
    const valid = someEvents(2).map((event) => JSON.stringify(event));
    const { show, command } = await prepare([...valid, '{"id":"x","type":"VIEW","channel":"LIVE","size":1}', "no"]);
    const reasons = [
      "3 problems. Nothing was stored.",
      "  line  column    reason",
      '  3     size      An event has no field "size".',
      "  3     viewerId  VIEW needs a viewerId.",
      "  4               The line is not JSON: see column 2.\n",
    ];
    expect(await cli([...command, "--json"], place.env)).toEqual(failed(reasons.join("\n")));
    expect(await figures(show)).toEqual(expectedFigures([]));
  });

  test.runIf(redisUrl !== "")("notifies servers of changes, but not while it only checks", async () => {
    const { show, command } = await prepare([...Array<string>(5_000).fill(" ".repeat(256)), "no"]); // several blocks
    const redis = new Redis(redisUrl);
    const told: string[] = [];
    const ended = new Promise((resolve) => {
      redis.on("message", (_, message: string) => {
        if (message === show.lsId) resolve(told);
        else if (message.includes(show.lsId)) told.push(message);
      });
    });
    const channel = "vitrine:live-stream-changed";
    await redis.subscribe(channel);
    expect(await cli(command, { ...place.env, REDIS_URL: redisUrl })).toMatchObject({ status: 1 });
    const publisher = redis.duplicate();
    await publisher.publish(channel, show.lsId);
    await ended;
    redis.disconnect();
    publisher.disconnect();
    expect(told).toHaveLength(1); // once at the end, since a failure may come after something was recorded
  });

  test("refuses an unknown store and show before it opens the file", async () => {
    const { show } = await prepare([]);
    const [noStore, noShow] = await Promise.all([
      cli(["events", "nobody", show.lsId, "/no/such/file"], place.env),
      cli(["events", show.storeId, "nowhere", "/no/such/file"], place.env),
    ]);
    expect(noStore).toEqual(failed("There is no store nobody.\n"));
    expect(noShow).toEqual(failed("The store has no live stream with this id.\n"));
  });
});

describe("vitrine analytics rebuild", () => {
  test("restores the totals of a show, or of all shows of a store", async () => {
    const events = someEvents(500);
    const { show, command } = await prepare(events.map((event) => JSON.stringify(event)));
    const { storeId, lsId } = show;
    await cliJson(command, place.env);
    for (const args of [[storeId, lsId], [storeId]]) {
      await database.client.liveStreamTotal.deleteMany({ where: { storeId } });
      expect(await cliJson(["analytics", "rebuild", ...args], place.env)).toEqual({
        store: storeId,
        rebuilt: [lsId],
        pruned: [],
      });
      expect(await figures(show)).toEqual(expectedFigures(events));
    }
    const stdout = "The analytics of 1 live stream were rebuilt.\n";
    expect(await cli(["analytics", "rebuild", storeId], place.env)).toEqual({ status: 0, stdout, stderr: "" });
  });

  test("refuses an unknown store and show", async () => {
    const { show } = await prepare([]);
    const [noStore, noShow] = await Promise.all([
      cli(["analytics", "rebuild", "nobody", "--json"], place.env),
      cli(["analytics", "rebuild", show.storeId, "nowhere"], place.env),
    ]);
    expect(noStore).toEqual(failed("There is no store nobody.\n"));
    expect(noShow).toEqual(failed("The store has no live stream with this id.\n"));
  });
});
