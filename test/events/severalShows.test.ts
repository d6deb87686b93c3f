import { expect, test } from "vitest";
import { recordEvents, recordShows } from "../../src/events/record/events.record.js";
import { rebuildAnalytics } from "../../src/figures/totals/rebuild.js";
import { openTestDatabase } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, someEvents } from "../support/figures.js";
import type { SentEvent } from "../support/oracle.js";

const { client: db } = openTestDatabase();

test("counts events of several shows in one statement for their own show, with the same ids and viewers in all, before and after a rebuild", async () => {
  const first = await newShow(db);
  const { storeId } = first;
  const shows = [first, await newShow(db, storeId), await newShow(db, storeId)];
  const all = someEvents(240);
  // Different parts of the same events, so that ids, viewers, devices and products are in several shows.
  const sent: SentEvent[][] = [all.slice(0, 160), all.slice(40, 240), all.slice(120, 200)];
  for (const [index, { lsId }] of shows.entries()) {
    await recordEvents(db, storeId, lsId, asInputs(sent[index]?.slice(0, 40) ?? [])); // keeps the names
  }
  const counts = shows.map(() => ({ accepted: 0, duplicates: 0 }));
  for (let from = 20; from < 200; from += 20) {
    const batches = shows.map(({ lsId }, index) => ({
      lsId,
      events: asInputs(sent[index]?.slice(from, from + 20) ?? []),
    }));
    const outcomes = await recordShows(db, storeId, batches);
    for (const [index, outcome] of outcomes.entries()) {
      const value = outcome?.status === "fulfilled" ? outcome.value : undefined;
      const receipt =
        value ?? (await recordEvents(db, storeId, shows[index]?.lsId ?? "", batches[index]?.events ?? []));
      const count = counts[index];
      if (count === undefined) throw new Error("each show has a count");
      count.accepted += receipt.accepted;
      count.duplicates += receipt.duplicates;
    }
  }
  expect(counts).toEqual(sent.map(({ length }) => ({ accepted: length - 40, duplicates: 20 })));
  for (const [index, show] of shows.entries()) {
    const expected = expectedFigures(sent[index] ?? []);
    expect(await figuresOf(db, show)).toEqual(expected);
    await rebuildAnalytics(db, storeId, show.lsId);
    expect(await figuresOf(db, show)).toEqual(expected);
  }
});

test("refuses each show of a statement separately", async () => {
  const live = await newShow(db);
  const { storeId } = live;
  // A REFUND has no name that the show would have to keep first.
  const events = asInputs([{ id: "e", type: "REFUND", channel: "LIVE", amount: 5 }]);
  const invalid = asInputs([{ id: "", type: "ORDER", channel: "LIVE", amount: 5 }]);
  const other = await newShow(db);
  const outcomes = await recordShows(db, storeId, [
    { lsId: "nowhere", events },
    { lsId: live.lsId, events },
    { lsId: other.lsId, events },
    { lsId: "invalid", events: invalid },
  ]);
  const nowhere = { status: "rejected", reason: expect.objectContaining({ code: "LIVE_STREAM_NOT_FOUND" }) };
  expect(outcomes).toEqual([
    nowhere,
    { status: "fulfilled", value: { accepted: 1, duplicates: 0 } },
    nowhere, // it belongs to another store
    { status: "rejected", reason: expect.objectContaining({ code: "VALIDATION_FAILED" }) },
  ]);
  expect(await db.showEvent.count({ where: { storeId: other.storeId } })).toBe(0);
});
