// @tier all
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "../../../src/database/embedded/engine.js";
import { migrate } from "../../../src/database/migrations/migrate.js";
import { migrationsFolder } from "../../../src/database/migrations/applied.js";
import { connect, embeddedConnection } from "../../../src/database/open.js";
import { within } from "../../support/busy.js";
import { ofTest } from "../../support/citus/recording.js";
import { createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { migratedPlaceForTest, placeForTest } from "../../support/process.js";

/** Nobody tells anything unless a test listens. */
const quiet = () => undefined;
const extra = "20991231000000_extra";

/** A copy of the migrations with one more. */
async function migrationsAnd(sql: string): Promise<string> {
  const { dataDir } = await placeForTest();
  const folder = join(dataDir, "migrations");
  await cp(migrationsFolder, folder, { recursive: true });
  await mkdir(join(folder, extra));
  await writeFile(join(folder, extra, "migration.sql"), sql);
  return folder;
}

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("PostgreSQL", () => {
  let database: OwnDatabase;
  const run = (options: Parameters<typeof migrate>[2] = {}, log: Parameters<typeof migrate>[1] = quiet) =>
    migrate({ connectionString: database.url }, log, options);
  beforeEach(async () => {
    database = await createOwnDatabase("migratelocks");
    await run();
    return () => database.drop();
  });

  /** A session that has read a table in a transaction that stays open, as pg_dump does with all. */
  async function dump(...tables: string[]) {
    const session = new pg.Client({ connectionString: database.url, application_name: "pg_dump" });
    session.on("error", quiet);
    await session.connect();
    onTestFinished(() => session.end().catch(quiet));
    await session.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    for (const table of tables) await session.query(`LOCK TABLE "${table}" IN ACCESS SHARE MODE`);
    return session;
  }

  const columns = async () =>
    (
      await database.query("SELECT table_name FROM information_schema.columns WHERE column_name = 'extra' ORDER BY 1")
    ).map(({ table_name: name }) => name);
  const records = () =>
    database.query("SELECT finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE migration_name = $1", [
      extra,
    ]);
  const twoTables = `ALTER TABLE "Product" ADD COLUMN extra TEXT; ALTER TABLE "ShowEvent" ADD COLUMN extra TEXT;`;

  test("a migration during a dump blocks readers only for moments, and is applied after the dump", async () => {
    const folder = await migrationsAnd(twoTables);
    const dumping = await dump("Product", "ShowEvent");
    const told: string[] = [];
    const migrating = run({ folder, limits: { logAfterMs: 0, giveUpAfterMs: 60_000 } }, ({ message }) =>
      told.push(message),
    );
    const reader = new pg.Client({ connectionString: database.url });
    reader.on("error", quiet);
    await reader.connect();
    onTestFinished(() => reader.end());
    const waitedMs: number[] = [];
    const begun = performance.now();
    while (performance.now() - begun < 6_000) {
      const asked = performance.now();
      await reader.query(`SELECT FROM "Product" LIMIT 1`);
      waitedMs.push(performance.now() - asked);
    }
    expect(Math.max(...waitedMs), "it did wait behind the migration").toBeGreaterThan(200);
    expect(Math.max(...waitedMs)).toBeLessThan(within(2_000));
    expect(told).toEqual([
      expect.stringMatching(
        /^Waiting for another session that uses tables which the migration 20991231000000_extra changes: session \d+ of pg_dump from \S+ since \S+ [^ ]+\.$/u,
      ),
    ]);
    await dumping.end();
    expect(await migrating).toEqual([extra]);
    expect(await columns()).toEqual(["Product", "ShowEvent"]);
    expect(await records()).toEqual([{ finished: true }]);
  });

  test("a migration that does not get its locks in time changes nothing, and a later attempt applies it", async () => {
    const folder = await migrationsAnd(twoTables);
    const dumping = await dump("ShowEvent");
    const limits = { logAfterMs: 0, giveUpAfterMs: 0 };
    await expect(run({ folder, limits })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(
        /^Gave up after waiting \d+ seconds for .*_extra changes: session .* of pg_dump .* Nothing was changed\.$/u,
      ),
    });
    expect(await columns()).toEqual([]);
    expect(await records()).toEqual([]);
    await dumping.end();
    expect(await run({ folder })).toEqual([extra]);
    expect(await columns()).toEqual(["Product", "ShowEvent"]);
  });

  test("a migration that fails halfway changes nothing, and can be applied once it is corrected", async () => {
    const wrong = await migrationsAnd(`${twoTables} ALTER TABLE "Nowhere" ADD COLUMN extra TEXT;`);
    await expect(run({ folder: wrong })).rejects.toThrow(
      `The migration ${extra} failed: relation "Nowhere" does not exist`,
    );
    expect({ columns: await columns(), records: await records() }).toEqual({ columns: [], records: [] });
    expect(await run({ folder: await migrationsAnd(twoTables) })).toEqual([extra]);
    expect(await run({ folder: await migrationsAnd(twoTables) })).toEqual([]);
  });

  test("a migration whose connection is lost halfway changes nothing", async () => {
    const folder = await migrationsAnd(
      `ALTER TABLE "Product" ADD COLUMN extra TEXT; SELECT pg_terminate_backend(pg_backend_pid()); ALTER TABLE "Site" ADD COLUMN extra TEXT;`,
    );
    await expect(run({ folder })).rejects.toThrow(/terminat|not queryable/u);
    expect({ columns: await columns(), records: await records() }).toEqual({ columns: [], records: [] });
  });
});

test("embedded database: a migration that fails halfway changes nothing, and a correct one is applied", async () => {
  const { dataDir } = await migratedPlaceForTest();
  const server = await startEmbedded({ folder: join(dataDir, "postgres") });
  onTestFinished(() => server.close());
  const connection = embeddedConnection(server.socketFolder);
  const database = connect(connection, quiet);
  onTestFinished(() => database.close());
  const columns = () =>
    database.client.$queryRawUnsafe<unknown[]>(
      ofTest("SELECT FROM information_schema.columns WHERE column_name = 'extra'"),
    );
  const sql = `ALTER TABLE "Product" ADD COLUMN extra TEXT;`;
  const wrong = migrate(connection, quiet, { folder: await migrationsAnd(`${sql} SELECT 1 / 0;`) });
  await expect(wrong).rejects.toThrow(`The migration ${extra} failed: division by zero`);
  expect(await columns()).toEqual([]);
  expect(await migrate(connection, quiet, { folder: await migrationsAnd(sql) })).toEqual([extra]);
  expect(await columns()).toHaveLength(1);
});
