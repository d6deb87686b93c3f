import { EventEmitter, once } from "node:events";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { recordEvents } from "../../src/analytics/events/events.record.js";
import { rebuildAnalytics } from "../../src/analytics/totals/rebuild.js";
import { lockShow } from "../../src/analytics/shows/showLock.js";
import type { Database } from "../../src/database/client.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { openConnections, testDatabase } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";

let database: OpenDatabase;
let db: OpenDatabase["client"];
beforeAll(() => {
  database = testDatabase();
  db = database.client;
});
afterAll(() => database.close());

const events = someEvents(500);

test("the show's lock is waited for in time, by settings that Citus passes on to the node where it is taken", async () => {
  const { storeId, lsId } = await newShow(db);
  const names = [
    "citus.propagate_set_commands",
    "lock_timeout",
    "statement_timeout",
    "idle_in_transaction_session_timeout",
    "enable_nestloop",
  ];
  const settings = (at: Database) => at.$queryRaw`SELECT current_setting(unnest(${names}::text[]), true) AS value`;
  const within = await db.$transaction(async (transaction) => {
    await lockShow(transaction, storeId, lsId);
    return settings(transaction);
  });
  expect(within).toEqual(["local", "1s", "30min", "10s", "off"].map((value) => ({ value })));
  expect(await settings(db), "afterwards all is as it was").not.toContainEqual({ value: "30min" });
});

// The embedded engine has one session: nobody else is at work during a transaction.
describe.runIf(inject("database").engine === "postgresql")("while another has a show alone", () => {
  /** Holds the lock of a show as a rebuild does, in a session of its own, until it is let go. */
  async function holdAlone({ storeId, lsId }: ShowKey) {
    const other = openConnections().client;
    const signals = new EventEmitter();
    const locked = once(signals, "locked");
    const holding = other.$transaction(
      async (transaction) => {
        const ended = once(signals, "end");
        await lockShow(transaction, storeId, lsId);
        signals.emit("locked");
        await ended;
      },
      { timeout: 60_000 },
    );
    const letGo = async () => {
      signals.emit("end");
      await holding;
    };
    onTestFinished(letGo);
    await locked;
    return letGo;
  }

  const batchesOf = (count: number) => Array.from({ length: count }, (_, n) => events.slice(n * 10, n * 10 + 10));

  test("any number of recorders that wait for it take no connection from others, and then all record", async () => {
    const show = await newShow(db);
    const letGo = await holdAlone(show);
    const recording = batchesOf(50).map((batch) => recordEvents(db, show.storeId, show.lsId, asInputs(batch)));
    const other = await newShow(db);
    for (let n = 0; n < 20; n += 1) await recordEvents(db, other.storeId, other.lsId, asInputs(events.slice(0, 10)));
    expect(await db.shopperEvent.count({ where: { storeId: show.storeId } })).toBe(0);
    await letGo();
    await Promise.all(recording);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });

  test("a recorder is told after a while that it is to come again, and nothing is stored", async () => {
    const show = await newShow(db);
    await holdAlone(show);
    const recording = recordEvents(db, show.storeId, show.lsId, asInputs(events), { lockWaitMs: 100 });
    await expect(recording).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "The totals of the show are being rebuilt or pruned. Nothing was changed.",
      retryAfterSeconds: 5,
    });
    expect(await db.shopperEvent.count({ where: { storeId: show.storeId } })).toBe(0);
  });

  test("and that process is frozen, the database ends its transaction, and the show takes events again", async () => {
    const show = await newShow(db);
    const other = openConnections().client;
    const frozen = other.$transaction(
      async (transaction) => {
        await lockShow(transaction, show.storeId, show.lsId);
        await transaction.$executeRaw`DELETE FROM "LiveStreamTotal" WHERE "storeId" = ${show.storeId} AND "liveStreamId" = ${show.lsId}`;
        await recordEvents(db, show.storeId, show.lsId, asInputs(events), { lockWaitMs: 25_000 });
      },
      { timeout: 60_000 },
    );
    await expect(frozen).rejects.toMatchObject({ name: expect.stringMatching(/Error$/u) }); // its session was ended
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });

  test("recorders that never pause, from several processes, do not keep a rebuild from its turn", async () => {
    const show = await newShow(db);
    const stop = new AbortController();
    const writers = [openConnections(), openConnections()].flatMap(({ client }) =>
      [0, 1, 2].map(async () => {
        while (!stop.signal.aborted) await recordEvents(client, show.storeId, show.lsId, asInputs(events));
      }),
    );
    for (let round = 0; round < 3; round += 1) await rebuildAnalytics(db, show.storeId, show.lsId);
    stop.abort();
    await Promise.all(writers);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });
});
