import { describe, expect, test } from "vitest";
import type { ShopperEventInput } from "../../../src/events/events.input.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { pruneBefore, showsWithEventsBefore } from "../../../src/figures/totals/pruneBefore.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { pruneAllStores } from "../../../src/figures/totals/retention.js";
import { openTestDatabase } from "../../support/app.js";
import { stopClock } from "../../support/clock.js";
import {
  asInputs,
  expectedFigures,
  figuresOf,
  newShow,
  oldShow,
  onlyOldShows,
  type ShowKey,
  someEvents,
} from "../../support/figures.js";
import { rowsOfShow } from "../../support/figures/storedEvents.js";
import { recordAll, storedTotals } from "../../support/figures/totals.js";

const { client: db } = openTestDatabase();

const cutoff = new Date("2026-05-04T19:10:30Z");
const isOld = ({ occurredAt }: { occurredAt?: string }) => Date.parse(occurredAt ?? "") < cutoff.getTime();

async function end({ storeId, lsId }: ShowKey): Promise<void> {
  const startedAt = new Date("2026-05-04T18:30:00Z");
  await saveLiveStream(db, storeId, { id: lsId, name: "Show", status: "ENDED", startedAt, durationSeconds: 7_200 });
}

async function endedShow(count = 200) {
  const show = await newShow(db);
  const events = someEvents(count);
  await recordAll(db, show, events, 200);
  await end(show);
  return { show, events };
}

const eventsOf = async (show: ShowKey) => db.showEvent.count({ where: await rowsOfShow(db, show) });

describe("the events of an ended show before a time", () => {
  test("are removed without changing figures, which cannot be rebuilt any more, and a second run finds nothing", async () => {
    const { show, events } = await endedShow();
    const [before, old] = [await storedTotals(db, show), events.filter(isOld)];
    expect(old.length).toBeGreaterThan(50);
    expect(await pruneBefore(db, show.storeId, show.lsId, { before: cutoff, pageRows: 30 })).toBe(old.length);
    expect(await eventsOf(show)).toBe(events.length - old.length);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
    expect(await rebuildAnalytics(db, show.storeId)).toEqual({ rebuilt: [], pruned: [show.lsId] });
    expect(await storedTotals(db, show)).toEqual(before);
    expect(await showsWithEventsBefore(db, show.storeId, cutoff)).toEqual([]);
    expect(await pruneBefore(db, show.storeId, show.lsId, { before: cutoff })).toBe(0);
  });

  test("are refused by their time when they are sent again; later ones are known, and so are the viewers", async () => {
    const { show, events } = await endedShow();
    await pruneBefore(db, show.storeId, show.lsId, { before: cutoff });
    const old = asInputs(events.filter(isOld)).slice(0, 1);
    await expect(recordEvents(db, show.storeId, show.lsId, old)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      message: expect.stringContaining(
        "occurredAt must be at least 2026-05-04T19:10:30.000Z, before which the events of the show were removed",
      ),
    });
    const known = asInputs(events.filter((event) => !isOld(event)));
    expect(await recordEvents(db, show.storeId, show.lsId, known)).toEqual({ accepted: 0, duplicates: known.length });
    const viewers = (await figuresOf(db, show)).kpis.viewers;
    const occurredAt = new Date();
    const returning = asInputs(events.filter((event) => isOld(event) && event.type === "VIEW"));
    const again = returning.map((event): ShopperEventInput => ({ ...event, id: `again ${event.id}`, occurredAt }));
    await recordEvents(db, show.storeId, show.lsId, again);
    expect((await figuresOf(db, show)).kpis.viewers).toEqual(viewers);
  });

  test("are removed by one run at a time, and an interrupted run is completed by the next", async () => {
    const clock = stopClock();
    const { show, events } = await endedShow();
    const { storeId, lsId } = show;
    const stopped = pruneBefore(db, storeId, lsId, {
      before: cutoff,
      pageRows: 30,
      onPage() {
        throw new Error("killed");
      },
    });
    await expect(stopped).rejects.toThrow("killed");
    expect(await pruneBefore(db, storeId, lsId, { before: cutoff }), "another is at it").toBeUndefined();
    clock.pass(180_000);
    expect(await showsWithEventsBefore(db, storeId, cutoff)).toEqual([lsId]);
    await pruneBefore(db, storeId, lsId, { before: cutoff });
    expect(await eventsOf(show)).toBe(events.filter((event) => !isOld(event)).length);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
  });

  test("are removed while others are recorded, and each counts once", async () => {
    const { show, events } = await endedShow(100);
    const { storeId, lsId } = show;
    const more = someEvents(400)
      .filter((event) => !isOld(event))
      .map((event) => ({ ...event, id: `more ${event.id}` }));
    const pruning = pruneBefore(db, storeId, lsId, { before: cutoff, pageRows: 20 });
    for (let start = 0; start < more.length; start += 60) {
      await recordEvents(db, storeId, lsId, asInputs(more.slice(start, start + 60)));
    }
    await pruning;
    expect(await figuresOf(db, show)).toEqual(expectedFigures([...events, ...more]));
  });

  test("are kept while it is live", async () => {
    const show = await newShow(db);
    await recordAll(db, show, someEvents(100));
    expect(await pruneBefore(db, show.storeId, show.lsId, { before: cutoff })).toBeUndefined();
    expect(await eventsOf(show)).toBe(100);
  });
});

test("removes old events of ended shows of all stores, and viewers too of archived ones that ended before", async () => {
  await onlyOldShows();
  const [first, second] = [await oldShow(db, 100), await oldShow(db, 100)];
  await saveLiveStream(db, second.show.storeId, { ...second.saved, status: "ARCHIVED" });
  const result = await pruneAllStores(db, { before: new Date("2020-05-04T19:10:30Z") });
  const later = await pruneAllStores(db, { before: new Date("2020-05-05T18:30:00Z") });
  const own = ({ shows }: typeof result) =>
    shows.filter(({ store }) => [first.show.storeId, second.show.storeId].includes(store)).length;
  expect([own(result), own(later)]).toEqual([2, 2]);
  expect(await eventsOf(first.show)).toBe(0);
  expect(await db.showViewer.count({ where: await rowsOfShow(db, first.show) })).toBeGreaterThan(0);
  expect(await db.showViewer.count({ where: await rowsOfShow(db, second.show) })).toBe(0);
  for (const { show, events } of [first, second]) expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
});
