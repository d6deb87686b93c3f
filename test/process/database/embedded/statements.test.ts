// @tier all
import { join } from "node:path";
import pg from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type EmbeddedServer, startEmbedded } from "../../../../src/database/embedded/engine.js";
import { embeddedConnection } from "../../../../src/database/open.js";
import { within } from "../../../support/busy.js";
import { makeMigratedPlace, removePlace } from "../../../support/process.js";

let server: EmbeddedServer;
beforeAll(async () => {
  const place = await makeMigratedPlace();
  server = await startEmbedded({ folder: join(place.dataDir, "postgres") });
  return async () => {
    await server.close();
    await removePlace(place);
  };
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...embeddedConnection(server.socketFolder), query_timeout: within(10_000) });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** With a parameter, a statement is parsed apart from its values. */
async function rows(client: pg.Client, sql: string, values: unknown[] = [1]): Promise<unknown[]> {
  return (await client.query(sql, values)).rows;
}

async function prepared(client: pg.Client): Promise<number> {
  return (await preparedTexts(client)).length;
}

async function preparedTexts(client: pg.Client): Promise<string[]> {
  const sql = "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'vitrine%'";
  return (await client.query<{ statement: string }>(sql)).rows.map(({ statement }) => statement);
}

test("a statement that comes again stays prepared, for all clients", async () => {
  const [one, other] = [await connect(), await connect()];
  const before = await prepared(one);
  const sql = "SELECT $1::int + 1 AS next";
  for (let n = 0; n < 20; n += 1) expect(await rows(n % 2 === 0 ? one : other, sql, [n])).toEqual([{ next: n + 1 }]);
  expect(await prepared(one)).toBe(before + 1);
});

test("at most a hundred are kept, and what is no longer kept is prepared once more", async () => {
  const client = await connect();
  for (let round = 0; round < 3; round += 1)
    for (let n = 0; n < 250; n += 1)
      expect(await rows(client, `SELECT $1::int + ${n} AS sum`)).toEqual([{ sum: n + 1 }]);
  expect(await prepared(client)).toBeLessThanOrEqual(100);
  expect(await prepared(client)).toBeGreaterThan(50);
});

test("a statement that fails fails each time, and succeeds once it can", async () => {
  const client = await connect();
  const sql = "SELECT name FROM late WHERE $1::int = 1";
  for (let n = 0; n < 4; n += 1) await expect(rows(client, sql)).rejects.toThrow('relation "late" does not exist');
  await client.query("CREATE TABLE late (name text)");
  for (let n = 0; n < 4; n += 1) expect(await rows(client, sql)).toEqual([]);
  for (let n = 0; n < 4; n += 1)
    await expect(rows(client, "SELECT 1 / $1::int AS part", [0])).rejects.toThrow("division by zero");
  expect(await rows(client, "SELECT 1 / $1::int AS part", [1])).toEqual([{ part: 1 }]);
});

test("what others change of a table is seen at once, also in a transaction and after it was rolled back", async () => {
  const [one, other] = [await connect(), await connect()];
  await other.query("CREATE TABLE changing (a int)");
  await other.query("INSERT INTO changing VALUES (1)");
  const sql = "SELECT * FROM changing WHERE $1::int = 1";
  const see = async (client: pg.Client, shown: object) => {
    for (let n = 0; n < 4; n += 1) expect(await rows(client, sql)).toEqual([shown]);
  };
  await see(one, { a: 1 });
  await other.query("ALTER TABLE changing ADD b text DEFAULT 'x'");
  await see(one, { a: 1, b: "x" });
  await other.query("BEGIN");
  await other.query("ALTER TABLE changing ALTER a TYPE text");
  await see(other, { a: "1", b: "x" });
  await other.query("ROLLBACK");
  await see(one, { a: 1, b: "x" });
  await rows(other, "DO $do$ BEGIN ALTER TABLE changing DROP b; END $do$", []);
  await see(one, { a: 1 });
  await other.query("DEALLOCATE ALL");
  await see(one, { a: 1 });
  await other.query(
    `CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS 'BEGIN ALTER TABLE changing ADD c int; END'`,
  );
  await see(one, { a: 1 });
  await rows(other, "SELECT change()", []);
  await rows(one, sql).catch(() => undefined); // PostgreSQL: cached plan must not change result type
  await see(one, { a: 1, c: null });
  await other.query("ALTER TABLE changing DROP c");
  await see(one, { a: 1 });
  await other.query("DISCARD ALL");
  await see(one, { a: 1 });
});

test("a temporary table changes only statements that name it: others stay prepared", async () => {
  const [one, other] = [await connect(), await connect()];
  await one.query("CREATE TABLE hidden (lasting int)");
  await one.query("INSERT INTO hidden VALUES (1)");
  const unrelated = "SELECT $1::int + 5 AS unrelated";
  const sql = "SELECT * FROM Hidden WHERE $1::int = 1";
  const see = async (client: pg.Client, shown: object) => {
    for (let n = 0; n < 4; n += 1) expect(await rows(client, sql)).toEqual([shown]);
  };
  for (let n = 0; n < 2; n += 1) await rows(other, unrelated);
  await see(one, { lasting: 1 });
  for (const [column, end] of [
    ["a", "COMMIT"],
    ["b", "COMMIT"],
    ["a", "ROLLBACK"],
  ] as const) {
    await one.query("BEGIN");
    await rows(one, `CREATE TEMPORARY TABLE "hidden" (${column} int)\n ON COMMIT DROP`, []);
    await one.query("INSERT INTO hidden VALUES (2)");
    await see(one, { [column]: 2 });
    await one.query(end);
    await see(other, { lasting: 1 });
    expect(await preparedTexts(other)).toContain(unrelated);
  }
  await one.query("BEGIN");
  await one.query("CREATE TEMPORARY TABLE unrelated (a int DEFAULT 1 /* ALTER */) ON COMMIT DROP");
  await one.query("COMMIT");
  await other.query("SELECT 1"); // what is no longer kept is closed before it
  expect(await preparedTexts(other), "where anything else may change").not.toContain(unrelated);
});

test("in a transaction that has failed, statements are refused until its end, and then work", async () => {
  const client = await connect();
  const sql = "SELECT $1::text AS text";
  for (let n = 0; n < 3; n += 1) await rows(client, sql, ["a"]);
  await client.query("BEGIN");
  await expect(client.query("SELECT 1 / 0")).rejects.toThrow("division by zero");
  for (const again of [sql, "SELECT $1::text AS other"])
    await expect(rows(client, again, ["b"])).rejects.toThrow("current transaction is aborted");
  await client.query("ROLLBACK");
  expect(await rows(client, sql, ["c"])).toEqual([{ text: "c" }]);
  expect(await rows(client, "SELECT $1::text AS other", ["d"])).toEqual([{ other: "d" }]);
});

test("a client may name its own, and the columns of a statement can be asked for", async () => {
  const [one, other] = [await connect(), await connect()];
  for (let n = 0; n < 3; n += 1) {
    expect((await one.query({ name: "mine", text: "SELECT $1::int AS n", values: [n] })).rows).toEqual([{ n }]);
    const { rows: none, fields } = await other.query("SELECT $1::int AS n, 'a' AS a WHERE false", [n]);
    expect([none, fields.map(({ name }) => name)]).toEqual([[], ["n", "a"]]);
  }
});
