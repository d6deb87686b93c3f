// @engine postgresql
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { importProducts } from "../../src/catalog/import/entryPoints/jsonProducts.js";
import { findProduct } from "../../src/catalog/product/product.lookup.js";
import { readConfig } from "../../src/config.js";
import type { RootDatabase } from "../../src/database/client.js";
import { openDatabase } from "../../src/database/open.js";
import { forStore } from "../../src/database/shares/forStore.js";
import { limitPlanAge, openPool } from "../../src/database/pool.js";
import { bytesOfTurns } from "../support/http/turns.js";
import { createTestStore, openConnections } from "../support/app.js";
import { heldWork } from "../support/database/heldWork.js";
import { ofTest } from "../support/citus/recording.js";
import { givenDatabase } from "../support/database/database.js";
import { product } from "../support/products.js";

const { connection } = givenDatabase();

describe("a connection that the server ends", () => {
  async function startPool() {
    const problems: string[] = [];
    const { pool } = openPool({ ...connection, max: 1 }, ({ message }) => problems.push(message));
    onTestFinished(() => pool.end());
    const { client } = openConnections();
    const end = (pid: number) => client.$executeRawUnsafe(ofTest(`SELECT pg_terminate_backend(${pid})`));
    return { pool, problems, end };
  }
  const ownPid = "SELECT pg_backend_pid() AS pid";

  test("while it is idle is reported, and replaced by the next query", async () => {
    const { pool, problems, end } = await startPool();
    const [session] = (await pool.query<{ pid: number }>(ownPid)).rows;
    await end(session?.pid ?? 0);
    await expect.poll(() => problems).toEqual(["terminating connection due to administrator command"]);
    expect((await pool.query<{ pid: number }>(ownPid)).rows[0]?.pid).not.toBe(session?.pid);
  });

  test("between two statements of a client fails the next one, but not the process", async () => {
    const { pool, problems, end } = await startPool();
    const held = await pool.connect();
    const [session] = (await held.query<{ pid: number }>(ownPid)).rows;
    const ended = new Promise((resolve) => held.once("end", resolve));
    await end(session?.pid ?? 0);
    await ended;
    await expect(held.query(ownPid)).rejects.toThrow(/not queryable|Connection terminated/u);
    held.release(true);
    expect(problems).toEqual([]);
    expect((await pool.query(ownPid)).rowCount).toBe(1);
  });
});

