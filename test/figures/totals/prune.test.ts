import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { pruneEvents, type PruneProgress } from "../../../src/figures/totals/prune.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { openTestDatabase } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { rowsOfShow } from "../../support/figures/storedEvents.js";

const { client: db } = openTestDatabase();

const events = someEvents(120);
const figures = expectedFigures(events);
/** When the shows of these tests end. */
const endedAt = new Date("2026-05-04T19:30:00Z");
const later = new Date(endedAt.getTime() + 1);

async function save({ storeId, lsId }: ShowKey, status: "ENDED" | "ARCHIVED"): Promise<void> {
  const startedAt = new Date("2026-05-04T18:30:00Z");
  await saveLiveStream(db, storeId, { id: lsId, name: "Show", status, startedAt, durationSeconds: 3_600 });
}

/** A show with all events: of a new store, or of the one given. */
async function showWithEvents(status: "ENDED" | "ARCHIVED", store?: string): Promise<ShowKey> {
  const show = await newShow(db, store);
  await recordEvents(db, show.storeId, show.lsId, asInputs(events));
  await save(show, status);
  return show;
}

/** How many rows there are of each kind that pruning is about, and whether the show is marked. */
async function rowsOf(show: ShowKey) {
  const where = await rowsOfShow(db, show);
  const { prunedAt } = await db.liveStream.findFirstOrThrow({ where: { storeId: where.storeId, number: where.show } });
  return {
    events: await db.showEvent.count({ where }),
    viewers: await db.showViewer.count({ where }),
    presence: await db.showPresence.count({ where }),
    isMarked: prunedAt !== null,
  };
}

const nothing = { events: 0, viewers: 0, presence: 0, isMarked: true };
const viewerRows = ({ viewers, presence }: Awaited<ReturnType<typeof rowsOf>>) => viewers + presence;

