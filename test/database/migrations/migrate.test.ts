// @engine postgresql
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { migrate, migrationLockKey } from "../../../src/database/migrations/migrate.js";
import { migrationNames, migrationsFolder } from "../../../src/database/migrations/applied.js";
import { createMigratedDatabase, createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { folderForTest } from "../../support/folder.js";
import { cli } from "../../support/process/cli.js";
import { serve } from "../../support/process.js";
import { until } from "../../support/until.js";

const limits = { logAfterMs: 100, giveUpAfterMs: 300 };
/** Nobody tells anything unless a test listens. */
const quiet = () => undefined;
let database: OwnDatabase;

describe("an empty database", () => {
  beforeEach(async () => {
    database = await createOwnDatabase("migrate");
    return () => database.drop();
  });

  test("another migration is reported and waited for, with a limit; then the database is migrated", async () => {
    const other = new pg.Client({ connectionString: database.url, application_name: "another" });
    await other.connect();
    await other.query("SELECT pg_advisory_lock($1)", [migrationLockKey]);
    const told: string[] = [];
    const run = (atMost: typeof limits) =>
      migrate({ connectionString: database.url }, ({ message }) => told.push(message), { limits: atMost });
    const holder = /: session \d+ of another from \S+ since \d{4}-[^.]+\.\S+\.(?: Nothing was changed\.)?$/u;
    await expect(run(limits)).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringMatching(holder) });
    expect(told).toEqual([expect.stringMatching(holder)]);
    const waiting = run({ logAfterMs: 0, giveUpAfterMs: 15_000 });
    await expect.poll(() => told.length).toBe(2);
    await other.end();
    expect(await waiting).toEqual(await migrationNames());
  });

  test("a role that may not create tables is refused with the GRANT to run, and doctor advises the same", async () => {
    const role = `${database.name}_role`;
    await database.query(`CREATE ROLE ${role}; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    try {
      const problem = `The role ${role} may not create tables in the schema public of the database ${database.name}.`;
      const advice = `As its owner or a superuser, run: GRANT USAGE, CREATE ON SCHEMA public TO ${role};`;
      const asRole = { connectionString: database.url, options: `-c role=${role}` };
      const run = () => migrate(asRole, quiet);
      await expect(run()).rejects.toMatchObject({ code: "UNAVAILABLE", message: `${problem} ${advice}` });
      const url = new URL(database.url);
      url.searchParams.set("options", `-c role=${role}`);
      const { stdout } = await cli(["doctor", "--json"], { DATABASE_URL: url.href, PORT: "0" });
      const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
      expect(checks.find(({ name }) => name === "privileges")).toMatchObject({
        status: "failed",
        detail: problem,
        advice,
      });
      await database.query(`GRANT USAGE, CREATE ON SCHEMA public TO ${role}`);
      expect(await run()).toEqual(await migrationNames());
    } finally {
      await database.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    }
  });

  test("without AUTO_MIGRATE, an empty database gives 503 and says what to run, at start and by commands too", async () => {
    const env = { DATABASE_URL: database.url, AUTO_MIGRATE: "false", PORT: "0" };
    const advice =
      "The database does not have the tables of this version of Vitrine. An operator must run: npx vitrine migrate.";
    const server = await serve(env);
    const headers = { "x-service-access-token": "vt_none", "content-type": "application/json" };
    const rest = await fetch(`${server.url}/external/product/v1/a`, { headers });
    expect([rest.status, await rest.json()]).toMatchObject([503, { code: "UNAVAILABLE", detail: advice }]);
    const body = JSON.stringify({ query: "{ products { nodes { id } } }" });
    const graphql = await fetch(`${server.url}/graphql`, { method: "POST", headers, body });
    expect(await graphql.json()).toMatchObject({ errors: [{ message: advice, extensions: { code: "UNAVAILABLE" } }] });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    const { stdout, stderr } = await server.stop();
    expect(stderr).toContain(advice);
    expect(`${stdout}${stderr}`).not.toMatch(/^ +at /mu);
    const command = await cli(["store", "create", "acme"], env);
    expect([command.status, command.stderr]).toEqual([4, `vitrine: ${advice} AUTO_MIGRATE is false.\n`]);
  });

  test("the role's statement_timeout does not cancel a migration", async () => {
    await database.query(`CREATE SEQUENCE tables;
    CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql
      AS 'BEGIN IF nextval(''public.tables'') = 1 THEN PERFORM pg_sleep(0.4); END IF; END';
    CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION slow();
    ALTER ROLE CURRENT_USER IN DATABASE ${database.name} SET statement_timeout = '200ms'`);
    expect(await migrate({ connectionString: database.url }, quiet)).toEqual(await migrationNames());
    expect(await database.query("SELECT last_value > 1 AS slept FROM tables")).toEqual([{ slept: true }]);
  });

  test("a migration that fails is reported with the database's reason, in one line", async () => {
    await database.query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''none today''; END';
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()`);
    const { status, stderr } = await cli(["migrate"], { DATABASE_URL: database.url });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `vitrine: The migration 20261121000000_initial failed: none today\n`,
    });
  });
});

