import { EventEmitter, once } from "node:events";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { idBytes } from "../../../src/analytics/events/storage/codes.js";
import { pruneEvents } from "../../../src/analytics/totals/prune.js";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import { saveLiveStream } from "../../../src/analytics/shows/liveStream.save.js";
import { lockShow, showLockKey } from "../../../src/analytics/shows/showLock.js";
import type { Database, RootDatabase } from "../../../src/database/client.js";
import { connect } from "../../../src/database/open.js";
import { openConnections, openTestDatabase } from "../../support/app.js";
import { ofTest } from "../../support/citus/recording.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { givenDatabase } from "../../support/database/database.js";

const { client: db } = openTestDatabase();

const { engine, connection } = givenDatabase();
const events = someEvents(500);
const ordersWithoutProducts = events
  .filter(({ type }) => type === "ORDER")
  .map((order) => ({ ...order, productId: null, lines: null }));

test("the exclusive lock of a show has time limits, set so that Citus propagates them to the show's node", async () => {
  const { storeId, lsId } = await newShow(db);
  const names = [
    "citus.propagate_set_commands",
    "lock_timeout",
    "statement_timeout",
    "idle_in_transaction_session_timeout",
    "enable_nestloop",
    "jit",
  ];
  const settings = (at: Database) => at.$queryRaw`SELECT current_setting(unnest(${names}::text[]), true) AS value`;
  const within = await db.$transaction(async (transaction) => {
    await lockShow(transaction, storeId, lsId);
    return settings(transaction);
  });
  expect(within).toEqual(["local", "1s", "30min", "10s", "off", "off"].map((value) => ({ value })));
  expect(await settings(db), "afterwards all is as it was").not.toContainEqual({ value: "30min" });
});

// The embedded engine has one session: nobody else is at work during a transaction.
describe.runIf(engine === "postgres")("while another session has the exclusive lock of a show", () => {
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

  test("any number of waiting batches take no connection from others, and all are recorded afterwards", async () => {
    const show = await newShow(db);
    const letGo = await holdAlone(show);
    const recording = batchesOf(50).map((batch) =>
      recordEvents(db, show.storeId, show.lsId, asInputs(batch), { lockWaitMs: 60_000 }),
    );
    const other = await newShow(db);
    for (let n = 0; n < 20; n += 1) await recordEvents(db, other.storeId, other.lsId, asInputs(events.slice(0, 10)));
    expect(await db.showEvent.count({ where: { storeId: show.storeId } })).toBe(0);
    await letGo();
    await Promise.all(recording);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });

  test.each([
    ["with names to keep", events],
    ["of orders without products, which have none", ordersWithoutProducts],
  ])("a batch %s that waits in vain is refused with Retry-After, and nothing is stored", async (_, batch) => {
    const show = await newShow(db);
    await holdAlone(show);
    const recording = recordEvents(db, show.storeId, show.lsId, asInputs(batch), { lockWaitMs: 100 });
    await expect(recording).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "The totals of the show are being rebuilt or pruned. Nothing was changed.",
      retryAfterSeconds: 5,
    });
    expect(await db.showEvent.count({ where: { storeId: show.storeId } })).toBe(0);
  });

  test("PostgreSQL ends the transaction of a process that froze, and the show takes events again", async () => {
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

  test("continuous batches from several processes do not starve a rebuild", async () => {
    const show = await newShow(db);
    const stop = new AbortController();
    const writers = [openConnections(), openConnections()].flatMap(({ client }) =>
      [0, 1, 2].map(async () => {
        while (!stop.signal.aborted) {
          await recordEvents(client, show.storeId, show.lsId, asInputs(events), { lockWaitMs: 60_000 });
        }
      }),
    );
    for (let round = 0; round < 3; round += 1) await rebuildAnalytics(db, show.storeId, show.lsId);
    stop.abort();
    await Promise.all(writers);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });
});

