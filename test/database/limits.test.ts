import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { mapDatabaseError } from "../../src/database/errors.js";
import { forStore } from "../../src/database/shares/forStore.js";
import { connect } from "../../src/database/open.js";
import { withTimeLimits } from "../../src/database/timeLimits.js";
import { within } from "../support/busy.js";
import { createTestStore, openConnections, startApp, type TestStore } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { bulk, paths, product } from "../support/products.js";
import { givenDatabase } from "../support/database/database.js";

const { engine, connection } = givenDatabase();

const settings = [
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
  "tcp_keepalives_idle",
  "tcp_keepalives_interval",
  "tcp_keepalives_count",
  "tcp_user_timeout",
  "client_connection_check_interval",
  "jit",
  "max_parallel_workers_per_gather",
];
const shown = ofTest(`SELECT ${settings.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`);

/** What a client says as its connection begins: of a server that then refuses it, as a pooler does. */
async function startupParameters(namedStatements: boolean): Promise<Record<string, string>> {
  let parameters: Record<string, string> = {};
  const server = createServer((socket) =>
    socket.once("data", (data) => {
      const words = data.subarray(8).toString().split("\0");
      const pairs = words.flatMap((word, at) => (at % 2 === 0 && word !== "" ? [[word, words[at + 1]]] : []));
      parameters = Object.fromEntries(pairs);
      socket.destroy();
    }),
  ).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const connectionString = `postgres://user@127.0.0.1:${(server.address() as AddressInfo).port}/name`;
  const database = connect({ connectionString }, () => undefined, { namedStatements });
  await database.client.$queryRawUnsafe("SELECT 1").catch(() => undefined);
  await database.close();
  return parameters;
}

