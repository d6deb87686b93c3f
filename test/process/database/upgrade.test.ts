import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { startEmbedded } from "../../../src/database/embedded/engine.js";
import { foldersOf } from "../../../src/database/embedded/restored.js";
import { embeddedConnection } from "../../../src/database/open.js";
import { dumpBeforeMove, multiplyEvents, openSession, type Query, restore } from "../../support/earlierVersion.js";
import { createOwnDatabase } from "../../support/ownDatabase.js";
import { endOf, start, unmigratedPlaceForTest } from "../../support/process.js";

type Variables = Parameters<typeof start>[1];

/** The dump's 266 events this many times: enough for a move in batches. */
const times = 90;

/** What every step must keep: events and their sums, and viewers with their minutes, by show. */
const figuresBefore = `
  SELECT e."storeId", e."liveStreamId" AS id, count(*)::int AS events, trim_scale(sum(e."amount")) AS amount,
    (SELECT count(*)::int FROM "LiveStreamViewer" AS v WHERE v."storeId" = e."storeId" AND v."liveStreamId" = e."liveStreamId"
      AND v."channel" <> 'ANY') AS viewers,
    (SELECT count(*)::int FROM "LiveStreamPresence" AS v WHERE v."storeId" = e."storeId" AND v."liveStreamId" = e."liveStreamId")
      AS minutes
  FROM "ShopperEvent" AS e JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."id" = e."liveStreamId" AND s."prunedAt" IS NULL
  GROUP BY 1, 2 ORDER BY 1, 2`;
const ofShow = `v."storeId" = e."storeId" AND v."show" = e."show"`;
const minutes = `sum(bit_count(v."minutes"::bit(64)))`;
const figuresAfter = `
  SELECT e."storeId", s."id", count(*)::int AS events, trim_scale(sum(e."value") FILTER (WHERE e."type" = 3)) AS amount,
    (SELECT (count(*) FILTER (WHERE v."seen" & 1 > 0) + count(*) FILTER (WHERE v."seen" & 2 > 0))::int FROM "ShowViewer" AS v
      WHERE ${ofShow}) AS viewers,
    (SELECT ((SELECT ${minutes} FROM "ShowViewer" AS v WHERE ${ofShow})
      + (SELECT coalesce(${minutes}, 0) FROM "ShowPresence" AS v WHERE ${ofShow}))::int) AS minutes
  FROM "ShowEvent" AS e JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."number" = e."show"
  GROUP BY 1, 2, e."show" ORDER BY 1, 2`;

/**
 * Runs `vitrine migrate` until it ends by itself, and kills it when another batch of events was copied.
 *
 * @param watching opens a session beside it; undefined while it cannot
 * @returns how often it was killed
 */
async function migrateWithKills(
  env: Variables,
  killsMax: number,
  watching: () => Promise<Query | undefined>,
): Promise<number> {
  let copied = 0;
  for (let kills = 0; ; kills += 1) {
    const running = start(["migrate", "--json"], { ...env, NODE_OPTIONS: "" });
    const isRunning = () => running.process.exitCode === null && running.process.signalCode === null;
    const killAfterBatch = async () => {
      for (let watch: Query | undefined; isRunning(); await sleep(5)) {
        watch ??= await watching();
        const [{ events }] = (await watch?.(copiedEvents).catch(() => undefined)) ?? [{ events: 0 }]; // before it has the table
        if (events <= copied) continue;
        copied = events;
        running.process.kill("SIGKILL");
        return;
      }
    };
    if (kills < killsMax) void killAfterBatch();
    const { status, stdout } = await endOf(running);
    if (status === "SIGKILL") continue;
    expect(status).toBe(0);
    expect(JSON.parse(stdout).applied).not.toEqual([]);
    return kills;
  }
}

const copiedEvents = `SELECT coalesce(sum("events"), 0)::int AS events FROM "EventMove"`;

async function fill(query: Query) {
  await multiplyEvents(query, times);
  const figures = await query(figuresBefore);
  expect(figures.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(20_000);
  return figures;
}

test("a killed move of events resumes where it stopped: embedded", async () => {
  const { dataDir, temporary, env } = await unmigratedPlaceForTest();
  const onFolder = async <Result>(work: (connection: ReturnType<typeof embeddedConnection>) => Promise<Result>) => {
    const server = await startEmbedded({ folder: foldersOf(dataDir).database });
    try {
      return await work(embeddedConnection(server.socketFolder));
    } finally {
      await server.close();
    }
  };
  const before = await onFolder(async (connection) => fill(await restore(connection, dumpBeforeMove)));
  const watching = async () => {
    const folders = await readdir(temporary); // of a killed process, too
    const sessions = folders.map((name) => openSession(embeddedConnection(join(temporary, name))));
    return Promise.any(sessions).catch(() => undefined);
  };
  expect(await migrateWithKills(env, 3, watching), "at each of the first batches").toBe(3);
  expect(await onFolder(async (connection) => (await openSession(connection))(figuresAfter))).toEqual(before);
});

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("PostgreSQL", () => {
  let drop: () => Promise<void> = async () => undefined;
  afterEach(() => drop());

  test("a killed move of events resumes where it stopped: PostgreSQL", async () => {
    const database = await createOwnDatabase("upgradekilled");
    drop = () => database.drop();
    const query = await restore({ connectionString: database.url }, dumpBeforeMove);
    const before = await fill(query);
    const watch = await openSession({ connectionString: database.url });
    expect(
      await migrateWithKills({ DATABASE_URL: database.url }, 6, () => Promise.resolve(watch)),
      "at each of the first batches",
    ).toBeGreaterThan(3);
    expect(await query(figuresAfter)).toEqual(before);
  });
});
