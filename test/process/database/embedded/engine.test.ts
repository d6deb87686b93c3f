// @tier all
import { cp, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../../src/config.js";
import { migrate } from "../../../../src/database/migrations/migrate.js";
import { migrationsFolder } from "../../../../src/database/migrations/applied.js";
import { openDatabase, type OpenDatabase } from "../../../../src/database/open.js";
import { createReadinessCheck } from "../../../../src/server/http/health.js";
import { ofTest } from "../../../support/citus/recording.js";
import { stopTimers } from "../../../support/clock.js";
import { folderForTest } from "../../../support/folder.js";
import { makeMigratedPlace, removePlace } from "../../../support/process.js";
import { until } from "../../../support/until.js";

const megabyte = 1024 * 1024;
const ready = { status: "ready", database: "ok" };

let dataDir: string;
let database: OpenDatabase;
const problems: Error[] = [];
beforeAll(async () => {
  const place = await makeMigratedPlace();
  ({ dataDir } = place);
  database = await openDatabase(readConfig({ DATA_DIR: dataDir }), "exclusive", (problem) => problems.push(problem));
  return async () => {
    await database.close();
    await removePlace(place);
  };
});

const run = (sql: string) => database.client.$executeRawUnsafe(ofTest(sql));

test("the engine keeps its log short, its tables small and its statistics true while rows are replaced", async () => {
  const rows = 2_000;
  await run("CREATE TABLE replaced (number int PRIMARY KEY, text text)");
  await run("ALTER TABLE replaced ALTER text SET STORAGE EXTERNAL"); // uncompressed
  await run(`INSERT INTO replaced SELECT n, repeat('x', 8000) FROM generate_series(1, ${rows}) AS n`);
  const state = async () => {
    const [found] = await database.client.$queryRaw<[{ written: number; log: number; dead: number; estimate: number }]>`
      SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS written,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS log,
        n_dead_tup::int AS dead, reltuples::int AS estimate
      FROM pg_control_checkpoint(), pg_stat_user_tables JOIN pg_class c ON c.oid = relid
      WHERE c.oid = 'replaced'::regclass`;
    return found;
  };
  const begun = await state();
  for (let round = 0; round < 5; round += 1) await run(`UPDATE replaced SET text = repeat('${round}', 8000)`);
  const ended = await state();
  expect(ended.written - begun.written, "so that a log that is kept would be too long").toBeGreaterThan(64 * megabyte);
  await until(async () => (await state()).log < 32 * megabyte, "a checkpoint");
  await until(async () => (await state()).dead <= rows, "dead rows to be removed");
  await until(async () => (await state()).estimate > rows / 2, "statistics");
  expect(problems).toEqual([]);
});

test("the index of times soon knows the times of new events", async () => {
  await run(`INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
      "acceptedAt", position, "orderId", lines)
    SELECT 's', 1, int4send(n), 1, 1, '', '', '', 10, '', '2026-05-04T18:30:00Z', '2026-05-04T18:30:00Z', 1, '', ''
    FROM generate_series(1, 5000) AS n`);
  const plan = () =>
    database.client.$queryRawUnsafe<object[]>(
      ofTest(`EXPLAIN ANALYZE SELECT FROM "ShowEvent" WHERE "occurredAt" < '2026-05-04T18:00:00Z'`),
    );
  await until(async () => !JSON.stringify(await plan()).includes("Rows Removed"), "pages to be skipped");
  expect(problems).toEqual([]);
});

test("it is ready while its one session is busy", async () => {
  const timers = stopTimers();
  const check = createReadinessCheck(database.readiness);
  expect(await check()).toEqual(ready);
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let begun: () => void = () => undefined;
  const isBusy = new Promise<void>((resolve) => (begun = resolve));
  const busy = database.client.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT 1`;
    begun();
    await ended;
  });
  await isBusy;
  timers.pass(1_001); // it is asked anew
  const answers = Promise.all([check(), check()]);
  await timers.run(3_000); // for as long as checks may take
  expect(await answers).toEqual([ready, ready]);
  end();
  await busy;
});

test("a migration that fails halfway changes nothing, and a correct one is applied", async () => {
  const extra = "20991231000000_extra";
  const migrateTo = async (sql: string) => {
    const folder = join(await folderForTest(), "migrations");
    await cp(migrationsFolder, folder, { recursive: true });
    await mkdir(join(folder, extra));
    await writeFile(join(folder, extra, "migration.sql"), sql);
    return migrate(database.connection, () => undefined, { folder });
  };
  const columns = () =>
    database.client.$queryRawUnsafe(
      ofTest("SELECT column_name FROM information_schema.columns WHERE column_name = 'extra'"),
    );
  const sql = `ALTER TABLE "Product" ADD COLUMN extra TEXT;`;
  await expect(migrateTo(`${sql} SELECT 1 / 0;`)).rejects.toThrow(`The migration ${extra} failed: division by zero`);
  expect(await columns()).toEqual([]);
  expect(await migrateTo(sql)).toEqual([extra]);
  expect(await columns()).toHaveLength(1);
});

test("one whose folder was taken over is ended, and writes nothing more into it, even when it is closed", async () => {
  await run("CREATE TABLE written (number int)");
  const other = { pid: 1, startedAt: "1", scope: "another boot pid:[1]", hostname: "c0ffee" };
  await writeFile(join(dataDir, "vitrine.lock"), JSON.stringify(other));
  expect((await database.crashed).message).toContain("was taken over by another process");
  const outcome = () =>
    run("INSERT INTO written VALUES (1)").then(
      () => "written",
      () => "refused",
    );
  await expect.poll(outcome).toBe("refused");
  expect(await createReadinessCheck(database.readiness)()).toEqual({ status: "unavailable", database: "unreachable" });
  const before = await filesIn(dataDir);
  expect(before.length).toBeGreaterThan(100);
  await database.close();
  expect(await filesIn(dataDir)).toEqual(before);
});

/** All files in a folder, with their times and sizes. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.toSorted().map(async (name) => {
    const { mtimeMs, size } = await stat(join(folder, name));
    return `${name} ${mtimeMs} ${size}`;
  });
  return Promise.all(files);
}
