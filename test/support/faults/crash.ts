import { setTimeout as sleep } from "node:timers/promises";
import { expect, type TestContext } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { addSite } from "../../../src/stores/site.js";
import { createImportSweep } from "../../../src/catalog/import/staging/recover.js";
import { findHolder } from "../../../src/database/embedded/folder.js";
import { connect, embeddedConnection, type OpenDatabase } from "../../../src/database/open.js";
import { createTestStore, storeAt, type TestStore } from "../app.js";
import { add, expectFigures, figuresFrom, nothingSent, storedIds, type Tally, tallyOf } from "./crash.check.js";
import { eventRequest, replacedSite, type Sent, startLoad } from "./crash.load.js";
import { someEvents } from "../figures.js";
import { createMigratedDatabase } from "../database/ownDatabase.js";
import { makePlaceWithStore, removePlace, serve, start, vitrineJson } from "../process.js";
import { type Random, seeded } from "./random.js";
import { saved } from "../shows.js";
import { until } from "../until.js";

/** Where a server runs that is to be killed. */
export interface CrashSite {
  readonly env: Readonly<Record<string, string>>;
  /** Opens the database of the server that runs, beside it. */
  open(): Promise<OpenDatabase>;
  /** Waits until nothing that a killed server had asked for is still at work, or left. */
  settled(database: OpenDatabase): Promise<void>;
}

/** On an embedded database of the test's own, whose engine dies with its server. */
export async function embeddedSite({ onTestFinished }: OfTest): Promise<CrashSite> {
  const place = await makePlaceWithStore();
  onTestFinished(() => removePlace(place));
  const open = async () => {
    const socketFolder = (await findHolder(place.dataDir))?.socketFolder ?? "";
    return connect(embeddedConnection(socketFolder), () => undefined);
  };
  return { env: place.env, open, settled: () => Promise.resolve() };
}

/** On a database of the test's own, whose server goes on with what a killed one has asked for. */
export async function postgresqlSite(name: string, { onTestFinished }: OfTest): Promise<CrashSite> {
  const own = await createMigratedDatabase(name);
  onTestFinished(() => own.drop());
  return {
    env: { DATABASE_URL: own.url },
    open: () => Promise.resolve(own.open({ application_name: "beside", max: 1 })),
    async settled(database) {
      await until(() => isIdle(database), "PostgreSQL to end the statements of the killed server");
      await sweepLeft(database);
    },
  };
}

type OfTest = Pick<TestContext, "onTestFinished">;

async function isIdle({ client }: OpenDatabase): Promise<boolean> {
  const [row] = await client.$queryRaw<[{ idle: boolean }]>`
    SELECT count(*) = 0 AS idle FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'vitrine' AND state <> 'idle'`;
  return row.idle;
}

/** Other processes may be importing, so rows of imports that were not accepted are removed once they are old. */
async function sweepLeft({ client }: OpenDatabase): Promise<void> {
  await client.$executeRaw`UPDATE "StagedImport" SET "startedAt" = now() - interval '3 hours'`;
  await createImportSweep(client)(new AbortController().signal);
}

export interface CrashFigures extends Tally {
  /** Servers killed, some of them while they started after a kill. */
  readonly kills: number;
}

const eventsOfRound = 9_000;
const events = someEvents(eventsOfRound);

/**
 * Kills the server, again and again, while it imports and records, and looks after each restart at what it stored.
 *
 * @throws where figures differ from those that the stored events give, and whatever else a test would fail by
 */
export async function crash(site: CrashSite, rounds: number, seed: number): Promise<CrashFigures> {
  const random = seeded(seed);
  const env = { LOG_LEVEL: "warn", ANALYTICS_RATE_LIMIT: "0", COLLECT_RATE_LIMIT: "0", ...site.env };
  let server = await serve(env);
  let database = await site.open();
  const { id, token } = await createTestStore({ url: server.url, db: database.client });
  await addSite(database.client, id, replacedSite, "shop");
  const { key } = await issueKey(database.client, id, { origins: ["https://shop.example"] });
  const tallies: Tally[] = [];
  let kills = 0;
  for (let round = 0; round < rounds; round += 1) {
    const store = storeAt(server.url, { id, token });
    const { id: lsId } = await saved(store);
    const load = startLoad({ store, lsId, key, name: `r${round}`, events }, random.fork());
    await load.answered(random.whole(round === 0 ? 1 : 0, 12)); // a run of one round has an answer to look for
    await sleep(random.whole(0, 2_000)); // not to wait for anything: any moment of an import, whatever step it is at
    await Promise.all([server.stop("SIGKILL"), load.ended, database.close()]);
    kills += 1 + (await killStarts(env, random));

    server = await serve(env);
    database = await site.open();
    await site.settled(database);
    const restarted = { store: storeAt(server.url, { id, token }), env, database };
    tallies.push(await checkRound(restarted, lsId, load.sent));
    await emptyAtTimes(database, random);
    expect(server.stderr()).toBe("");
  }
  await database.close();
  expect(await server.stop()).toMatchObject({ status: 0, stderr: "" });
  return { ...tallies.reduce(add, nothingSent), kills };
}

/** At every third restart: kills a server that is about to start. @returns how many */
async function killStarts(env: CrashSite["env"], random: Random): Promise<number> {
  if (random.whole(0, 2) > 0) return 0;
  const starting = start(["serve"], { ...env, PORT: "0" });
  await sleep(random.whole(100, 1_200));
  starting.process.kill("SIGKILL");
  await starting.ended;
  return 1;
}

interface Restarted {
  readonly store: TestStore;
  readonly env: CrashSite["env"];
  readonly database: OpenDatabase;
}

async function checkRound({ store, env, database }: Restarted, lsId: string, sent: Sent): Promise<Tally> {
  const left = await database.client.stagedImport.count({ where: { storeId: store.id } });
  const rows = await database.client.stagedProduct.count({ where: { storeId: store.id } });
  expect({ left, rows }, "imports that a killed server left are completed or removed").toEqual({ left: 0, rows: 0 });
  const tally = await tallyOf(database.client, store.id, lsId, sent);
  const stored = new Set(await storedIds(database.client, store.id, lsId));
  const recorded = events.filter(({ id }) => stored.has(id));
  await expectFigures(store, lsId, figuresFrom(recorded));

  for (const batch of sent.batches) {
    const { body } = await store.post("/graphql", eventRequest(lsId, batch.events));
    const accepted = batch.fresh.filter(({ id }) => !stored.has(id)).length;
    const receipt = { accepted, duplicates: batch.events.length - accepted };
    expect(body, "what was recorded before the kill is not recorded again").toEqual({
      data: { recordShopperEvents: receipt },
    });
  }
  const all = figuresFrom(sent.batches.flatMap(({ fresh }) => fresh));
  await expectFigures(store, lsId, all);
  await vitrineJson(["analytics", "rebuild", store.id, lsId], env);
  await expectFigures(store, lsId, all);
  return tally;
}

/** The next round imports into an empty catalog, or into one of many products. */
async function emptyAtTimes({ client }: OpenDatabase, random: Random): Promise<void> {
  if (random.whole(0, 1) === 0) await client.$executeRaw`TRUNCATE "Product" CASCADE`;
}
