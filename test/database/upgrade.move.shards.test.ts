import { readFile } from "node:fs/promises";
import type { PoolConfig } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { rebuildAnalytics } from "../../src/analytics/totals/rebuild.js";
import { onNodeFunction } from "../../src/database/citus/onNode.sql.js";
import { smallEventRows } from "../../src/database/migrations/eventMove/tables.sql.js";
import { migrate } from "../../src/database/migrations/migrate.js";
import { connect } from "../../src/database/open.js";
import {
  distributeEarlier,
  dumpBeforeMove,
  earlierRecorder,
  openSession,
  recordWhileServed,
  restore,
  someEvent,
} from "../support/earlierVersion.js";
import { emptyDatabase } from "../support/ownDatabase.js";
import { figuresOf } from "../support/figures.js";
import { until } from "../support/process.js";
import { storedEventIds } from "../support/storedEvents.js";
import { givenDatabase } from "../support/database.js";

const { engine } = givenDatabase();
const show = { storeId: "acme", lsId: "summer sale" };
const inBatches = { fromEvents: 1, rowsMax: 50 };
const limits = { logAfterMs: 0, giveUpAfterMs: 60_000 };

function openClient(connection: PoolConfig) {
  const database = connect(engine, connection, () => undefined);
  onTestFinished(() => database.close());
  return database.client;
}

/** A database of the previous version, distributed or not. */
async function earlierDatabase(label: string, isOnCitus: boolean) {
  const connection = await emptyDatabase(label);
  const query = await restore(connection, dumpBeforeMove);
  if (isOnCitus) await distributeEarlier(connection, query);
  const own = await openSession(connection);
  const record = await earlierRecorder(own);
  const recordSome = async (name: string) => {
    const events = Array.from({ length: 10 }, (_, n) => someEvent(name, n));
    expect(await record(show.storeId, show.lsId, events)).toBe(10);
    return events.map(({ id }) => id);
  };
  const before = await query(
    `SELECT "id" FROM "ShopperEvent" WHERE "storeId" = 'acme' AND "liveStreamId" = 'summer sale'`,
  );
  return { connection, query, own, recordSome, before: before.map(({ id }): string => id) };
}

/** What is stored is what was confirmed, and the totals of the show say the same. */
async function expectStored(connection: PoolConfig, ids: readonly string[]): Promise<void> {
  const db = openClient(connection);
  expect((await storedEventIds(db, show)).toSorted()).toEqual([...ids].toSorted());
  const figures = await figuresOf(db, show);
  await rebuildAnalytics(db, show.storeId, show.lsId);
  expect(await figuresOf(db, show)).toEqual(figures);
}

const isServer = engine === "postgresql"; // the embedded one has no Citus, and one session

