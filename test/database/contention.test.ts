// @engine postgresql
import pg from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { connect, type OpenDatabase } from "../../src/database/open.js";
import { createTestStore, startApp, storeAt, type TestApp, type TestStore } from "../support/app.js";
import { toCsv } from "../support/catalog/csv.js";
import { answerTo, calls } from "../support/faults/outage.js";
import { createMigratedDatabase, type OwnDatabase } from "../support/database/ownDatabase.js";
import { serve } from "../support/process.js";
import { until } from "../support/until.js";
import { bulk, importedAnswer, longRows, paths, product, products } from "../support/products.js";
import { view } from "../support/events.js";
import { analyticsPath, readKpis, recorded, saved } from "../support/shows.js";

let own: OwnDatabase;
let app: TestApp;
let database: OpenDatabase;
beforeAll(async () => {
  own = await createMigratedDatabase("contention");
  app = await startApp(
    { analyticsRateLimit: 0 },
    connect({ connectionString: own.url, max: 2 }, () => undefined),
  );
  database = own.open({ application_name: "beside" });
  return async () => {
    await app.close();
    await own.drop();
  };
});
const newStore = (at: Pick<TestApp, "url"> = app) => createTestStore({ url: at.url, db: database.client });

/** Another program's connection. */
async function other(...statements: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  onTestFinished(() => client.end());
  for (const statement of statements) await client.query(statement);
  return client;
}

/** Waits until so many statements wait for locks: those of servers, or of others. */
async function untilWaiting(count: number, by: "server" | "other" = "server"): Promise<void> {
  const isEnough = async () => {
    const [row] = await database.client.$queryRaw<[{ waiting: number }]>`
      SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND (application_name = 'vitrine') = ${by === "server"}`;
    return row.waiting >= count;
  };
  await until(isEnough, `${count} statements to wait for locks`);
}

test("others that hold a lock: requests that need it, or a connection, get UNAVAILABLE, and are served after that", async () => {
  const limits = { lock_timeout: 200, max: 2 }; // sooner than after two seconds each
  const impatient = await startApp(
    {},
    connect({ connectionString: own.url, ...limits }, () => undefined),
  );
  onTestFinished(() => impatient.close());
  const store = await newStore(impatient);
  const { id: lsId } = await saved(store);
  await store.post(paths.bulk, bulk(products(10)));
  const holder = await other("BEGIN", `LOCK TABLE "Product", "LiveStream" IN ACCESS EXCLUSIVE MODE`);
  const all = calls(lsId, longRows);
  const answers = await Promise.all(all.map((call) => answerTo(store, call)));
  expect(answers.map(({ name, how }) => [name, how])).toEqual(all.map(({ name }) => [name, "unavailable"]));
  await holder.query("ROLLBACK");
  for (const call of all) expect(await answerTo(store, call)).toMatchObject({ how: "done" });
});

test("others that hold up long imports: those take half of the connections, and reads go on", async () => {
  const importers = await Promise.all([newStore(), newStore(), newStore()]);
  const reader = await newStore();
  const { id: lsId } = await saved(reader);
  const holder = await other("BEGIN", `LOCK TABLE "Product" IN ACCESS EXCLUSIVE MODE`);
  const csvContent = toCsv(products(longRows));
  const imports = importers.map((importer) => importer.post(paths.csv, { csvContent }));
  await untilWaiting(1);
  for (let read = 0; read < 20; read += 1) expect((await reader.get(analyticsPath(lsId))).status).toBe(200);
  await holder.query("ROLLBACK");
  expect(await Promise.all(imports)).toEqual(importers.map(() => importedAnswer(longRows)));
});

