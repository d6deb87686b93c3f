// @tier all
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPool } from "../../../src/database/pool.js";
import { needed } from "../../support/run/programs.js";

const serverUrl = new URL(needed("TEST_DATABASE_URL"));

/** Stands between clients and PostgreSQL, and passes on what `isPassed` lets through: of connections, by their number. */
async function between(isPassed: (connection: number) => boolean): Promise<string> {
  const sockets: Socket[] = [];
  const passOn = (from: Socket, to: Socket, connection: number) => {
    sockets.push(from);
    from.on("data", (data) => void (isPassed(connection) && to.write(data)));
    from.on("close", () => to.destroy());
    from.on("error", () => undefined);
  };
  let connections = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(serverUrl.port || 5432), serverUrl.hostname);
    passOn(client, server, connections);
    passOn(server, client, connections);
    connections += 1;
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = proxy.address() as AddressInfo;
  return Object.assign(new URL(serverUrl), { hostname: "127.0.0.1", port: String(port) }).href;
}

/** The longer the timeout, the longer may a busy machine take for what answers. */
const watchdog = { probeAfterMs: 100, responseTimeoutMs: 2_000 };

describe("a server that does not respond to a new connection", () => {
  test("is not hung while it responds on another one, like a busy pooler: no connection is closed", async () => {
    const connectionString = await between((connection) => connection < 2);
    const problems: Error[] = [];
    const { pool } = openPool({ connectionString, max: 2 }, (problem) => problems.push(problem), watchdog);
    const done = new AbortController();
    const slow = pool.query("SELECT pg_sleep(4), 'done' AS answer").finally(() => done.abort());
    const quick = async () => {
      while (!done.signal.aborted) await pool.query("SELECT pg_sleep(0.02)");
    };
    const [{ rows }] = await Promise.all([slow, quick()]);
    expect(rows).toMatchObject([{ answer: "done" }]);
    expect(problems).toEqual([]);
    await pool.end();
  });

  test("is hung when it responds on none: all connections are closed", async () => {
    let isFrozen = false;
    const connectionString = await between(() => !isFrozen);
    const problems: Error[] = [];
    const { pool } = openPool({ connectionString, max: 2 }, (problem) => problems.push(problem), watchdog);
    await pool.query("SELECT 1");
    isFrozen = true;
    await expect(pool.query("SELECT 1")).rejects.toThrow("Connection terminated unexpectedly");
    expect(problems).toMatchObject([{ message: "The database server has not answered for 2 seconds." }]);
    await pool.end();
  });
});