describe.runIf(engine === "postgres")("time limits that PostgreSQL keeps", () => {
  test("each connection of the pool has them and keepalive at both ends, and uses neither JIT nor parallel workers", async () => {
    const { client } = openConnections();
    expect(await client.$queryRawUnsafe(shown)).toEqual([
      {
        statement_timeout: "15s",
        lock_timeout: "2s",
        idle_in_transaction_session_timeout: "10s",
        tcp_keepalives_idle: "10",
        tcp_keepalives_interval: "5",
        tcp_keepalives_count: "3",
        tcp_user_timeout: "25000",
        client_connection_check_interval: "2s",
        jit: "off",
        max_parallel_workers_per_gather: "0",
      },
    ]);
  });

  test("connections of long commands have only the limit of idle transactions", async () => {
    const client = new pg.Client(openConnections().connection);
    await client.connect();
    const { rows } = await client.query(shown);
    await client.end();
    expect(rows).toMatchObject([
      {
        statement_timeout: "0",
        lock_timeout: "0",
        idle_in_transaction_session_timeout: "10s",
        tcp_keepalives_idle: "10",
      },
    ]);
  });

  test("settings of the URL apply too", async () => {
    const url = new URL(connection.connectionString ?? "");
    url.searchParams.set("options", "-c tcp_keepalives_idle=77 -c work_mem=5MB");
    url.searchParams.set("lock_timeout", "5000");
    const database = connect({ connectionString: url.href }, () => undefined);
    expect(await database.client.$queryRawUnsafe(ofTest("SHOW lock_timeout"))).toEqual([{ lock_timeout: "5s" }]);
    await database.close();
    const client = new pg.Client(withTimeLimits({ connectionString: url.href }));
    await client.connect();
    const { rows } = await client.query(
      "SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('work_mem') AS memory, current_setting('tcp_keepalives_count') AS count",
    );
    await client.end();
    expect(rows).toEqual([{ idle: "77", memory: "5MB", count: "3" }]);
  });

  test("a pooler receives only the startup parameter that poolers support", async () => {
    const base = { user: "user", database: "name", application_name: "vitrine", statement_timeout: "15000" };
    expect(await startupParameters(false)).toEqual({ ...base, client_encoding: "UTF8" });
    expect(await startupParameters(true)).toMatchObject({
      ...base,
      lock_timeout: "2000",
      idle_in_transaction_session_timeout: "10000",
    });
  });

  test.concurrent("the transaction of a frozen process is ended, and its locks are released", async () => {
    const app = await startApp();
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("a") });
    const frozen = forStore(app.db, store.id).$transaction(
      async (transaction) => {
        await transaction.$executeRawUnsafe(
          ofTest(`UPDATE "Product" SET title = 'frozen' WHERE "storeId" = '${store.id}'`),
        );
        await new Promise((resolve) => setTimeout(resolve, 11_000)); // the server allows 10 seconds
        await transaction.$executeRawUnsafe(
          ofTest(`UPDATE "Product" SET title = 'late' WHERE "storeId" = '${store.id}'`),
        );
      },
      { timeout: 60_000 },
    );
    const error: unknown = await frozen.catch((problem: unknown) => problem);
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", retryAfterSeconds: 1 });
    expect(await store.delete(paths.of("a"))).toMatchObject({ status: 200 });
    await app.close();
  });

  test.concurrent("a statement that waits for a lock fails after 2 seconds and changes nothing", async () => {
    const app = await startApp();
    const store = await createTestStore(app);
    const { client, end } = await lockProducts(store, ["a"]);
    const locked = { storeId: store.id, id: "a" };
    const deletion = ofTest(`DELETE FROM "Product" WHERE "storeId" = '${store.id}'`);
    const message = "The data is locked by another request. Nothing was changed.";
    const deletions = [
      app.db.$executeRawUnsafe(deletion),
      app.db.product.deleteMany({ where: locked }),
      app.db.$transaction((transaction) => transaction.product.deleteMany({ where: locked })),
    ];
    for (const error of await Promise.all(deletions.map((each) => each.catch((problem: unknown) => problem)))) {
      expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", message, retryAfterSeconds: 1 });
    }
    await client.query("ROLLBACK");
    await end();
    await app.close();
  });

  test.concurrent("deletes that wait for the locks of an import block nobody, and finish after it", async () => {
    const app = await startApp();
    const [store, other] = [await createTestStore(app), await createTestStore(app)];
    await other.post(paths.one, { product: product("b") });
    const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const { client, end } = await lockProducts(store, ids);
    const deleted = Promise.all(ids.map((id) => store.delete(paths.of(id))));
    const begun = performance.now();
    let answered = 0;
    while (performance.now() - begun < 2_500) {
      const askedAt = performance.now();
      expect((await other.get(paths.of("b"))).status).toBe(200);
      expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
      expect(performance.now() - askedAt).toBeLessThan(within(2_000)); // a connection is waited for twice as long
      answered += 1;
    }
    expect(answered).toBeGreaterThan(5);
    await client.query("COMMIT");
    expect((await deleted).map(({ status }) => status)).toEqual(ids.map(() => 200));
    await end();
    await app.close();
  });

  test.concurrent("deletes that wait too long for an import are refused with Retry-After", async () => {
    const app = await startApp();
    const store = await createTestStore(app);
    const { client, end } = await lockProducts(store, ["a", "b"]);
    for (const response of await Promise.all(["a", "b"].map((id) => store.fetch(paths.of(id), { method: "DELETE" })))) {
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({
        code: "UNAVAILABLE",
        detail: "The product was modified concurrently. Nothing was deleted.",
      });
    }
    await client.query("COMMIT");
    expect((await store.delete(paths.of("a"))).status).toBe(200);
    await end();
    await app.close();
  });
});

/** Products of a store that a transaction has locked, as an import that stores them does. */
async function lockProducts(store: TestStore, ids: readonly string[]) {
  expect((await store.post(paths.bulk, bulk(ids.map((id) => product(id))))).status).toBe(200);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("BEGIN");
  await client.query(`UPDATE "Product" SET title = 'locked' WHERE "storeId" = $1`, [store.id]);
  return { client, end: () => client.end() };
}