test("others that hold up a long import: short ones of its store wait for it without a connection, and others are served", async () => {
  const [importer, reader] = [await newStore(), await newStore()];
  await importer.post(paths.bulk, bulk([product("held"), product("taken")]));
  await reader.post(paths.one, { product: product("a") });
  const holder = await other("BEGIN", `SELECT FROM "Product" WHERE "storeId" = '${importer.id}' FOR UPDATE`);
  const long = importer.post(paths.csv, { csvContent: toCsv([product("held"), ...products(longRows)]) });
  await untilWaiting(1);
  let answered = 0;
  const short = [
    ...Array.from({ length: 8 }, (_, n) => product(`n${n}`)),
    product("other", { sku: product("taken").sku }),
    product("wrong", { price: -1 }),
  ].map((sent) => importer.post(paths.one, { product: sent }).finally(() => (answered += 1)));
  for (let read = 0; read < 20; read += 1) expect((await reader.get(paths.of("a"))).status).toBe(200);
  expect(answered).toBe(0);
  await holder.query("ROLLBACK");
  expect(await long).toEqual(importedAnswer(longRows, 1));
  const statuses = (await Promise.all(short)).map(({ status }) => status);
  expect(statuses).toEqual([...Array.from({ length: 8 }, () => 200), 400, 400]);
});

test("others that hold the catalog as short imports do: a long one waits for them, and comes before those that come after it", async () => {
  const [store, reader] = [await newStore(), await newStore()];
  await store.post(paths.one, { product: product("a") });
  const holder = await other(`SELECT pg_advisory_lock_shared(hashtextextended('catalog ${store.id}', 0))`);
  const long = store.post(paths.bulk, bulk([product("a", { title: "Of the long one" }), ...products(longRows)]));
  await untilWaiting(1);
  const short = store.post(paths.one, { product: product("a", { title: "Of the short one" }) });
  for (let read = 0; read < 10; read += 1) expect((await reader.get(paths.of("a"))).status).toBe(400);
  await holder.query("SELECT pg_advisory_unlock_all()");
  expect(await Promise.all([long, short])).toEqual([importedAnswer(longRows, 1), importedAnswer(0, 1)]);
  expect((await store.get(paths.of("a"))).body.title).toBe("Of the short one");
});

test("others that hold the catalog as long imports do: a short one waits for them", async () => {
  const store = await newStore();
  const holder = await other(`SELECT pg_advisory_lock(hashtextextended('catalog ${store.id}', 0))`);
  let isAnswered = false;
  const short = store.post(paths.one, { product: product("a") }).finally(() => (isAnswered = true));
  for (let read = 0; read < 20; read += 1) expect((await store.get(paths.of("a"))).status).toBe(400);
  expect(isAnswered).toBe(false);
  await holder.query("SELECT pg_advisory_unlock_all()");
  expect((await short).status).toBe(200);
});

test("others that deadlock with an import: it is retried, and succeeds", async () => {
  const store = await newStore();
  await store.post(paths.bulk, bulk([product("a"), product("b")]));
  const update = (id: string) =>
    `UPDATE "Product" SET title = 'Other' WHERE "storeId" = '${store.id}' AND id = '${id}'`;
  const rival = await other("SET deadlock_timeout = '1h'", "BEGIN", update("b")); // so it is the server that is told
  const answer = store.post(paths.bulk, bulk([product("b"), product("a")])); // in another order than it takes the rows
  await untilWaiting(1); // it has a, and waits for b
  await rival.query(update("a")); // goes on when the server's transaction is ended
  await rival.query("COMMIT");
  expect(await answer).toEqual(importedAnswer(0, 2));
  expect((await store.get(paths.of("a"))).body.title).toBe("Title a");
  await untilDeadlock(); // another one follows where the import has its first row again before the rival is woken
});