describe("a migrated database", () => {
  const extra = "20991231000000_extra";
  const twoTables = `ALTER TABLE "Product" ADD COLUMN extra TEXT; ALTER TABLE "ShowEvent" ADD COLUMN extra TEXT;`;

  beforeEach(async () => {
    database = await createMigratedDatabase("migratelocks");
    vi.spyOn(Math, "random").mockReturnValue(0); // the shortest pauses between attempts
    return async () => {
      vi.restoreAllMocks();
      await database.drop();
    };
  });

  /** Migrates to a copy of the migrations with one more. */
  async function migrateTo(
    sql: string,
    options: Parameters<typeof migrate>[2] = {},
    log: Parameters<typeof migrate>[1] = quiet,
  ) {
    const folder = join(await folderForTest(), "migrations");
    await cp(migrationsFolder, folder, { recursive: true });
    await mkdir(join(folder, extra));
    await writeFile(join(folder, extra, "migration.sql"), sql);
    return migrate({ connectionString: database.url }, log, { ...options, folder });
  }

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

  test("a migration during a dump gives way to readers, and is applied after the dump", async () => {
    const dumping = await dump("Product", "ShowEvent");
    const told: string[] = [];
    const patient = { limits: { logAfterMs: 0, giveUpAfterMs: 15_000 } };
    const migrating = migrateTo(twoTables, patient, ({ message }) => told.push(message));
    const waiting = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
      WHERE d.datname = current_database() AND mode = 'AccessExclusiveLock' AND NOT granted`;
    await until(async () => (await database.query(waiting)).length > 0, "the migration to wait for the dump");
    await database.query(`SELECT FROM "Product" LIMIT 1`); // behind the migration, which gives up for now
    await expect
      .poll(() => told)
      .toEqual([
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
    const dumping = await dump("ShowEvent");
    await expect(migrateTo(twoTables, { limits: { logAfterMs: 0, giveUpAfterMs: 0 } })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(
        /^Gave up after waiting \d+ seconds for .*_extra changes: session .* of pg_dump .* Nothing was changed\.$/u,
      ),
    });
    expect(await columns()).toEqual([]);
    expect(await records()).toEqual([]);
    await dumping.end();
    expect(await migrateTo(twoTables)).toEqual([extra]);
    expect(await columns()).toEqual(["Product", "ShowEvent"]);
  });

  test("a migration that fails halfway changes nothing, and can be applied once it is corrected", async () => {
    const wrong = `${twoTables} ALTER TABLE "Nowhere" ADD COLUMN extra TEXT;`;
    await expect(migrateTo(wrong)).rejects.toThrow(`The migration ${extra} failed: relation "Nowhere" does not exist`);
    expect({ columns: await columns(), records: await records() }).toEqual({ columns: [], records: [] });
    expect(await migrateTo(twoTables)).toEqual([extra]);
    expect(await migrateTo(twoTables)).toEqual([]);
  });

  test("a migration whose connection is lost halfway changes nothing", async () => {
    const sql = `ALTER TABLE "Product" ADD COLUMN extra TEXT; SELECT pg_terminate_backend(pg_backend_pid()); ALTER TABLE "Site" ADD COLUMN extra TEXT;`;
    await expect(migrateTo(sql)).rejects.toThrow(/terminat|not queryable/u);
    expect({ columns: await columns(), records: await records() }).toEqual({ columns: [], records: [] });
  });
});
