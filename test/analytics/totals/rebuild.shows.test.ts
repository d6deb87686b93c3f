import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import { openTestDatabase } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { accepted, type SentEvent } from "../../support/oracle.js";
import { change, ofShow, recordAll, storedTotals } from "../../support/figures/totals.js";

const { client: db } = openTestDatabase();

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
