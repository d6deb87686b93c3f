import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { readTimeline } from "../../../src/figures/show/timeline.js";
import { openTestDatabase } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import { storedTotals } from "../../support/figures/totals.js";
import { accepted, type SentEvent, timeline, toldApart } from "../../support/oracle.js";

const { client: db } = openTestDatabase();

const startMs = Date.parse("2026-05-04T18:30:00Z");
const limits = { devices: 3, sources: 50, products: 2 };
const minuteMs = 60_000;

/** Times of a day before the show's start until three days after it, of which some come again and again. */
const minute = fc.oneof(fc.integer({ min: -1_440, max: 4_320 }), fc.integer({ min: -20, max: 50 }));

const event = fc
  .record({
    id: fc.integer({ min: 0, max: 200 }).map(String),
    type: fc.constantFrom("VIEW", "ADD_TO_CART", "ORDER", "REFUND"),
    channel: fc.constantFrom("LIVE", "REPLAY"),
    viewerId: fc.constantFrom("ann", "bob", "cid", "dan", "eve", "fay", "gus"),
    device: fc.constantFrom("a", "B", "b", "c", "d", "other", "", null),
    seconds: fc.integer({ min: 0, max: 100 }),
    amount: fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100),
    productId: fc.constantFrom("p", "q", "r", "s", null),
    minute,
  })
  .map(({ minute: at, ...others }): SentEvent => {
    const occurredAt = new Date(startMs + at * minuteMs + 1_500).toISOString();
    return { ...others, type: others.type, channel: others.channel, occurredAt };
  });

/** Batches, and whether totals are folded beside each, or after it. */
const steps = fc.array(
  fc.record({ events: fc.array(event, { maxLength: 12 }), fold: fc.constantFrom("not", "beside", "after") }),
  { minLength: 1, maxLength: 3 },
);

const span = fc.record({
  bucketSeconds: fc.constantFrom(60, 420, 900, 2_700, 3_600, 5_400, 86_340, 86_400),
  from: fc.option(minute),
  minutes: fc.option(fc.integer({ min: 0, max: 3_000 })),
});

function momentOf(at: number | null): Date | null {
  return at === null ? null : new Date(startMs + at * minuteMs + 29_000);
}

test("keeps every figure while totals are folded, and every row when they are rebuilt: late events, devices and products beyond the limits", async () => {
  const { storeId } = await newShow(db);
  const property = fc.asyncProperty(
    steps,
    span,
    fc.boolean(),
    async (sent, { bucketSeconds, from, minutes }, isRebuilt) => {
      const show = await newShow(db, storeId);
      const { lsId } = show;
      for (const { events, fold } of sent) {
        await Promise.all([
          recordEvents(db, storeId, lsId, asInputs(events), { limits }),
          fold === "beside" ? foldTotals(db, storeId, lsId) : undefined,
        ]);
        if (fold === "after") await foldTotals(db, storeId, lsId);
      }
      const counted = toldApart(
        sent.flatMap(({ events }) => events),
        limits,
      );
      expect(await figuresOf(db, show)).toEqual(expectedFigures(counted));
      const start = momentOf(from);
      const until = minutes === null ? null : momentOf((from ?? 0) + minutes);
      const buckets = await readTimeline(db, storeId, lsId, bucketSeconds, { from: start, until });
      const expected = timeline(within(counted, start, until), bucketSeconds);
      expect(buckets.map((bucket) => ({ ...bucket, startsAt: bucket.startsAt.toISOString() }))).toEqual(expected);
      if (!isRebuilt) return;
      await foldTotals(db, storeId, lsId);
      const before = await storedTotals(db, show);
      expect(await rebuildAnalytics(db, storeId, lsId, limits, 12)).toEqual({ rebuilt: [lsId], pruned: [] });
      expect(await storedTotals(db, show)).toEqual(before);
    },
  );
  await fc.assert(property);
});

/** Minutes count as a whole. */
function within(events: readonly SentEvent[], from: Date | null, until: Date | null): SentEvent[] {
  const minuteOf = (moment: string | Date | undefined) => Math.floor(new Date(moment ?? NaN).getTime() / minuteMs);
  return events.filter(({ occurredAt }) => {
    const at = minuteOf(occurredAt);
    return (from === null || at >= minuteOf(from)) && (until === null || at <= minuteOf(until));
  });
}

/** Rows that are not folded. */
async function slotsOf({ storeId, lsId: liveStreamId }: ShowKey): Promise<number> {
  const where = { storeId, liveStreamId, slot: { gte: 0 } };
  const counts = [
    await db.liveStreamMinute.count({ where }),
    await db.liveStreamGroup.count({ where }),
    await db.liveStreamProduct.count({ where }),
  ];
  return counts.reduce((sum, count) => sum + count);
}

describe("under concurrent batches", () => {
  test("folding does not wait, and every event counts once", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const events = someEvents(400).map((each) => ({ ...each, device: `device of ${each.viewerId ?? "nobody"}` }));
    const sent: SentEvent[] = [];
    const write = async (writer: number) => {
      for (let start = writer * 25; start < events.length; start += 100) {
        const batch = events.slice(start, start + 50); // overlaps its neighbour's
        sent.push(...batch);
        await recordEvents(db, storeId, lsId, asInputs(batch));
      }
    };
    const written = new AbortController();
    const fold = async () => {
      while (!written.signal.aborted) await foldTotals(db, storeId, lsId);
    };
    const writing = Promise.all([0, 1, 2, 3].map(write)).finally(() => written.abort());
    await Promise.all([writing, fold(), fold()]);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(accepted(sent)));
    await foldTotals(db, storeId, lsId);
    expect(await slotsOf(show)).toBe(0);
    expect(await figuresOf(db, show)).toEqual(expectedFigures(accepted(sent)));
  });

  test("the number of rows that are not folded stays bounded", async () => {
    const show = await newShow(db);
    const most = { slots: 0 };
    for (let batch = 0; batch < 4; batch += 1) {
      const events = Array.from({ length: 300 }, (_, n): SentEvent => {
        const occurredAt = new Date(startMs + (batch * 300 + n) * minuteMs).toISOString();
        const id = `${batch} ${n}`;
        return { id, type: "ADD_TO_CART", channel: "LIVE", viewerId: id, device: id, productId: id, occurredAt };
      });
      await recordEvents(db, show.storeId, show.lsId, asInputs(events));
      most.slots = Math.max(most.slots, await slotsOf(show));
    }
    expect(most.slots).toBeLessThanOrEqual(1_000);
  });
});
