// @tier all
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scrape } from "../../support/process/metrics.js";
import { migratedPlaceForTest, serve } from "../../support/process.js";

test("/metrics has the free space of both folders, and the size of the embedded database's log", async () => {
  const { env, dataDir, temporary } = await migratedPlaceForTest();
  const server = await serve(env);
  onTestFinished(async () => void (await server.stop()));
  const metrics = await scrape(server.url);
  for (const [folder, path] of [
    ["data", dataDir],
    ["temporary", temporary],
  ] as const) {
    const { bavail, bsize } = await statfs(path);
    const free = metrics.get(`vitrine_free_bytes{folder="${folder}"}`) ?? 0;
    expect(Math.abs(free / (bavail * bsize) - 1), folder).toBeLessThan(0.2); // others write there too
  }
  const log = join(dataDir, "postgres/pg_wal");
  const sizes = await Promise.all((await readdir(log)).map(async (name) => (await stat(join(log, name))).size));
  expect(metrics.get("vitrine_database_log_bytes")).toBe(sizes.reduce((sum, size) => sum + size, 0));
});

test("what a scrape of /metrics waits for itself is not among the active resources that it shows", async () => {
  const { env } = await migratedPlaceForTest();
  const server = await serve(env);
  onTestFinished(async () => void (await server.stop()));
  for (let n = 0; n < 20; n += 1) {
    const shown = [...(await scrape(server.url))].filter(
      ([series, value]) => /FSReqPromise/u.test(series) && value > 0,
    );
    expect(shown).toEqual([]);
  }
});