describe("pruning an archived show", () => {
  test("removes its events and distinct viewers, and changes no figure", async () => {
    const show = await showWithEvents("ARCHIVED");
    const before = await rowsOf(show);
    expect(before).toMatchObject({ events: events.length, isMarked: false });
    expect(Math.min(before.viewers, before.presence)).toBeGreaterThan(20);
    expect(await pruneEvents(db, show.storeId, { before: later })).toEqual({
      shows: [show.lsId],
      events: events.length,
      viewerRows: viewerRows(before),
    });
    expect(await rowsOf(show)).toEqual(nothing);
    expect(await figuresOf(db, show)).toEqual(figures);
    expect(await pruneEvents(db, show.storeId, { before: later })).toEqual({ shows: [], events: 0, viewerRows: 0 });
  });

  test("finishes it: later runs skip it, unless a row of any kind is left", async () => {
    const show = await newShow(db);
    const other = await newShow(db, show.storeId);
    for (const { storeId, lsId } of [show, other]) await save({ storeId, lsId }, "ARCHIVED");
    const gone: string[] = [];
    const prune = async () => {
      let showsTotal = 0;
      const onProgress = (progress: PruneProgress) => void (showsTotal = progress.showsTotal);
      gone.push(...(await pruneEvents(db, show.storeId, { before: later, onProgress })).shows);
      return showsTotal;
    };
    expect(await prune()).toBe(2);
    expect(await prune()).toBe(0);
    const row = { ...(await rowsOfShow(db, show)), viewerId: Buffer.from("v") };
    const moments = { occurredAt: endedAt, acceptedAt: endedAt, position: 1 };
    const codes = { type: 1, channel: 1, device: "", source: "", productId: "", orderId: "", lines: "", value: 0 };
    const minutes = { hour: 0, minutes: 1n, newMinutes: 0n };
    const firstViewAt = endedAt;
    const devices = { liveDevice: "unknown", replayDevice: "", source: "unknown", seen: 1, newSeen: 0 };
    for (const leave of [
      () => db.showEvent.create({ data: { ...row, ...codes, ...moments, id: Buffer.from("e") } }),
      () => db.showViewer.create({ data: { ...row, ...minutes, ...devices, firstViewAt } }),
      () => db.showPresence.create({ data: { ...row, ...minutes } }),
    ]) {
      gone.length = 0;
      await leave();
      expect(await prune()).toBe(1);
      expect(gone).toEqual([show.lsId]);
    }
    expect(await prune()).toBe(0);
  });

  test("removes rows in batches of the given size, and reports its progress", async () => {
    const show = await showWithEvents("ARCHIVED");
    const before = await rowsOf(show);
    const seen: PruneProgress[] = [];
    const onProgress = (progress: PruneProgress) => void seen.push(progress);
    await pruneEvents(db, show.storeId, { before: later, batchRows: 25, onProgress });
    const steps = seen.map(({ rowsRemoved }, index) => rowsRemoved - (seen[index - 1]?.rowsRemoved ?? 0));
    expect(Math.max(...steps)).toBe(25);
    expect(seen.at(-1)).toEqual({ showsDone: 0, showsTotal: 1, rowsRemoved: events.length + viewerRows(before) });
    expect(await rowsOf(show)).toEqual(nothing);
    expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("is completed by another run after an interruption", async () => {
    const show = await showWithEvents("ARCHIVED");
    const before = await rowsOf(show);
    for (const interruptedAfter of [1, 3, 9]) {
      let batches = 0;
      const stopped = pruneEvents(db, show.storeId, {
        before: later,
        batchRows: 15,
        onProgress() {
          batches += 1;
          if (batches === interruptedAfter) throw new Error("interrupted");
        },
      });
      await expect(stopped).rejects.toThrow("interrupted");
      expect(await figuresOf(db, show)).toEqual(figures);
      await expect(rebuildAnalytics(db, show.storeId, show.lsId)).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
    }
    const left = await rowsOf(show);
    expect(left.events).toBeLessThan(before.events);
    expect(viewerRows(left)).toBeGreaterThan(0);
    const rest = { shows: [show.lsId], events: left.events, viewerRows: viewerRows(left) };
    expect(await pruneEvents(db, show.storeId, { before: later })).toEqual(rest);
    expect(await rowsOf(show)).toEqual(nothing);
    expect(await figuresOf(db, show)).toEqual(figures);
  });
});

describe("which shows are pruned", () => {
  test("all archived ones of the store that ended before, by id, and no others", async () => {
    const one = await showWithEvents("ARCHIVED");
    const { storeId } = one;
    const other = await showWithEvents("ARCHIVED", storeId);
    const kept = [await showWithEvents("ENDED", storeId), await showWithEvents("ARCHIVED")];
    const live = await newShow(db, storeId);
    expect(await pruneEvents(db, storeId, { before: endedAt })).toEqual({ shows: [], events: 0, viewerRows: 0 });
    const { shows, events: removed } = await pruneEvents(db, storeId, { before: later });
    expect({ shows, removed }).toEqual({ shows: [one.lsId, other.lsId].toSorted(), removed: 2 * events.length });
    for (const show of kept) expect(await rowsOf(show)).toMatchObject({ events: events.length, isMarked: false });
    expect(await rowsOf(live)).toMatchObject({ isMarked: false });
  });

  test("only the named one, which is refused if it is not archived, ended later, or belongs to another store", async () => {
    const one = await showWithEvents("ARCHIVED");
    const { storeId, lsId } = one;
    const [other, ended, foreign] = [
      await showWithEvents("ARCHIVED", storeId),
      await showWithEvents("ENDED", storeId),
      await showWithEvents("ARCHIVED"),
    ];
    const prune = (id: string, before = later) => pruneEvents(db, storeId, { lsId: id, before });
    await expect(prune(ended.lsId)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      message: `Only archived live streams can be pruned; ${ended.lsId} is ENDED.`,
    });
    await expect(prune(lsId, endedAt)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      message: `${lsId} did not end before ${endedAt.toISOString()}.`,
    });
    for (const id of [foreign.lsId, "nowhere"]) {
      await expect(prune(id)).rejects.toMatchObject({ code: "LIVE_STREAM_NOT_FOUND" });
    }
    expect(await prune(lsId)).toMatchObject({ shows: [lsId], events: events.length });
    for (const show of [other, ended, foreign]) expect(await rowsOf(show)).toMatchObject({ events: events.length });
  });
});

describe("rebuilding the totals of pruned shows", () => {
  test("refuses a named one, whose totals stay", async () => {
    const show = await showWithEvents("ARCHIVED");
    await pruneEvents(db, show.storeId, { before: later });
    await expect(rebuildAnalytics(db, show.storeId, show.lsId)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      message: `The events of ${show.lsId} were pruned: its totals cannot be rebuilt.`,
    });
    expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("skips them among all shows of a store, and reports that", async () => {
    const pruned = await showWithEvents("ARCHIVED");
    const { storeId } = pruned;
    await pruneEvents(db, storeId, { before: later });
    const whole = await showWithEvents("ARCHIVED", storeId);
    await db.liveStreamTotal.deleteMany({ where: { storeId, liveStreamId: whole.lsId } });
    expect(await rebuildAnalytics(db, storeId)).toEqual({ rebuilt: [whole.lsId], pruned: [pruned.lsId] });
    for (const show of [pruned, whole]) expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("concurrently with pruning never counts only the remaining events", async () => {
    const show = await showWithEvents("ARCHIVED");
    const rebuilds = [rebuildAnalytics(db, show.storeId)]; // before anything is removed, or not at all
    const onProgress = () => void rebuilds.push(rebuildAnalytics(db, show.storeId)); // between batches
    await pruneEvents(db, show.storeId, { before: later, batchRows: 60, onProgress });
    for (const { pruned } of (await Promise.all(rebuilds)).slice(1)) expect(pruned).toEqual([show.lsId]);
    expect(await figuresOf(db, show)).toEqual(figures);
    expect(await rowsOf(show)).toEqual(nothing);
  });
});
