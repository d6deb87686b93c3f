// @engine postgresql
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { limitPlanAge, openPool } from "../../src/database/pool.js";
import { bytesOfTurns } from "../support/http/turns.js";
import { openConnections } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { givenDatabase } from "../support/database/database.js";

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