test("a connection is kept after a lock that it did not get, and not after other errors", async () => {
  const { pool } = openPool({ ...connection, max: 1 }, () => undefined);
  onTestFinished(() => pool.end());
  const { pool: others } = openPool({ ...connection, max: 1 }, () => undefined);
  onTestFinished(() => others.end());
  const holder = await others.connect();
  const lock = ofTest("SELECT pg_advisory_lock(hashtext('a connection is kept'))");
  await holder.query(lock);
  const ownPid = async () => (await pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
  const first = await ownPid();
  await pool.query(ofTest("SET lock_timeout = '10ms'"));
  await expect(pool.query(lock)).rejects.toMatchObject({ code: "55P03" });
  expect(await ownPid()).toBe(first);
  await expect(pool.query(ofTest("SELECT 1 / 0"))).rejects.toMatchObject({ code: "22012" });
  expect(await ownPid()).not.toBe(first);
  holder.release(true);
});

test("a large result is read in pieces, between which other requests are served", async () => {
  const { pool } = openPool({ ...connection, max: 1 }, () => undefined);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  const turns = bytesOfTurns();
  const work = Buffer.alloc(2_000_000);
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.on("data", ({ length }: Buffer) => {
    turns.add(length);
    createHash("sha256").update(work).digest(); // the server is faster than that
  });
  const text = ofTest("SELECT repeat('x', 500000) AS text FROM generate_series(1, 16)");
  const { rows } = await client.query<{ text: string }>(text);
  client.release();
  expect(rows.map(({ text: { length } }) => length)).toEqual(Array.from({ length: 16 }, () => 500_000));
  expect(turns.most()).toBeLessThan(1_200_000);
});

/** The plan of a prepared statement that was first used while its table was small. */
async function planOfGrownTable(ageMaxMs: number): Promise<string> {
  const { pool } = openPool({ ...connection, max: 1 }, () => undefined);
  onTestFinished(() => pool.end());
  limitPlanAge(pool, ageMaxMs);
  const query = (text: string) => pool.query(ofTest(text));
  await query("CREATE TEMPORARY TABLE growing (id int PRIMARY KEY, filler text)"); // autovacuum cannot analyze it
  await query("INSERT INTO growing VALUES (0, ''); ANALYZE growing");
  await query("SET plan_cache_mode = force_generic_plan");
  const read = { name: "read_growing", text: ofTest("SELECT filler FROM growing WHERE id = $1"), values: [1] };
  await pool.query(read);
  await query("INSERT INTO growing SELECT i, repeat('x', 100) FROM generate_series(1, 20000) AS i");
  await pool.query(read);
  const { rows } = await query("EXPLAIN EXECUTE read_growing(1)");
  return JSON.stringify(rows);
}

test("the plan for a table that has grown is renewed when it is too old", async () => {
  expect(await planOfGrownTable(3_600_000)).toContain("Seq Scan");
  expect(await planOfGrownTable(0)).toContain("Index Scan");
});

test.each([
  ["true", "frequent statements are prepared under a name in their connection"],
  ["false", "no statement has a name, as poolers in transaction mode require"],
])("DATABASE_NAMED_STATEMENTS=%s: %s", async (setting) => {
  const variables = { DATABASE_URL: connection.connectionString ?? "", DATABASE_POOL_MAX: "1" };
  const config = readConfig({ ...variables, DATABASE_NAMED_STATEMENTS: setting });
  const database = await openDatabase(config, "shared", () => undefined);
  onTestFinished(() => database.close());
  const { client: db } = database;
  const { id: store } = await createTestStore({ url: "", db });
  await importProducts(db, store, [product("mug")]);
  expect(await findProduct(db, store, "mug")).toMatchObject({ id: "mug" });
  const rows = await db.$queryRaw<{ name: string }[]>`SELECT name FROM pg_prepared_statements WHERE name <> ''`;
  const names = rows.map(({ name }) => name);
  expect(names.includes("product_by_id_or_sku") ? "true" : String(names.length > 0)).toBe(setting);
});

/** Transactions of a store that keep their connections until they are told to end. */
function holdTransactions(db: RootDatabase, storeId: string, count: number) {
  const held = heldWork();
  const all = Array.from({ length: count }, () =>
    forStore(db, storeId).$transaction(() => held.work(), { timeout: 15_000 }),
  );
  const end = async () => {
    for (let ended = 0; ended < count; ended += 1) {
      await expect.poll(held.running).toBeGreaterThan(0);
      held.end();
    }
    await Promise.all(all);
  };
  return { running: held.running, end };
}

test("no store holds more than half of the connections, and other stores are served while it waits", async () => {
  const { client, probe } = openConnections();
  const share = Math.max(1, Math.floor((connection.max ?? 10) / 2));
  const transactions = holdTransactions(client, "greedy", 12);
  await expect.poll(transactions.running).toBe(share);
  expect(probe.waiting()).toBe(12 - share);
  expect(await forStore(client, "modest").$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  expect(await forStore(client, "modest").store.count({ where: { id: "modest" } })).toBe(0);
  await transactions.end();
  expect(probe.waiting()).toBe(0);
});

test("connections are shared fairly: one query does not wait behind all of another store's", async () => {
  const { client } = openConnections();
  const first = holdTransactions(client, "first", 6);
  await expect.poll(first.running).toBeGreaterThan(0);
  const order: string[] = [];
  const ask = async (storeId: string) => {
    await forStore(client, storeId).$queryRaw`SELECT 1`;
    order.push(storeId);
  };
  const asked = [...Array.from({ length: 100 }, () => ask("first")), ask("second")];
  await first.end();
  await Promise.all(asked);
  expect(order.indexOf("second")).toBeLessThan(50);
});
