// @engine postgresql
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { mapDatabaseError } from "../../src/database/databaseErrors.js";
import { connect } from "../../src/database/open.js";
import { withTimeLimits } from "../../src/database/pool.js";
import { stopClock } from "../support/clock.js";
import { createTestStore, openConnections, openTestApp, testDatabase, type TestStore } from "../support/app.js";
import { until } from "../support/until.js";
import { ofTest } from "../support/citus/recording.js";
import { bulk, paths, product } from "../support/products.js";
import { givenDatabase } from "../support/database/database.js";

const { connection } = givenDatabase();

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

/** A database whose limits are over sooner than the 2 and 10 seconds of the first test. */
function openImpatient() {
  const limits = { lock_timeout: 200, idle_in_transaction_session_timeout: 300 };
  const database = connect({ ...connection, ...limits }, () => undefined);
  onTestFinished(() => database.close());
  return database.client;
}

let statements: string[] = [];
const app = await openTestApp(
  {},
  testDatabase((sql) => statements.push(sql)),
);

test("the transaction of a frozen process is ended, and its locks are released", async () => {
  const store = await createTestStore(app);
  await store.post(paths.one, { product: product("a") });
  const ofStore = `"storeId" = '${store.id}'`;
  const frozen = openImpatient().$transaction(
    async (transaction) => {
      const update = ofTest(`UPDATE "Product" SET title = 'frozen' WHERE ${ofStore} RETURNING pg_backend_pid() AS pid`);
      const [session] = await transaction.$queryRawUnsafe<{ pid: number }[]>(update);
      const sessions = ofTest(`SELECT pid FROM pg_stat_activity WHERE pid = ${session?.pid}`);
      await expect.poll(() => app.db.$queryRawUnsafe(sessions)).toEqual([]);
      await transaction.$executeRawUnsafe(ofTest(`UPDATE "Product" SET title = 'late' WHERE ${ofStore}`));
    },
    { timeout: 15_000 },
  );
  const error: unknown = await frozen.catch((problem: unknown) => problem);
  expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", retryAfterSeconds: 1 });
  expect(await store.delete(paths.of("a"))).toMatchObject({ status: 200 });
});

test("a statement that waits too long for a lock fails and changes nothing", async () => {
  const store = await createTestStore(app);
  const { release } = await lockProducts(store, ["a"]);
  const locked = { storeId: store.id, id: "a" };
  const db = openImpatient();
  const message = "The data is locked by another request. Nothing was changed.";
  const deletions = [
    db.$executeRawUnsafe(ofTest(`DELETE FROM "Product" WHERE "storeId" = '${store.id}'`)),
    db.product.deleteMany({ where: locked }),
    db.$transaction((transaction) => transaction.product.deleteMany({ where: locked })),
  ];
  for (const error of await Promise.all(deletions.map((each) => each.catch((problem: unknown) => problem)))) {
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", message, retryAfterSeconds: 1 });
  }
  await release();
  expect(await store.get(paths.of("a"))).toMatchObject({ status: 200, body: { title: "locked" } });
});

test("deletes that wait for the locks of an import block nobody, and finish after it", async () => {
  const [store, other] = [await createTestStore(app), await createTestStore(app)];
  await other.post(paths.one, { product: product("b") });
  const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const { release } = await lockProducts(store, ids);
  const answers: number[] = [];
  const deleted = ids.map(async (id) => answers.push((await store.delete(paths.of(id))).status));
  await untilTried();
  for (let read = 0; read < 5; read += 1) {
    expect((await other.get(paths.of("b"))).status).toBe(200);
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
  }
  expect(answers).toEqual([]);
  await release();
  await Promise.all(deleted);
  expect(answers).toEqual(ids.map(() => 200));
});

test("a delete that waits too long for an import is refused with Retry-After", async () => {
  const store = await createTestStore(app);
  const { release } = await lockProducts(store, ["a"]);
  const clock = stopClock();
  const deleted = store.fetch(paths.of("a"), { method: "DELETE" });
  await untilTried();
  clock.pass(5_000);
  const response = await deleted;
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await response.json()).toMatchObject({
    code: "UNAVAILABLE",
    detail: "The product was modified concurrently. Nothing was deleted.",
  });
  await release();
  expect((await store.delete(paths.of("a"))).status).toBe(200);
});

/** Waits until a deletion has found its product locked, and tries again. */
async function untilTried(): Promise<void> {
  statements = [];
  const tried = () => statements.filter((sql) => sql.includes('DELETE FROM "Product"'));
  await until(() => tried().length > 3, "a deletion to be tried again");
}

/** Products of a store that a transaction has locked, as an import that stores them does. */
async function lockProducts(store: TestStore, ids: readonly string[]) {
  expect((await store.post(paths.bulk, bulk(ids.map((id) => product(id))))).status).toBe(200);
  const client = new pg.Client(connection);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query(`UPDATE "Product" SET title = 'locked' WHERE "storeId" = $1`, [store.id]);
  return { release: () => client.query("COMMIT") };
}