describe.runIf(engine === "postgres")("while another transaction has locked rows", () => {
  /** A transaction of another session, and a database whose statements wait for it long enough on a busy machine. */
  async function twoSessions() {
    const application_name = `patient ${randomUUID()}`;
    const patient = connect(
      { ...connection, lock_timeout: 30_000, options: "-c deadlock_timeout=2s", application_name },
      fail,
    );
    const other = new pg.Client(connection);
    await other.connect();
    onTestFinished(async () => void (await Promise.all([other.end(), patient.close()])));
    await other.query("BEGIN");
    await other.query("SET LOCAL deadlock_timeout = '1min'"); // of a deadlock, the other session finds out first
    const [session] = (await other.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows;
    const waiting = () =>
      db.$queryRawUnsafe<[{ sessions: number }]>(
        ofTest(
          `SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE ${session?.pid} = ANY(pg_blocking_pids(pid))`,
        ),
      );
    const waitedFor = async () => {
      await expect.poll(waiting, { interval: 10 }).toEqual([{ sessions: 1 }]);
    };
    /** Waits until the patient one waits for any other. */
    const waits = async () => {
      const blocked = () =>
        db.$queryRawUnsafe<[{ sessions: number }]>(
          ofTest(
            `SELECT count(*)::int AS sessions FROM pg_stat_activity
            WHERE application_name = '${application_name}' AND cardinality(pg_blocking_pids(pid)) > 0`,
          ),
        );
      await expect.poll(blocked, { interval: 10 }).toEqual([{ sessions: 1 }]);
    };
    return { other, patient: patient.client, waitedFor, waits };
  }

  test("a batch that loses a deadlock is recorded by another attempt", async () => {
    const { storeId, lsId } = await newShow(db);
    const { other, patient, waitedFor } = await twoSessions();
    const insert = (id: string) =>
      other.query(
        `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, "productId", value, "occurredAt",
          "acceptedAt", position, "orderId", lines, source) VALUES ($1, 1, $2, 3, 1, '', '', '', 1, now(), now(), 1, '', '', '')`,
        [storeId, idBytes(id)],
      );
    await insert("b");
    const orders = ["a", "b"].map((id) => ({ id, type: "ORDER" as const, channel: "LIVE" as const, amount: 1 }));
    const recording = recordEvents(patient, storeId, lsId, orders);
    await waitedFor();
    await insert("a"); // the recorder has it until it loses
    await other.query("ROLLBACK");
    expect(await recording).toEqual({ accepted: 2, duplicates: 0 });
  });

  test("pruning waits for a batch under way, and marks nothing before", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const startedAt = new Date("2026-05-04T18:30:00Z");
    await saveLiveStream(db, storeId, { id: lsId, name: "Show", status: "ARCHIVED", startedAt, durationSeconds: 60 });
    const { other, patient, waitedFor } = await twoSessions();
    await other.query("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", [showLockKey(storeId, lsId)]);
    const pruning = pruneEvents(patient, storeId, { before: new Date("2026-06-01T00:00:00Z"), lsId });
    await waitedFor();
    const prunedAt = async () =>
      (await db.liveStream.findUniqueOrThrow({ where: { storeId_id: { storeId, id: lsId } } })).prunedAt;
    expect(await prunedAt()).toBeNull();
    await other.query("ROLLBACK");
    expect((await pruning).shows).toEqual([lsId]);
    expect(await prunedAt()).toEqual(expect.any(Date));
  });

  test("a batch that began before a viewer was erased counts them as a new one", async () => {
    const show = await newShow(db);
    const heard = (id: string, minute: number) => {
      const occurredAt = new Date(Date.UTC(2026, 4, 4, 18, minute));
      return [{ id, type: "VIEW" as const, channel: "LIVE" as const, viewerId: "ann", occurredAt }];
    };
    await recordEvents(db, show.storeId, show.lsId, heard("a", 31));
    const { other, patient, waitedFor } = await twoSessions();
    const key = [show.storeId, show.lsId];
    await recordEvents(patient, show.storeId, show.lsId, heard("known", 31)); // so its names are, and the statement itself waits
    await other.query(`SELECT FROM "LiveStream" WHERE "storeId" = $1 AND id = $2 FOR UPDATE`, key);
    const recording = recordEvents(patient, show.storeId, show.lsId, heard("b", 32));
    await waitedFor();
    for (const table of ["ShowViewer", "ShowEvent"]) {
      await other.query(`UPDATE "${table}" SET "viewerId" = $2 WHERE "storeId" = $1`, [show.storeId, "erased"]);
    }
    await other.query(`UPDATE "LiveStream" SET name = name WHERE "storeId" = $1 AND id = $2`, key); // as withShowLock
    await other.query("COMMIT");
    expect(await recording).toEqual({ accepted: 1, duplicates: 0 });
    const figures = await figuresOf(db, show);
    expect(figures.kpis.viewers.live).toBe(2);
    await rebuildAnalytics(db, show.storeId, show.lsId);
    expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("a save locks the status that it checks: a concurrent one waits, and is not overwritten", async () => {
    const { storeId, lsId } = await newShow(db);
    const { patient, waits } = await twoSessions();
    const startedAt = new Date("2026-05-04T18:30:00Z");
    const save = (client: RootDatabase, status: "LIVE" | "ARCHIVED") =>
      saveLiveStream(client, storeId, { id: lsId, name: "Show", status, startedAt, durationSeconds: 60 });
    const first = openConnections();
    let second: Promise<unknown> | undefined;
    first.probe.aroundQuery = async (sql, send) => {
      if (sql.startsWith("UPDATE") && second === undefined) {
        second = save(patient, "ARCHIVED");
        await Promise.race([second, waits()]);
      }
      return send();
    };
    await save(first.client, "LIVE");
    await second;
    const where = { storeId_id: { storeId, id: lsId } };
    expect(await db.liveStream.findUniqueOrThrow({ where })).toMatchObject({ status: "ARCHIVED" });
  });
});

function fail(problem: Error): void {
  throw problem;
}
