import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { openTestDatabase } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { accepted, type SentEvent } from "../../support/oracle.js";
import { change, ofShow, ofShowNumber, recordAll, storedTotals } from "../../support/figures/totals.js";

const { client: db } = openTestDatabase();

describe("a rebuild restores damaged totals:", () => {
  test.each([
    [
      "sums that are wrong",
      [
        `UPDATE "LiveStreamTotal" SET sales = sales + 0.01, orders = 7, viewers = 0, "cartViewers" = -1, "viewSeconds" = 1e9,
          buyers = buyers + 1, "engagedViewers" = 3, "ordersWithoutViewer" = -1 ${ofShow}`,
        `UPDATE "LiveStreamGroup" SET viewers = viewers * 2, orders = orders + 1, sales = sales + 1 ${ofShow}`,
        `UPDATE "LiveStreamMinute" SET viewers = 9, carts = 9, orders = 9, sales = 9 ${ofShow}`,
        `UPDATE "LiveStreamProduct" SET carts = carts + 1 ${ofShow}`,
        `UPDATE "LiveStreamSpan" SET viewers = 9, carts = 9, orders = 9, sales = 9 ${ofShow}`,
      ],
    ],
    [
      "totals that are gone",
      [
        `DELETE FROM "LiveStreamTotal" ${ofShow}`,
        `DELETE FROM "LiveStreamGroup" ${ofShow}`,
        `DELETE FROM "LiveStreamMinute" ${ofShow}`,
        `DELETE FROM "LiveStreamProduct" ${ofShow}`,
        `DELETE FROM "LiveStreamSpan" ${ofShow}`,
      ],
    ],
    [
      "totals without events",
      [
        `INSERT INTO "LiveStreamTotal" VALUES ($1, $2, 'LIVE', 99, 5, 5, 5, 5, 5, 5, 5, 5, 5), ($1, $2, 'ANY', 99, 0, 0, 5, 0, 0, 0, 5, 5, 0)`,
        `INSERT INTO "LiveStreamGroup" VALUES ($1, $2, 'LIVE', 'toaster', 0, 5, 0, 0), ($1, $2, 'SOURCE', 'nowhere', 0, 5, 5, 5)`,
        `INSERT INTO "LiveStreamMinute" VALUES ($1, $2, '2020-01-01T00:00Z', 3, 5, 5, 5, 5)`,
        `INSERT INTO "LiveStreamProduct" VALUES ($1, $2, 'ghost', 3, 5, 0, 0, 0)`,
        `INSERT INTO "LiveStreamSpan" VALUES ($1, $2, 900, '2020-01-01T00:00Z', 5, 5, 5, 5)`,
      ],
    ],
    [
      "viewers that are gone",
      [
        `DELETE FROM "ShowViewer" ${ofShowNumber} AND "viewerId" < 'viewer-2'::bytea`,
        `UPDATE "ShowViewer" SET seen = seen & 3 ${ofShowNumber} AND "viewerId" < 'viewer-3'::bytea`,
        `UPDATE "ShowViewer" SET minutes = 0 ${ofShowNumber} AND "viewerId" > 'viewer-4'::bytea`,
        `DELETE FROM "ShowPresence" ${ofShowNumber} AND "viewerId" < 'viewer-3'::bytea`,
        `UPDATE "ShowPresence" SET minutes = 0 ${ofShowNumber} AND "viewerId" > 'viewer-3'::bytea`,
      ],
    ],
    [
      "when viewers came",
      [
        `UPDATE "ShowViewer" SET "firstViewAt" = 'infinity' ${ofShowNumber} AND "viewerId" < 'viewer-3'::bytea`,
        `UPDATE "ShowViewer" SET "firstViewAt" = '2020-01-01T00:00Z' ${ofShowNumber} AND "viewerId" > 'viewer-3'::bytea`,
      ],
    ],
    [
      "viewers without events",
      [
        `INSERT INTO "ShowViewer" SELECT 1, 0, number, 0, 5, 0, "storeId", 'ghost', 'mobile', '', 'unknown', 'infinity'
          FROM "LiveStream" WHERE "storeId" = $1 AND id = $2`,
        `INSERT INTO "ShowPresence" SELECT 1, 0, number, 0, "storeId", "viewerId" FROM "LiveStream" AS s, (
          SELECT 'ghost'::bytea AS "viewerId" UNION ALL SELECT 'viewer-1') AS v
          WHERE "storeId" = $1 AND id = $2`,
        `UPDATE "ShowViewer" SET seen = 15, minutes = minutes | 7 ${ofShowNumber}`,
      ],
    ],
  ])("%s", async (_, statements) => {
    const show = await newShow(db);
    const events = someEvents(200);
    await recordAll(db, show, events, 200); // one batch, whose order the events themselves tell
    const before = await storedTotals(db, show);
    for (const statement of statements) expect(await change(db, show, statement)).toBeGreaterThan(0);
    expect(await storedTotals(db, show)).not.toEqual(before);
    await rebuildAnalytics(db, show.storeId, show.lsId);
    expect(await storedTotals(db, show)).toEqual(before);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });
});

