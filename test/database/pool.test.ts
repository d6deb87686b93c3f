import { describe, expect, inject, onTestFinished, test } from "vitest";
import { openPool } from "../../src/database/pool.js";
import { openConnections } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";

const { engine, connection } = inject("database");

describe.runIf(engine === "postgresql")("a connection that the server ends", () => {
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

  test("between the statements of its user fails the next one, and not the process", async () => {
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
