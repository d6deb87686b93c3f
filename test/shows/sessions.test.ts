// @engine postgresql
import { EventEmitter, once } from "node:events";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { idBytes } from "../../src/events/record/eventValues.sql.js";
import { pruneEvents } from "../../src/figures/totals/prune.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { deleteLiveStream } from "../../src/shows/liveStream.delete.js";
import { saveLiveStream } from "../../src/shows/liveStream.save.js";
import { lockShow, showLockKey } from "../../src/database/showLock.js";
import type { RootDatabase } from "../../src/database/client.js";
import { connect } from "../../src/database/open.js";
import { setLocal } from "../../src/database/transaction.js";
import { openConnections, openTestDatabase } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";
import { givenDatabase } from "../support/database/database.js";
import { everythingOf } from "../support/stored.js";

// The embedded engine has one session: nobody else is at work during a transaction.

const { client: db } = openTestDatabase();
const { connection } = givenDatabase();
const events = someEvents(500);
const ordersWithoutProducts = events
  .filter(({ type }) => type === "ORDER")
  .map((order) => ({ ...order, productId: null, lines: null }));
const startedAt = new Date("2026-05-04T18:30:00Z");

describe("while another session has the exclusive lock of a show", () => {
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
      { timeout: 15_000 },
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
      recordEvents(db, show.storeId, show.lsId, asInputs(batch), { lockWaitMs: 15_000 }),
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
        await lockShow(transaction, show.storeId, show.lsId); // its own limit is 10 seconds: see locks.test.ts
        await setLocal(transaction, { idle_in_transaction_session_timeout: "1000" });
        await transaction.$executeRaw`DELETE FROM "LiveStreamTotal" WHERE "storeId" = ${show.storeId} AND "liveStreamId" = ${show.lsId}`;
        await recordEvents(db, show.storeId, show.lsId, asInputs(events), { lockWaitMs: 15_000 });
      },
      { timeout: 15_000 },
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
          await recordEvents(client, show.storeId, show.lsId, asInputs(events), { lockWaitMs: 15_000 });
        }
      }),
    );
    for (let round = 0; round < 3; round += 1) await rebuildAnalytics(db, show.storeId, show.lsId);
    stop.abort();
    await Promise.all(writers);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });
});

describe("while another transaction has locked rows", () => {
  /** A transaction of another session, and a database whose statements wait for it. */
  async function twoSessions() {
    const application_name = `patient ${randomUUID()}`;
    const patient = connect(
      { ...connection, lock_timeout: 15_000, options: "-c deadlock_timeout=200ms", application_name },
      fail,
    );
    const other = new pg.Client(connection);
    await other.connect();
    onTestFinished(async () => void (await Promise.all([other.end(), patient.close()])));
    await other.query("BEGIN");
    await other.query("SET LOCAL deadlock_timeout = '1min'"); // of a deadlock, the patient one finds out first
    /** Waits until the patient one waits for a lock. */
    const waits = async () => {
      const waiting = ofTest(`SELECT pid FROM pg_stat_activity
        WHERE application_name = '${application_name}' AND cardinality(pg_blocking_pids(pid)) > 0`);
      await expect.poll(() => db.$queryRawUnsafe(waiting), { interval: 10 }).toHaveLength(1);
    };
    return { other, patient: patient.client, waits };
  }

  test("a batch that loses a deadlock is recorded by another attempt", async () => {
    const { storeId, lsId } = await newShow(db);
    const { other, patient, waits } = await twoSessions();
    const insert = (id: string) =>
      other.query(
        `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, "productId", value, "occurredAt",
          "acceptedAt", position, "orderId", lines, source) VALUES ($1, 1, $2, 3, 1, '', '', '', 1, now(), now(), 1, '', '', '')`,
        [storeId, idBytes(id)],
      );
    await insert("b");
    const orders = ["a", "b"].map((id) => ({ id, type: "ORDER" as const, channel: "LIVE" as const, amount: 1 }));
    const recording = recordEvents(patient, storeId, lsId, orders);
    await waits();
    await insert("a"); // the recorder has it until it loses
    await other.query("ROLLBACK");
    expect(await recording).toEqual({ accepted: 2, duplicates: 0 });
  });

  test("pruning waits for a batch under way, and marks nothing before", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    await saveLiveStream(db, storeId, { id: lsId, name: "Show", status: "ARCHIVED", startedAt, durationSeconds: 60 });
    const { other, patient, waits } = await twoSessions();
    await other.query("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", [showLockKey(storeId, lsId)]);
    const pruning = pruneEvents(patient, storeId, { before: new Date("2026-06-01T00:00:00Z"), lsId });
    await waits();
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
    const { other, patient, waits } = await twoSessions();
    const key = [show.storeId, show.lsId];
    await recordEvents(patient, show.storeId, show.lsId, heard("known", 31)); // so its names are, and the statement itself waits
    await other.query(`SELECT FROM "LiveStream" WHERE "storeId" = $1 AND id = $2 FOR UPDATE`, key);
    const recording = recordEvents(patient, show.storeId, show.lsId, heard("b", 32));
    await waits();
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

  test("a batch that saw the show before its deletion was committed stores nothing", async () => {
    const { storeId, lsId } = await newShow(db);
    const { other, patient, waits } = await twoSessions();
    await other.query("COMMIT");
    for (const batch of [events, events.filter(({ type }) => type === "ORDER")]) {
      await other.query("BEGIN");
      // Without the show's lock, as if this was released just before the batch takes it.
      await other.query(`DELETE FROM "LiveStream" WHERE "storeId" = $1 AND id = $2`, [storeId, lsId]);
      const recording = recordEvents(patient, storeId, lsId, asInputs(batch));
      recording.catch(() => undefined);
      await waits();
      await other.query("COMMIT");
      await expect(recording).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
      const rows = await everythingOf({ db }, { id: storeId });
      expect(Object.keys(rows).filter((table) => rows[table]?.length !== 0)).toEqual(["Store"]);
      await saveLiveStream(db, storeId, { id: lsId, name: "Anew", status: "LIVE", startedAt: new Date() });
    }
  });

  test("deletions and saves leave either a whole show or nothing of it", async () => {
    const { storeId, lsId } = await newShow(db);
    const stop = new AbortController();
    let sentBatches = 0;
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let batch = 0; !stop.signal.aborted; batch += 1) {
        const sent = asInputs(someEvents(20)).map((event) => ({ ...event, id: `${writer}-${batch}-${event.id}` }));
        await recordEvents(db, storeId, lsId, sent).catch(({ code }: { code: string }) => {
          expect(["LIVE_STREAM_NOT_FOUND", "VALIDATION_FAILED"]).toContain(code);
        });
        sentBatches += 1;
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const before = sentBatches;
      await expect.poll(() => sentBatches).toBeGreaterThan(before + 4);
      const deleting = deleteLiveStream(db, storeId, lsId, { force: true });
      const saving = saveLiveStream(db, storeId, {
        id: lsId,
        name: "Again",
        status: "ARCHIVED",
        startedAt,
        durationSeconds: 1,
      });
      await Promise.all([deleting, saving]);
      await deleteLiveStream(db, storeId, lsId, { force: true }).catch(() => undefined);
      if (round === 2) break;
      await saveLiveStream(db, storeId, { id: lsId, name: "Again", status: "LIVE", startedAt });
    }
    stop.abort();
    await Promise.all(writers);
    const rows = await everythingOf({ db }, { id: storeId });
    expect(Object.keys(rows).filter((table) => rows[table]?.length !== 0)).toEqual(["Store"]);
  });
});

function fail(problem: Error): void {
  throw problem;
}
