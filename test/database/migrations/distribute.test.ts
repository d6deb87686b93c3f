// @engine postgresql
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../../src/database/client.js";
import { migrationLockKey } from "../../../src/database/migrations/migrate.js";
import { distribute } from "../../../src/database/migrations/distribute.js";
import { connect } from "../../../src/database/open.js";
import { inTransaction } from "../../../src/database/transaction.js";
import { Prisma } from "../../../src/generated/prisma/client.js";
import { fakeCitus } from "../../support/citus/fakeCitus.js";
import { referenceTables } from "../../support/citus/tables.js";
import { cli, cliJson } from "../../support/process/cli.js";
import { createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";

const withoutCitus =
  "vitrine: This database has no Citus: there is nothing to distribute over. Run CREATE EXTENSION citus on a server that has it.\n";

let database: OwnDatabase;
let env: { DATABASE_URL: string };
beforeAll(async () => {
  database = await createOwnDatabase("distribute");
  env = { DATABASE_URL: database.url };
  await cliJson(["migrate"], env);
  await cliJson(["store", "create", "acme"], env);
  await cliJson(["site", "add", "acme", "de", "--type", "SHOP"], env);
});
afterAll(() => database.drop());

const constraints = () =>
  database.query(`SELECT oid::int, conrelid::regclass::text AS "table", conname AS name, contype::text AS kind,
      pg_get_constraintdef(oid) AS definition, convalidated, condeferrable, condeferred
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text !~ 'pg_dist|_prisma'
    ORDER BY conname`);
/** As they are read: whatever was dropped and made anew has another oid. */
const alike = (rows: readonly any[]) => rows.map((row) => ({ ...row, oid: undefined }));
const calls = async () =>
  (await database.query("SELECT call FROM stand_in_calls ORDER BY number")).map(({ call }) => call);

test("without Citus it is refused with one line and status 1, and changes nothing", async () => {
  const before = await constraints();
  expect(await cli(["distribute", "--json"], env)).toEqual({ status: 1, stdout: "", stderr: withoutCitus });
  expect(await constraints()).toEqual(before);
});

test("without Citus it is refused before anything is migrated", async () => {
  const empty = await createOwnDatabase("undistributed");
  onTestFinished(() => empty.drop());
  expect(await cli(["distribute"], { DATABASE_URL: empty.url })).toMatchObject({
    status: 1,
    stderr: withoutCitus,
  });
  expect(await empty.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")).toEqual([]);
});

test("a transaction that Citus refuses because its shard was just split is retried", async () => {
  const open = connect({ connectionString: database.url, max: 1 }, () => undefined);
  onTestFinished(() => open.close());
  let attempts = 0;
  const work = async (transaction: Database) => {
    attempts += 1;
    const what = attempts === 1 ? "could not find valid entry for shard 102105" : "another thing that cannot be";
    await transaction.$executeRawUnsafe(`DO 'BEGIN RAISE ''${what}'' USING ERRCODE = ''XX000''; END'`);
  };
  await expect(inTransaction(open.client, { timeoutMs: 5_000 }, work)).rejects.toThrow("another thing that cannot be");
  expect(attempts, "only the first is worth another").toBe(2);
});

describe("with a stand-in for Citus", () => {
  const tables = [
    "Store",
    ...[...Object.keys(Prisma.ModelName), "_prisma_migrations"].filter((name) => name !== "Store").toSorted(),
  ];
  const quoted = (name: string) => (/[A-Z]/u.test(name) ? `"${name}"` : name);
  const beside = (table: string) => `distributed "${table}" by storeId beside "Store"`;
  beforeEach(async () => {
    await database.query(`DROP TABLE IF EXISTS "Later" CASCADE; ${fakeCitus}`);
  });

  test("Store is distributed by its id, every table of stores with it, tokens are replicated, and all keys are restored", async () => {
    const before = await constraints();
    expect(await cliJson(["distribute"], env)).toEqual({ distributed: tables });
    expect(await calls()).toEqual([
      `distributed "Store" by id beside none`,
      ...tables
        .filter((name) => name !== "Store")
        .map((name) => (referenceTables.has(name) ? `reference ${quoted(name)}` : beside(name))),
    ]);
    const after = await constraints();
    expect(alike(after)).toEqual(alike(before));
    expect(after.filter(({ kind }) => kind === "f").every(({ convalidated }) => convalidated)).toBe(true);
    expect(after.find(({ name }) => name === "Product_storeId_sku_key")).toMatchObject({
      condeferrable: true,
      condeferred: false,
    });
    const orphan = `INSERT INTO "Site" ("storeId", id, type) VALUES ('nobody', 'x', 'SHOP')`;
    await expect(database.query(orphan)).rejects.toMatchObject({ code: "23503" });
  });

  test("a second run does nothing, and drops no key", async () => {
    await distribute({ connectionString: database.url }, () => undefined);
    const [before, called] = [await constraints(), await calls()];
    expect(await cli(["distribute"], env)).toEqual({ status: 0, stdout: "Nothing to distribute.\n", stderr: "" });
    expect(await constraints()).toEqual(before);
    expect(await calls()).toEqual(called);
  });

  test("after a later migration it adds the new table, and keeps the keys of the others", async () => {
    await distribute({ connectionString: database.url }, () => undefined);
    const [before, called] = [await constraints(), await calls()];
    await database.query(`CREATE TABLE "Later" ("storeId" text COLLATE "C", id text, "siteId" text COLLATE "C",
      CONSTRAINT later_pkey PRIMARY KEY ("storeId", id),
      CONSTRAINT later_site FOREIGN KEY ("storeId", "siteId") REFERENCES "Site" ON UPDATE RESTRICT ON DELETE CASCADE)`);
    await database.query(`INSERT INTO "Later" VALUES ('acme', '1', 'de')`);
    const ofCitus = async () => {
      const { checks } = await cliJson(["doctor"], { ...env, PORT: "0" });
      return checks.find(({ name }: { name: string }) => name === "citus");
    };
    expect(await ofCitus()).toEqual({
      name: "citus",
      status: "warning",
      detail: "on the coordinator alone: Later",
      advice: "Run npx vitrine distribute.",
    });
    expect(await cliJson(["distribute"], env)).toEqual({ distributed: ["Later"] });
    expect(await ofCitus()).toMatchObject({ status: "ok", detail: "all tables are spread over its nodes" });
    expect((await calls()).slice(called.length)).toEqual([beside("Later")]);
    const after = await constraints();
    expect(after.filter(({ table }) => table !== `"Later"`)).toEqual(before);
    expect(after.find(({ name }) => name === "later_site")).toMatchObject({ kind: "f", convalidated: true });
  });

  test("it is atomic: if Citus refuses a table, nothing changes", async () => {
    await database.query(`CREATE TABLE "Later" ("storeId" text COLLATE "C", id text PRIMARY KEY)`);
    const before = await constraints();
    const { status, stderr } = await cli(["distribute"], env);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `vitrine: cannot create constraint on "Later": it does not include the partition column\n`,
    });
    expect(await constraints()).toEqual(before);
    expect(await calls()).toEqual([]);
  });

  test("of two concurrent runs one does it, and each reports what it did itself", async () => {
    const run = () => distribute({ connectionString: database.url }, () => undefined);
    const reports = await Promise.all([run(), run()]);
    expect(reports.toSorted((a, b) => a.length - b.length)).toEqual([[], tables]);
    expect(new Set(await calls()).size).toBe((await calls()).length);
  });

  test("another migration or distribution is reported and waited for, with a limit", async () => {
    const other = new pg.Client({ connectionString: database.url, application_name: "another" });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("SELECT pg_advisory_lock($1)", [migrationLockKey]);
    const told: string[] = [];
    const log = ({ message }: Error) => told.push(message);
    const limits = { logAfterMs: 0, giveUpAfterMs: 300 };
    const holder = /another process that migrates or distributes this database: session \d+ of another from /u;
    const waiting = distribute({ connectionString: database.url }, log, limits);
    await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringMatching(holder) });
    expect(told).toEqual([expect.stringMatching(holder)]);
    expect(await calls()).toEqual([]);
  });

  test("the role's statement_timeout does not cancel it", async () => {
    const limit = (value: string) => database.query(`ALTER ROLE CURRENT_USER IN DATABASE ${database.name} ${value}`);
    await database.query(`CREATE OR REPLACE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql
      AS 'INSERT INTO pg_dist_partition VALUES (table_name); SELECT pg_sleep(0.4)'`);
    await database.query(`ALTER TABLE pg_dist_partition ALTER partmethod SET DEFAULT 'n'`);
    await limit("SET statement_timeout = '200ms'");
    onTestFinished(async () => void (await limit("RESET statement_timeout")));
    expect(await distribute({ connectionString: database.url }, () => undefined)).toEqual(tables);
  });
});
