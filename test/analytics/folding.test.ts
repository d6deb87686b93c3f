import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordEvents } from "../../src/analytics/events/events.record.js";
import { foldTotals } from "../../src/analytics/totals/fold.js";
import { rebuildAnalytics } from "../../src/analytics/totals/rebuild.js";
import { readTimeline } from "../../src/analytics/kpis/timeline.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { testDatabase } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";
import { accepted, type SentEvent, timeline, toldApart } from "../support/oracle.js";

let database: OpenDatabase;
let db: OpenDatabase["client"];
beforeAll(() => {
  database = testDatabase();
  db = database.client;
});
afterAll(() => database.close());

const startMs = Date.parse("2026-05-04T18:30:00Z");
const limits = { devices: 3, products: 2 };
const minuteMs = 60_000;

/** Times of a day before the show's start until three days after it, of which some come again and again. */
const minute = fc.oneof(fc.integer({ min: -1_440, max: 4_320 }), fc.integer({ min: -20, max: 50 }));

const event = fc
  .record({
    id: fc.integer({ min: 0, max: 200 }).map(String),
    type: fc.constantFrom("VIEW", "ADD_TO_CART", "ORDER"),
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

/** A batch; whether totals are folded beside it, and after it. */
const step = fc.record({ events: fc.array(event, { maxLength: 20 }), beside: fc.boolean(), after: fc.boolean() });

const span = fc.record({
  bucketSeconds: fc.constantFrom(60, 420, 900, 2_700, 3_600, 5_400, 86_340, 86_400),
  from: fc.option(minute),
  minutes: fc.option(fc.integer({ min: 0, max: 3_000 })),
});

function momentOf(at: number | null): Date | null {
  return at === null ? null : new Date(startMs + at * minuteMs + 29_000);
}

test("folding, at any moment, and rebuilding change no figure: late events, devices and products beyond what is told apart", async () => {
  const { storeId } = await newShow(db);
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 8 }),
    fc.array(span, { minLength: 1, maxLength: 5 }),
    async (steps, spans) => {
      const show = await newShow(db, storeId);
      const { lsId } = show;
      const arrived: SentEvent[] = [];
      const check = async () => {
        const events = toldApart(arrived, limits);
        expect(await figuresOf(db, show)).toEqual(expectedFigures(events));
        for (const { bucketSeconds, from, minutes } of spans) {
          const start = momentOf(from);
          const until = minutes === null ? null : momentOf((from ?? 0) + minutes);
          const buckets = await readTimeline(db, storeId, lsId, bucketSeconds, { from: start, until });
          const expected = timeline(within(events, start, until), bucketSeconds);
          expect(buckets.map((bucket) => ({ ...bucket, startsAt: bucket.startsAt.toISOString() }))).toEqual(expected);
        }
      };
      for (const { events, beside, after } of steps) {
        arrived.push(...events);
        await Promise.all([
          recordEvents(db, storeId, lsId, asInputs(events), { limits }),
          beside ? foldTotals(db, storeId, lsId) : undefined,
        ]);
        if (after) await foldTotals(db, storeId, lsId);
        await check();
      }
      await rebuildAnalytics(db, storeId, lsId, limits);
      await check();
    },
  );
  await fc.assert(property, { numRuns: 20 });
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
    await db.liveStreamDevice.count({ where }),
    await db.liveStreamProduct.count({ where }),
  ];
  return counts.reduce((sum, count) => sum + count);
}

describe("beside many writers", () => {
  test("folding waits for none of them, and every event counts once", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const events = someEvents(6_000).map((each) => ({ ...each, device: `device of ${each.viewerId ?? "nobody"}` }));
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

  test("rows that are not folded never become many, whatever is sent", async () => {
    const show = await newShow(db);
    const most = { slots: 0 };
    for (let batch = 0; batch < 12; batch += 1) {
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

describe("a show keeps as many names as it may", () => {
  const cart = (name: string, fields: Partial<SentEvent> = {}): SentEvent => ({
    id: `${fields.channel ?? "LIVE"} ${name}`,
    type: "ADD_TO_CART",
    channel: "LIVE",
    viewerId: name,
    device: name,
    productId: name,
    occurredAt: new Date(startMs).toISOString(),
    ...fields,
  });

  test("the first 1,000 devices of each channel and the first 10,000 products; reading stays bounded", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const sent: SentEvent[] = [];
    for (let batch = 0; batch < 3; batch += 1) {
      const events = Array.from({ length: 4_000 }, (_, n) => cart(`name ${batch} ${n}`));
      sent.push(...events);
      await recordEvents(db, storeId, lsId, asInputs(events));
    }
    const where = { storeId, liveStreamId: lsId, slot: -1 };
    expect(await db.liveStreamDevice.count({ where: { ...where, device: { not: "other" } } })).toBe(1_000);
    expect(await db.liveStreamProduct.count({ where })).toBe(10_000);
    const figures = expectedFigures(toldApart(sent, { devices: 1_000, products: 10_000 }));
    expect(await figuresOf(db, show)).toEqual(figures);
    await rebuildAnalytics(db, storeId, lsId);
    expect(await figuresOf(db, show)).toEqual(figures);
  });

  test("no more than these however many batches bring new ones at the same time", async () => {
    const show = await newShow(db);
    const { storeId, lsId } = show;
    const batches = Array.from({ length: 8 }, (_, batch) =>
      Array.from({ length: 10 }, (__, n) => cart(`${batch} ${n}`)),
    );
    const few = { devices: 15, products: 12 };
    await Promise.all(
      batches.map((events) => recordEvents(db, storeId, lsId, asInputs(events), { limits: few, lockWaitMs: 25_000 })),
    );
    const where = { storeId, liveStreamId: lsId, slot: -1 };
    expect(await db.liveStreamDevice.count({ where: { ...where, device: { not: "other" } } })).toBe(15);
    expect(await db.liveStreamProduct.count({ where })).toBe(12);
    const before = await figuresOf(db, show);
    expect(before.topProducts).toHaveLength(12);
    await rebuildAnalytics(db, storeId, lsId, few);
    expect(await figuresOf(db, show)).toEqual(before);
  });

  test("each channel its own, and `other` is none of them", async () => {
    const show = await newShow(db);
    const few = { devices: 1, products: 1 };
    const events = [
      cart("other"),
      cart("tv"),
      cart("watch"),
      cart("watch", { channel: "REPLAY" }),
      cart("tv", { channel: "REPLAY" }),
    ];
    for (const each of events) await recordEvents(db, show.storeId, show.lsId, asInputs([each]), { limits: few });
    const { devicesByChannel, topProducts } = await figuresOf(db, show);
    expect(devicesByChannel).toEqual([
      {
        channel: "LIVE",
        devices: [
          { device: "other", value: 66.67 },
          { device: "tv", value: 33.33 },
        ],
      },
      {
        channel: "REPLAY",
        devices: [
          { device: "other", value: 50 },
          { device: "watch", value: 50 },
        ],
      },
    ]);
    expect(topProducts).toEqual([{ productId: "other", carts: 1 }]);
  });

  test("none of a batch that is refused", async () => {
    const show = await newShow(db);
    const few = { devices: 1, products: 1 };
    const early = cart("early", { occurredAt: "2026-01-01T00:00:00Z" });
    const refused = recordEvents(db, show.storeId, show.lsId, asInputs([early]), { limits: few });
    await expect(refused).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
    await recordEvents(db, show.storeId, show.lsId, asInputs([cart("tv")]), { limits: few });
    expect((await figuresOf(db, show)).topProducts).toEqual([{ productId: "tv", carts: 1 }]);
  });
});
