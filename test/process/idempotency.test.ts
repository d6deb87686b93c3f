// @tier all
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenDatabase } from "../../src/database/open.js";
import { createTestStore, type TestStore } from "../support/app.js";
import { postWithKey, postWithKeyOnceFree } from "../support/http/idempotency.js";
import { whenFree, within } from "../support/busy.js";
import { createMigratedDatabase, type OwnDatabase } from "../support/database/ownDatabase.js";
import { serve, type Serving } from "../support/process.js";
import { until } from "../support/until.js";
import { bulk, importedAnswer, longRowsOfProcess, paths, products } from "../support/products.js";
import { problemBody } from "../support/problems.js";

const testDatabaseUrl = process.env["TEST_DATABASE_URL"];
const importedText = JSON.stringify(importedAnswer(longRowsOfProcess).body);
const inUse = "Another request with this Idempotency-Key is still in progress.";
/** Long enough for several statements. */
const body = bulk(products(longRowsOfProcess));

describe.runIf(testDatabaseUrl !== undefined)("several servers on one database", () => {
  let own: OwnDatabase;
  let env: Record<string, string>;
  let servers: readonly Serving[];
  let database: OpenDatabase;
  beforeAll(async () => {
    own = await createMigratedDatabase("idempotency");
    env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "4" };
    database = own.open();
    servers = [await serve(env), await serve(env), await serve(env)];
  });
  afterAll(async () => {
    for (const server of servers) server.process.kill("SIGKILL");
    await own.drop();
  });

  const newStore = () => createTestStore({ url: "", db: database.client });
  /** The store at one of the servers. */
  const at = (store: TestStore, server: Serving | undefined): Pick<TestStore, "fetch"> => ({
    fetch: (path, { headers, ...options } = {}) =>
      fetch(`${server?.url}${path}`, {
        ...options,
        headers: { ...(headers as Record<string, string>), "X-Service-Access-Token": store.token },
      }),
  });
  /** Imports at one of the servers. */
  const send = (store: TestStore, server: Serving | undefined, key: string) =>
    postWithKey(at(store, server), paths.bulk, body, key);
  const sendOnceFree = (store: TestStore, server: Serving | undefined, key: string) =>
    postWithKeyOnceFree(at(store, server), paths.bulk, body, key);
  const countOf = async ({ id: storeId }: TestStore) => ({
    products: await database.client.product.count({ where: { storeId } }),
    keys: await database.client.idempotencyKey.count({ where: { storeId } }),
  });

  const stagedOf = ({ id: storeId }: TestStore) => database.client.stagedImport.count({ where: { storeId } });

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
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, turn) => sendOnceFree(store, servers[turn % 3], "k")),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, importedText]));
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await countOf(store)).toEqual({ products: longRowsOfProcess, keys: 1 });
  });

  test("a server killed during an import has stored neither rows nor key, and another one imports", async () => {
    const store = await newStore();
    const another = await serve(env);
    const { release, untilSomeoneWaits } = await hold(`catalog ${store.id}`);
    const lost = send(store, another, "k").catch((error: unknown) => error);
    await untilSomeoneWaits();
    await another.stop("SIGKILL");
    expect(await lost).toBeInstanceOf(Error);
    expect(await countOf(store)).toEqual({ products: 0, keys: 0 });
    await release();
    expect(await send(store, servers[0], "k")).toEqual({ status: 200, text: importedText, replayed: null });
    expect(await countOf(store)).toEqual({ products: longRowsOfProcess, keys: 1 });
  });

  test("after a server is killed past an import, another one returns its answer", async () => {
    const store = await newStore();
    const another = await serve(env);
    expect(await send(store, another, "k")).toEqual({ status: 200, text: importedText, replayed: null });
    await another.stop("SIGKILL");
    expect(await send(store, servers[1], "k")).toEqual({ status: 200, text: importedText, replayed: "true" });
  });

  test("a request that waits too long for another with its key gets 409 with Retry-After, and others are served meanwhile", async () => {
    const store = await newStore();
    const { release } = await hold(`import ${store.id} k`);
    const atOnce = 8; // twice its connections
    const start = performance.now();
    const waiting: ReturnType<typeof send>[] = [];
    let answered = 0;
    for (let sent = 1; sent <= atOnce; sent += 1) {
      const answer = send(store, servers[2], "k");
      const count = () => (answered += 1);
      answer.then(count, count); // it is looked at below
      waiting.push(answer);
      // One after the other, since a store's rows are read on few threads.
      await until(async () => (await stagedOf(store)) + answered >= sent, "its rows to be staged");
    }
    for (const key of ["a", "b", "c"]) {
      expect(await whenFree(() => send(store, servers[2], key))).toMatchObject({ status: 200, replayed: null });
      if (key === "a") expect(answered, "others wait").toBeLessThan(atOnce);
    }
    const refused = problemBody("IDEMPOTENCY_KEY_IN_USE", inUse);
    for (const { status, text, retryAfter } of await Promise.all(waiting)) {
      expect([status, JSON.parse(text), retryAfter]).toEqual([409, refused, "1"]);
    }
    const waitedMs = performance.now() - start;
    expect(waitedMs, "each waits for 10 seconds").toBeGreaterThan(9_900);
    expect(waitedMs).toBeLessThan(within(40_000));
    await release();
    expect(await send(store, servers[2], "k")).toMatchObject({ status: 200, replayed: null });
  });
});
