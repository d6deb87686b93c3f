// @tier all
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenDatabase } from "../../src/database/open.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../support/app.js";
import { postWithKey } from "../support/http/idempotency.js";
import { createMigratedDatabase, type OwnDatabase } from "../support/database/ownDatabase.js";
import { serve, type Serving } from "../support/process.js";
import { until } from "../support/until.js";
import { bulk, importedAnswer, longRowsOfProcess, paths, products } from "../support/products.js";
import { problemBody } from "../support/problems.js";

const few = 3;
const textOf = (imported: number) => JSON.stringify(importedAnswer(imported).body);
const inUse = "Another request with this Idempotency-Key is still in progress.";

describe("several servers on one database", () => {
  let own: OwnDatabase;
  let env: Record<string, string>;
  let servers: readonly TestApp[];
  let database: OpenDatabase;
  beforeAll(async () => {
    own = await createMigratedDatabase("idempotency");
    env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "4" };
    database = own.open();
    servers = await Promise.all([1, 2, 3].map(() => startApp({}, own.open({ max: 4 })))); // what is killed is a process
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await own.drop();
  });

  const newStore = () => createTestStore({ url: "", db: database.client });
  /** The store at one of the servers. */
  const at = (store: TestStore, server: Pick<Serving, "url"> | undefined): Pick<TestStore, "fetch"> => ({
    fetch: (path, { headers, ...options } = {}) =>
      fetch(`${server?.url}${path}`, {
        ...options,
        headers: { ...(headers as Record<string, string>), "X-Service-Access-Token": store.token },
      }),
  });
  /** Imports at one of the servers. */
  const send = (store: TestStore, server: Pick<Serving, "url"> | undefined, key: string, rows = few) =>
    postWithKey(at(store, server), paths.bulk, bulk(products(rows)), key);
  const countOf = async ({ id: storeId }: TestStore) => ({
    products: await database.client.product.count({ where: { storeId } }),
    keys: await database.client.idempotencyKey.count({ where: { storeId } }),
  });

  /** Holds one of the locks that imports take, until `release`. */
  async function hold(lock: string) {
    const holder = new pg.Client({ connectionString: own.url });
    await holder.connect();
    let isReleased = false;
    const release = async () => {
      if (!isReleased) await holder.end();
      isReleased = true;
    };
    onTestFinished(release);
    await holder.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", [lock]);
    const waiting = `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`;
    const someoneWaits = async () => (await holder.query(waiting)).rowCount === 1;
    return { release, untilSomeoneWaits: () => until(someoneWaits, "somebody to wait for the lock") };
  }

  test("of 30 requests with one key, ten at each, one imports and all get its answer", async () => {
    const store = await newStore();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, turn) => send(store, servers[turn % 3], "k")));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, textOf(few)]));
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await countOf(store)).toEqual({ products: few, keys: 1 });
  });

  test("a server killed during an import has stored neither rows nor key, and another one imports", async () => {
    const store = await newStore();
    const another = await serve(env);
    const { release, untilSomeoneWaits } = await hold(`catalog ${store.id}`);
    const lost = send(store, another, "k", longRowsOfProcess).catch((error: unknown) => error);
    await untilSomeoneWaits();
    await another.stop("SIGKILL");
    expect(await lost).toBeInstanceOf(Error);
    expect(await countOf(store)).toEqual({ products: 0, keys: 0 });
    await release();
    const answer = { status: 200, text: textOf(longRowsOfProcess), replayed: null };
    expect(await send(store, servers[0], "k", longRowsOfProcess)).toEqual(answer);
    expect(await countOf(store)).toEqual({ products: longRowsOfProcess, keys: 1 });
  });

  test("after a server is killed past an import, another one returns its answer", async () => {
    const store = await newStore();
    const another = await serve(env);
    expect(await send(store, another, "k")).toEqual({ status: 200, text: textOf(few), replayed: null });
    await another.stop("SIGKILL");
    expect(await send(store, servers[1], "k")).toEqual({ status: 200, text: textOf(few), replayed: "true" });
  });

  test("a request that waits too long for another with its key gets 409 with Retry-After, and others are served meanwhile", async () => {
    const store = await newStore();
    const { release } = await hold(`import ${store.id} k`);
    const waiting = Array.from({ length: 8 }, () => send(store, servers[2], "k")); // twice its connections
    let isOver = false;
    void Promise.race(waiting).finally(() => (isOver = true));
    for (const key of ["a", "b", "c"]) {
      expect(await send(store, servers[2], key)).toMatchObject({ status: 200, replayed: null });
    }
    expect(isOver, "each waits for 10 seconds").toBe(false);
    const refused = problemBody("IDEMPOTENCY_KEY_IN_USE", inUse);
    for (const { status, text, retryAfter } of await Promise.all(waiting)) {
      expect([status, JSON.parse(text), retryAfter]).toEqual([409, refused, "1"]);
    }
    await release();
    expect(await send(store, servers[2], "k")).toMatchObject({ status: 200, replayed: null });
  });
});
