// @tier all
import { existsSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../../../src/access/key.js";
import { addSite } from "../../../../src/access/stores/site.js";
import { copyLive } from "../../../../src/database/backup/liveCopy.js";
import { startEmbedded } from "../../../../src/database/embedded/engine.js";
import { findHolder } from "../../../../src/database/embedded/folder.js";
import { connect, embeddedConnection } from "../../../../src/database/open.js";
import { createTestStore, storeAt, type TestStore } from "../../../support/app.js";
import { within } from "../../../support/busy.js";
import { ofTest } from "../../../support/citus/recording.js";
import { expectFigures, figuresFrom, storedIds, tallyOf } from "../../../support/faults/crash.check.js";
import { replacedSite, type Sent, startLoad } from "../../../support/faults/crash.load.js";
import { someEvents } from "../../../support/figures.js";
import {
  endOf,
  migratedPlaceForTest,
  type Place,
  placeForTest,
  placeWithStoreForTest,
  type Running,
  serve,
  type Serving,
  start,
  vitrineJson,
} from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { bulk, paths, product } from "../../../support/products.js";
import { seeded } from "../../../support/random.js";
import { saved } from "../../../support/shows.js";

interface Served {
  readonly place: Place;
  readonly server: Serving;
  readonly file: string;
  readonly store: TestStore;
  readonly database: ReturnType<typeof connect>;
}

/** A folder that is copied first, and takes so long that a backup can be suspended meanwhile. */
const manyFiles = "a";

const limits = { LOG_LEVEL: "warn", ANALYTICS_RATE_LIMIT: "0", COLLECT_RATE_LIMIT: "0" };

async function served(): Promise<Served> {
  const place = await placeWithStoreForTest();
  await addFiles(join(place.dataDir, "postgres"), 3_000);
  const server = await serve({ ...place.env, ...limits });
  const database = connect(await connectionTo(place), () => undefined);
  onTestFinished(async () => {
    await database.close();
    await server.stop("SIGKILL");
  });
  const { id, token } = await createTestStore({ url: server.url, db: database.client });
  const store = storeAt(server.url, { id, token });
  return { place, server, file: join(place.temporary, "vitrine.backup"), store, database };
}

async function connectionTo({ dataDir }: Place) {
  return embeddedConnection((await findHolder(dataDir))?.socketFolder ?? "");
}

/** Starts a backup, and suspends it while it copies files: another one where it was too fast. */
async function suspendedBackup({ place, file }: Served): Promise<Running> {
  const hasCopied = async (name: string) =>
    (await readdir(place.temporary))
      .filter((other) => other.startsWith(`${basename(file)}.`) && other.endsWith(".copy"))
      .some((copy) => existsSync(join(place.temporary, copy, name)));
  for (let tries = 0; tries < 20; tries += 1) {
    const running = start(["backup", file], place.env);
    await until(() => hasCopied(manyFiles), "the backup to copy files");
    running.process.kill("SIGSTOP");
    if (!(await hasCopied("base"))) return running;
    running.process.kill("SIGCONT");
    await endOf(running);
    await rm(file);
  }
  throw new Error("No backup was suspended while it copied files.");
}

/** Restores the backup elsewhere, and serves it. */
async function restored({ file, store: { id, token } }: Served) {
  const place = await placeForTest();
  await vitrineJson(["restore", file], place.env);
  const server = await serve({ ...place.env, ...limits });
  const database = connect(await connectionTo(place), () => undefined);
  onTestFinished(async () => {
    await database.close();
    await server.stop("SIGKILL");
  });
  return { store: storeAt(server.url, { id, token }), database };
}

test("while a backup is suspended as it copies, requests take no longer than usual; what they have stored is in it when it goes on", async () => {
  const running = await served();
  const { store } = running;
  let imported = 0;
  const request = async (): Promise<number> => {
    const begun = performance.now();
    const id = `p-${imported}`;
    expect((await store.post(paths.bulk, bulk([product(id)]))).status).toBe(200);
    expect((await store.get(paths.of(id))).status).toBe(200);
    imported += 1;
    return performance.now() - begun;
  };
  for (let n = 0; n < 20; n += 1) await request();
  const backup = await suspendedBackup(running);
  const took: number[] = [];
  while (took.length < 40) took.push(await request());
  expect(Math.max(...took)).toBeLessThan(within(1_000));
  expect((await store.get("/readyz")).status).toBe(200);

  backup.process.kill("SIGCONT");
  expect(await endOf(backup)).toMatchObject({ status: 0, stderr: "" });
  const { database } = await restored(running);
  expect(await database.client.product.count({ where: { storeId: store.id } })).toBe(imported);
});

test("a backup under load, with checkpoints meanwhile, has all that was answered before it began; each request in whole or not at all, and figures as the events give them", async () => {
  const running = await served();
  const { store, place, file, database } = running;
  await addSite(database.client, store.id, replacedSite, "shop");
  const { key } = await issueKey(database.client, store.id, { origins: ["https://shop.example"] });
  const { id: lsId } = await saved(store);
  const events = someEvents(6_000);
  const load = startLoad({ store, lsId, key, name: "load", events }, seeded(7));
  await load.answered(12);
  const atWork = new AbortController();
  const checkpoints = (async () => {
    for (; !atWork.signal.aborted; await sleep(100)) await database.client.$executeRawUnsafe(ofTest("CHECKPOINT"));
  })();
  const isAnswered = ({ outcome }: { outcome: string }) => outcome === "answered";
  const [batches, writes] = [
    load.sent.batches.filter(isAnswered),
    load.sent.sets.flatMap((set) => set.writes).filter(isAnswered),
  ];
  const { bytes } = await vitrineJson(["backup", file], place.env);
  expect(bytes).toBeGreaterThan(1_000_000);
  atWork.abort();
  await checkpoints;
  await running.server.stop("SIGKILL");
  await load.ended;

  const copy = await restored(running);
  // What was answered after the backup had begun may be in it or not.
  const outcomeOf = <Item>(list: readonly Item[], item: Item) => (list.includes(item) ? "answered" : "unanswered");
  const sent: Sent = {
    sets: load.sent.sets.map((set) => ({
      ...set,
      writes: set.writes.map((write) => ({ ...write, outcome: outcomeOf(writes, write) })),
    })),
    batches: load.sent.batches.map((batch) => ({ ...batch, outcome: outcomeOf(batches, batch) })),
  };
  const tally = await tallyOf(copy.database.client, store.id, lsId, sent);
  expect(tally).toMatchObject({ half: 0, lost: 0 });
  expect(tally.answered).toBeGreaterThanOrEqual(12);
  const stored = new Set(await storedIds(copy.database.client, store.id, lsId));
  await expectFigures(copy.store, lsId, figuresFrom(events.filter(({ id }) => stored.has(id))));
});

test("a backup that was killed as it copied hinders neither the server nor the next one", async () => {
  const running = await served();
  const { store, place, file } = running;
  const killed = await suspendedBackup(running);
  killed.process.kill("SIGKILL");
  await endOf(killed);
  expect((await store.post(paths.bulk, bulk([product("after")]))).status).toBe(200);
  await vitrineJson(["backup", file], place.env);
  const copy = await restored(running);
  expect((await copy.store.get(paths.of("after"))).status).toBe(200);
});

test("of two backups at a time, the later one is written, and the earlier one says that it was ended", async () => {
  const running = await served();
  const { place, file } = running;
  const earlier = await suspendedBackup({ ...running, file: join(place.temporary, "earlier") });
  const later = await suspendedBackup({ ...running, file });
  earlier.process.kill("SIGCONT");
  expect(await endOf(earlier)).toMatchObject({
    status: 4,
    stderr: "vitrine: Another backup of this database has begun meanwhile, which ended this one.\n",
  });
  later.process.kill("SIGCONT");
  expect(await endOf(later)).toMatchObject({ status: 0, stderr: "" });
  await restored(running);
  expect((await readdir(place.temporary)).filter((name) => /^(?:vitrine.backup|earlier)/u.test(name))).toEqual([
    "vitrine.backup",
  ]);
});

test("a backup that was suspended until its log was gone fails, and says to run it again", async () => {
  const running = await served();
  const { place, file } = running;
  const backup = await suspendedBackup(running);
  const client = new pg.Client(await connectionTo(place));
  await client.connect();
  await client.query(ofTest("CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)"));
  await client.query(ofTest("CHECKPOINT"));
  await client.query(ofTest("DROP TABLE filler"));
  await client.end();
  backup.process.kill("SIGCONT");
  expect(await endOf(backup)).toMatchObject({
    status: 4,
    stderr: expect.stringMatching(
      /^vitrine: The database changed faster than it was copied: run the backup again\. \([\dA-F]{24} of its log is gone\.\)\n$/u,
    ),
  });
  expect(existsSync(file)).toBe(false);
});

test("the log that is written while files are copied is copied before a checkpoint removes it", async () => {
  const { dataDir, temporary } = await migratedPlaceForTest();
  const [folder, copy] = [join(dataDir, "postgres"), join(temporary, "copy")];
  const files = 50_000;
  await addFiles(folder, files);
  await mkdir(copy, { mode: 0o700 });
  const [client, writer] = await clientsOf(folder, 2);
  await writer?.query(ofTest("CREATE TABLE filler (number int, text text)"));
  let rounds = 0;
  const copied = new AbortController();
  const isCopied = async (count: number) =>
    copied.signal.aborted || (await readdir(join(copy, manyFiles)).catch(() => [])).length >= count;
  const written = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 / 1024 / 1024 AS megabytes";
  const megabytes = async () => Number((await writer?.query(ofTest(written)))?.rows[0].megabytes);
  const before = await megabytes();
  const writing = (async () => {
    while (!copied.signal.aborted) {
      await writer?.query(
        ofTest(`INSERT INTO filler SELECT ${rounds}, repeat('x', 1000) FROM generate_series(1, 8000)`),
      );
      rounds += 1;
      await writer?.query(ofTest("CHECKPOINT"));
      await until(() => isCopied((rounds * files) / 20), "more files to be copied"); // 20 rounds, however slow the machine is
    }
  })();
  try {
    if (client !== undefined) await copyLive(client, folder, copy);
  } finally {
    copied.abort();
    await writing;
  }
  const [found, log] = [rounds, (await megabytes()) - before];
  expect(log, "more than a checkpoint keeps").toBeGreaterThan(112);
  const [reader] = await clientsOf(copy, 1);
  const { rows } = (await reader?.query(ofTest("SELECT count(*)::int, max(number) FROM filler"))) ?? {};
  const { count, max } = rows?.[0] ?? {};
  expect([count, max >= found - 3]).toEqual([8_000 * (max + 1), true]);
});

/** Clients of an engine on the folder, until the test ends. */
async function clientsOf(folder: string, count: number): Promise<pg.Client[]> {
  const server = await startEmbedded({ folder });
  const clients = Array.from({ length: count }, () => new pg.Client(embeddedConnection(server.socketFolder)));
  onTestFinished(async () => {
    for (const client of clients) await client.end();
    await server.close();
  });
  for (const client of clients) await client.connect();
  return clients;
}

/** Files that take a while to copy. */
async function addFiles(folder: string, count: number): Promise<void> {
  const filled = join(folder, manyFiles);
  await mkdir(filled);
  for (let n = 0; n < count; n += 1) writeFileSync(join(filled, String(n)), "");
}
