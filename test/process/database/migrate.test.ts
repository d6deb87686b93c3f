// @tier all
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { lockFile } from "../../../src/database/embedded/fileLock.js";
import { migrate, migrationLockKey } from "../../../src/database/migrations/migrate.js";
import { migrationNames } from "../../../src/database/migrations/applied.js";
import { createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { placeForTest, serve, vitrine } from "../../support/process.js";
import pg from "pg";

const limits = { logAfterMs: 100, giveUpAfterMs: 300 };

test("embedded database: another migration is reported and waited for, with a limit", async () => {
  const { dataDir: host } = await placeForTest();
  await lockFile(join(host, "migrate.lock"));
  const told: string[] = [];
  const waiting = migrate({ host }, ({ message }) => told.push(message), { limits });
  const holder = `another process that migrates or distributes this database: process ${process.pid}.`;
  const message = expect.stringMatching(`^Gave up after waiting \\d+ seconds for ${holder} Nothing was changed.$`);
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE", message });
  expect(told).toEqual([`Waiting for ${holder}`]);
});

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("PostgreSQL", () => {
  let database: OwnDatabase;
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
    const waiting = run({ logAfterMs: 0, giveUpAfterMs: 20_000 });
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
      const run = () => migrate(asRole, () => undefined);
      await expect(run()).rejects.toMatchObject({ code: "UNAVAILABLE", message: `${problem} ${advice}` });
      const url = new URL(database.url);
      url.searchParams.set("options", `-c role=${role}`);
      const { stdout } = await vitrine(["doctor", "--json"], { DATABASE_URL: url.href, PORT: "0" });
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
    const command = await vitrine(["store", "create", "acme"], env);
    expect([command.status, command.stderr]).toEqual([4, `vitrine: ${advice} AUTO_MIGRATE is false.\n`]);
  });

  test("the role's statement_timeout does not cancel a migration", async () => {
    await database.query(`CREATE SEQUENCE tables;
      CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql
        AS 'BEGIN IF nextval(''public.tables'') = 1 THEN PERFORM pg_sleep(0.4); END IF; END';
      CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION slow();
      ALTER ROLE CURRENT_USER IN DATABASE ${database.name} SET statement_timeout = '200ms'`);
    expect(await migrate({ connectionString: database.url }, () => undefined)).toEqual(await migrationNames());
    expect(await database.query("SELECT last_value > 1 AS slept FROM tables")).toEqual([{ slept: true }]);
  });

  test("a migration that fails is reported with the database's reason, in one line", async () => {
    await database.query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''none today''; END';
      CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()`);
    const { status, stderr } = await vitrine(["migrate"], { DATABASE_URL: database.url });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `vitrine: The migration 20261121000000_initial failed: none today\n`,
    });
  });
});
