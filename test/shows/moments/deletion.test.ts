// @engine postgresql
import { expect, test } from "vitest";
import { deleteLiveStream } from "../../../src/shows/liveStream.delete.js";
import { saveMoments } from "../../../src/shows/moments/moments.save.js";
import type { Database } from "../../../src/database/client.js";
import { openConnections, openTestDatabase } from "../../support/app.js";
import { newShow } from "../../support/figures.js";
import { until } from "../../support/until.js";

const { client: db } = openTestDatabase();

const moments = [{ id: "m", kind: "MARKER", startedAt: new Date("2026-05-04T18:30:00Z") }] as const;

/** Waits until another connection waits for what this transaction has locked. */
const untilWaitedFor = (transaction: Database) =>
  until(async () => {
    const rows = await transaction.$queryRaw<object[]>`
      SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`;
    return rows.length > 0;
  }, "the other call");

test("a moment that is saved while its show is deleted is deleted with it", async () => {
  const { storeId, lsId } = await newShow(db);
  const other = openConnections();
  let deletion: Promise<unknown> = Promise.resolve();
  await saveMoments(db, storeId, lsId, moments, (transaction) => {
    deletion = deleteLiveStream(other.client, storeId, lsId);
    return untilWaitedFor(transaction);
  });
  await deletion;
  expect(await db.showMoment.count({ where: { storeId } })).toBe(0);
  expect(await db.liveStream.count({ where: { storeId } })).toBe(0);
});

test("a moment of a show that is being deleted is refused", async () => {
  const { storeId, lsId } = await newShow(db);
  const other = openConnections();
  let saving: Promise<unknown> = Promise.resolve();
  other.probe.aroundQuery = async (sql, send) => {
    const result = await send();
    if (!sql.includes('DELETE FROM "ShowMoment"')) return result;
    saving = saveMoments(db, storeId, lsId, moments);
    saving.catch(() => undefined); // awaited below
    await until(async () => {
      const rows = await db.$queryRaw<object[]>`
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
          AND query LIKE '%FOR NO KEY UPDATE%'`;
      return rows.length > 0;
    }, "the moment to wait");
    return result;
  };
  await deleteLiveStream(other.client, storeId, lsId);
  await expect(saving).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
  expect(await db.showMoment.count({ where: { storeId } })).toBe(0);
});

test("a deletion waits for a call that saves moments longer than it waits for locks, and is done then", async () => {
  const { storeId, lsId } = await newShow(db);
  const other = openConnections();
  let [deletion, attempts] = [Promise.resolve<unknown>(undefined), 0];
  other.probe.aroundQuery = (sql, send) => {
    if (sql.includes("FOR UPDATE")) attempts += 1;
    return send();
  };
  await saveMoments(db, storeId, lsId, moments, () => {
    deletion = deleteLiveStream(other.client, storeId, lsId);
    return until(() => attempts > 1, "the second attempt");
  });
  await deletion;
  expect(await db.showMoment.count({ where: { storeId } })).toBe(0);
});