test("others that deadlock with a batch of events: it is sent again, and counts once", async () => {
  const store = await newStore();
  const { id: lsId } = await saved(store);
  const viewers = ["a", "b"];
  await recorded(
    store,
    lsId,
    viewers.map((viewerId) => view(`view of ${viewerId}`, { viewerId })),
  );
  const update = (viewerId: string) =>
    `UPDATE "ShowViewer" SET seen = seen WHERE "storeId" = '${store.id}' AND "viewerId" = '${viewerId}'`;
  const rival = await other("SET deadlock_timeout = '1h'", "BEGIN", update("b")); // so it is the server that is told
  const answer = recorded(
    store,
    lsId,
    viewers.map((viewerId) => ({ id: `cart of ${viewerId}`, type: "ADD_TO_CART", channel: "LIVE", viewerId })),
  );
  await untilWaiting(1); // it has the row of a, and waits for that of b
  await rival.query(update("a")); // goes on when the server's statement is ended
  await rival.query("COMMIT");
  expect(await answer).toEqual({ accepted: 2, duplicates: 0 });
  expect(await readKpis(store, lsId)).toMatchObject({ viewers: { live: 2 }, addToCart: { live: 100 } });
});

/**
 * So many times another changes the product after an attempt of the import has taken its snapshot. The attempt waits for
 * the table meanwhile; the next rival queues behind it, and so has the table before the next attempt.
 */
async function importAgainst(rivals: number) {
  const options = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read");
  const strict = await startApp(
    {},
    connect({ connectionString: `${own.url}?options=${options}` }, () => undefined),
  );
  onTestFinished(() => strict.close());
  const store = await newStore(strict);
  await store.post(paths.one, { product: product("a") });
  const update = `UPDATE "Product" SET title = 'Other' WHERE "storeId" = '${store.id}'`;
  const lock = `LOCK TABLE "Product" IN SHARE ROW EXCLUSIVE MODE`;
  let rival = await other("BEGIN", lock);
  const answer = send(store, paths.one, { product: product("a") });
  for (let left = rivals; left > 0; left -= 1) {
    const next = await other("BEGIN");
    await untilWaiting(1);
    const queued = left > 1 ? next.query(lock) : undefined;
    if (queued !== undefined) await untilWaiting(1, "other");
    await rival.query(update);
    await rival.query("COMMIT");
    await queued;
    rival = next;
  }
  return { store, response: await answer };
}

test("others that import without a pause at another server: a long import gets its turn", async () => {
  const another = await serve({ DATABASE_URL: own.url }); // of another process, which does not know who waits here
  onTestFinished(() => void another.process.kill("SIGKILL"));
  const store = await newStore();
  const there = storeAt(another.url, store);
  const state = { isOver: false };
  let answered = 0;
  const streams = Array.from({ length: 4 }, async (_, lane) => {
    while (!state.isOver) {
      const { status } = await there.post(paths.bulk, bulk(products(100, () => ({ title: `Lane ${lane}` }))));
      expect(status).toBe(200);
      answered += 1;
    }
  });
  await until(() => answered > 8, "short imports to be under way");
  expect(await store.post(paths.bulk, bulk(products(longRows)))).toEqual(importedAnswer(longRows - 100, 100));
  state.isOver = true;
  await Promise.all(streams);
});

test("others that change what an import is about to change: it is retried, and succeeds", async () => {
  const { store, response } = await importAgainst(3);
  expect(response.status).toBe(200);
  expect((await store.get(paths.of("a"))).body.title).toBe("Title a");
});

test("others that do so each time: it fails after 4 attempts, with 503 and Retry-After", async () => {
  const { store, response } = await importAgainst(4);
  expect({ status: response.status, retryAfter: response.headers.get("retry-after") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  expect(await response.json()).toMatchObject({ code: "UNAVAILABLE" });
  expect((await store.get(paths.of("a"))).body.title).toBe("Other");
});

async function untilDeadlock(): Promise<void> {
  await until(async () => {
    const [row] = await database.client.$queryRaw<[{ deadlocks: number }]>`
      SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`;
    return row.deadlocks > 0; // counted some time after the session did it
  }, "the deadlock to be counted");
}

function send(store: TestStore, path: string, body: object): Promise<Response> {
  return store.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