describe.runIf(isServer)("on a stand-in for Citus", () => {
  test("events are moved shard by shard while the previous version records, however few they are", async () => {
    const { connection, query, before } = await earlierDatabase("upgradeshards", true);
    const writers = ["a", "b"].map((label) => recordWhileServed(connection, show, label));
    const applied = await migrate(connection, () => undefined, { move: { rowsMax: 50 } });
    expect(applied).toContain(smallEventRows);
    await expectStored(connection, [...before, ...(await Promise.all(writers)).flat()]);

    const calls = (await query("SELECT call FROM stand_in_calls ORDER BY number")).map(({ call }): string => call);
    const beside = (table: string) => `distributed "${table}" by storeId beside "Store"`;
    expect(calls.slice(-6)).toEqual([
      ...["ShowEvent", "ShowViewer", "ShowPresence", "EventMove", "EventMoveQueue"].map(beside),
      `hidden rows of "LiveStream" removed`,
    ]);
    const left = `SELECT to_regclass('"EventMoveQueue"') AS "queue", to_regproc('"queueMovedEvents"') AS "function"`;
    expect(await query(left)).toEqual([{ queue: null, function: null }]);
  });

  test("a move on Citus that was given up as the documentation says leaves the previous version as it was", async () => {
    const { connection, query, recordSome, before } = await earlierDatabase("upgradeshardsgivenup", true);
    await query(
      `DELETE FROM "LiveStreamViewer" WHERE "storeId" = 'acme' AND "liveStreamId" = 'ended' AND "channel" = 'LIVE'`,
    );
    const lacking = migrate(connection, () => undefined, { move: inBatches });
    await expect(lacking).rejects.toThrow("other figures in the copied events");
    const page = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
    const [, statements = ""] = /<<'SQL'\n(BEGIN;\n[^`]*"queueMovedEvents"[^`]*COMMIT;\n)SQL\n/u.exec(page) ?? [];
    await query(statements);
    const recorded = await recordSome("given up");
    expect(await query(`SELECT to_regproc('${onNodeFunction}') IS NOT NULL AS kept`)).toEqual([{ kept: true }]);
    const stored = await query(
      `SELECT "id" FROM "ShopperEvent" WHERE "storeId" = 'acme' AND "liveStreamId" = 'summer sale'`,
    );
    expect(stored.map(({ id }): string => id).toSorted()).toEqual([...before, ...recorded].toSorted());
  });

  test("a move whose session is lost goes on where it was, also while the shard is being moved to another node", async () => {
    const { connection, query, own, recordSome, before } = await earlierDatabase("upgradelost", true);
    await own("SELECT pg_advisory_lock(102008)"); // as the stand-in does while a shard is moved
    const lost = migrate(connection, () => undefined, { move: inBatches });
    lost.catch(() => undefined);
    await until(
      async () => (await query(`SELECT to_regclass('"EventMove"') IS NOT NULL AS begun`))[0].begun,
      "the move",
    );
    const sessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vitrine'`;
    await query(sessions);
    await expect(lost).rejects.toThrow(/terminat|not queryable/u);
    const recorded = await recordSome("after the loss");
    const going = migrate(connection, () => undefined, { move: inBatches });
    await own("SELECT pg_sleep(0.5), pg_advisory_unlock(102008)");
    expect(await going).toContain(smallEventRows);
    await expectStored(connection, [...before, ...recorded]);
  });
});

describe.runIf(isServer).each([false, true])("a trigger is lost, on a stand-in for Citus: %s", (isOnCitus) => {
  /** A move that has copied and verified most, and was stopped by a show that lacks a viewer, who is back. */
  async function stoppedMove(label: string) {
    const database = await earlierDatabase(`${label}${isOnCitus ? "shards" : ""}`, isOnCitus);
    const { connection, query } = database;
    const [viewer] =
      await query(`DELETE FROM "LiveStreamViewer" WHERE "storeId" = 'acme' AND "liveStreamId" = 'summer sale'
      AND ctid = (SELECT max(ctid) FROM "LiveStreamViewer" WHERE "storeId" = 'acme' AND "liveStreamId" = 'summer sale'
        AND "channel" = 'LIVE') RETURNING *`);
    await expect(migrate(connection, () => undefined, { move: inBatches })).rejects.toThrow(
      "other figures in the copied events",
    );
    await query(`INSERT INTO "LiveStreamViewer" VALUES ($1, $2, $3, $4, $5)`, Object.values(viewer));
    return database;
  }

  test("what was recorded without the trigger is found, and the trigger is made again", async () => {
    const { connection, query, recordSome, before } = await stoppedMove("upgradetrigger");
    await query(`DROP TRIGGER "EventMove" ON "ShopperEvent"`);
    const recorded = await recordSome("without the trigger");
    const logged: string[] = [];
    const log = ({ message }: Error) => logged.push(message);
    expect(await migrate(connection, log, { move: inBatches })).toContain(smallEventRows);
    expect(logged.join()).toContain("the trigger on events was lost");
    await expectStored(connection, [...before, ...recorded]);
  });

  test("a trigger that is lost after all was verified keeps the tables from being replaced without its events", async () => {
    const { connection, own, recordSome, before } = await stoppedMove("upgradelate");
    await own("BEGIN");
    await own(`LOCK TABLE "ShopperEvent" IN ROW EXCLUSIVE MODE`);
    const logged: string[] = [];
    const going = migrate(connection, ({ message }) => logged.push(message), { move: inBatches, limits });
    await until(
      () => logged.some((message) => message.includes("tables which the move of events changes")),
      "the switch",
    );
    await own(`DROP TRIGGER "EventMove" ON "ShopperEvent"`);
    const recorded = await recordSome("at last");
    await own("COMMIT");
    expect(await going).toContain(smallEventRows);
    expect(logged.join()).toContain("the trigger on events was lost");
    await expectStored(connection, [...before, ...recorded]);
  });
});