describe("the device of a viewer", () => {
  const view = (fields: Partial<SentEvent>): SentEvent => ({
    id: randomUUID(),
    type: "VIEW",
    channel: "LIVE",
    viewerId: "ann",
    occurredAt: "2026-05-04T18:30:00Z",
    ...fields,
  });
  const devices = async (show: ShowKey) => (await storedTotals(db, show))["viewers"];

  test("is that of the first event that was accepted on the channel", async () => {
    const show = await newShow(db);
    await recordAll(
      db,
      show,
      [
        view({ id: "c", device: "Tablet" }),
        view({ id: "b", channel: "REPLAY" }),
        view({ id: "a", channel: "REPLAY", device: "mobile" }),
        view({ id: "d", channel: "REPLAY", device: "watch", type: "ADD_TO_CART" }),
      ],
      4,
    );
    await recordAll(db, show, [view({ id: "0", device: "desktop" })]);
    await change(
      db,
      show,
      `UPDATE "ShowEvent" SET "acceptedAt" = '2020-01-01T00:00Z' ${ofShowNumber} AND id <> '0'::bytea`,
    );
    const before = await devices(show);
    await change(db, show, `DELETE FROM "ShowViewer" ${ofShowNumber}`);
    await rebuildAnalytics(db, show.storeId, show.lsId);
    expect(await devices(show)).toEqual(before);
    expect(before).toMatchObject([{ viewer: "ann", liveDevice: "tablet", replayDevice: "unknown" }]);
  });
});

test("counts batches that are recorded during repeated rebuilds once each", async () => {
  const show = await newShow(db);
  // Each viewer has one device, so that the figures do not depend on which batch comes first.
  const events = someEvents(2_000).map((event) => ({ ...event, device: `device of ${event.viewerId ?? "nobody"}` }));
  const sent: SentEvent[] = [];
  const rebuilt = new AbortController();
  // They go on for as long as there is rebuilding, so that no rebuild comes after them and mends what an earlier one did.
  const write = async (writer: number) => {
    for (let start = writer * 25; start < events.length && !rebuilt.signal.aborted; start += 100) {
      const batch = events.slice(start, start + 50); // overlaps its neighbour's
      sent.push(...batch);
      await recordEvents(db, show.storeId, show.lsId, asInputs(batch), { lockWaitMs: 60_000 });
    }
  };
  const rebuild = async () => {
    for (let round = 0; round < 3; round += 1) await rebuildAnalytics(db, show.storeId, show.lsId);
  };
  await Promise.all([rebuild().finally(() => rebuilt.abort()), ...[0, 1, 2, 3].map(write)]);
  expect(await figuresOf(db, show)).toEqual(expectedFigures(accepted(sent)));
});

describe("which shows are rebuilt", () => {
  const spoil = (show: ShowKey) => change(db, show, `UPDATE "LiveStreamTotal" SET orders = orders + 1 ${ofShow}`);

  test("only the named one", async () => {
    const one = await newShow(db);
    const other = await newShow(db, one.storeId);
    for (const show of [one, other]) {
      await recordAll(db, show, someEvents(20));
      await spoil(show);
    }
    const before = await storedTotals(db, other);
    await rebuildAnalytics(db, one.storeId, one.lsId);
    expect(await figuresOf(db, one)).toEqual(expectedFigures(someEvents(20)));
    expect(await storedTotals(db, other)).toEqual(before);
  });

  test("by default all of the store, by id, and none of other stores", async () => {
    const one = await newShow(db);
    const shows = [one, await newShow(db, one.storeId)];
    const foreign = await newShow(db);
    for (const show of [...shows, foreign]) {
      await recordAll(db, show, someEvents(20));
      await spoil(show);
    }
    const before = await storedTotals(db, foreign);
    const rebuilt = shows.map(({ lsId }) => lsId).toSorted();
    expect(await rebuildAnalytics(db, one.storeId)).toEqual({ rebuilt, pruned: [] });
    for (const show of shows) expect(await figuresOf(db, show)).toEqual(expectedFigures(someEvents(20)));
    expect(await storedTotals(db, foreign)).toEqual(before);
  });

  test("refuses a show that the store does not have", async () => {
    const [{ storeId }, foreign] = [await newShow(db), await newShow(db)];
    for (const lsId of ["nowhere", foreign.lsId, "\0"]) {
      await expect(rebuildAnalytics(db, storeId, lsId)).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
    }
  });
});
