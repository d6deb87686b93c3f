// @engine both
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { pruneBefore } from "../../../src/figures/totals/pruneBefore.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import { createTestStore, openTestApp, openTestDatabase } from "../../support/app.js";
import { asInputs, insertShows } from "../../support/figures.js";
import { intervalFigures, ordersWithin, unknownIfRemoved } from "../../support/intervalOracle.js";
import { accepted, type SentEvent } from "../../support/oracle.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
/** Another process, as far as the database knows. */
const { client: other } = openTestDatabase();
const store = await createTestStore(app);

const start = Date.parse("2026-05-04T18:30:00Z") / 1_000;
const lengthMax = 600;
const iso = (second: number) => new Date(second * 1_000).toISOString();

const cents = fc.integer({ min: 0, max: 10_000 }).map((units) => units / 100);
const products = fc.constantFrom("shirt", "scarf", "hat");
const line = fc.record({ productId: products, quantity: fc.integer({ min: 1, max: 3 }), amount: cents });
const eventOf = fc
  .record({
    type: fc.constantFrom("VIEW", "VIEW", "VIEW", "ADD_TO_CART", "ADD_TO_CART", "ORDER", "ORDER", "REFUND"),
    id: fc.integer({ min: 0, max: 40 }).map((id) => `e${id}`),
    viewer: fc.constantFrom("a", "b", "c", "d"),
    isNamed: fc.boolean(),
    seconds: fc.oneof(
      fc.constantFrom(0, 1, 10, 60, 3_600),
      fc.integer({ min: 0, max: 900 }).map((tenths) => tenths / 10),
    ),
    price: cents,
    productId: fc.option(products),
    lines: fc.option(fc.array(line, { maxLength: 2 })),
    ms: fc.oneof(
      fc.integer({ min: -30_000, max: lengthMax * 1_000 + 30_000 }),
      fc.integer({ min: -1, max: lengthMax }).map((second) => second * 1_000),
    ),
  })
  .map(({ type, id, viewer, isNamed, seconds, price, productId, lines, ms }): SentEvent => {
    const isSale = type === "ORDER" || type === "REFUND";
    const ofLines = (lines ?? []).reduce((sum, { amount }) => sum + amount, 0);
    return {
      id,
      type,
      channel: "LIVE",
      occurredAt: new Date(start * 1_000 + ms).toISOString(),
      viewerId: isSale && !isNamed ? null : viewer,
      productId,
      ...(type === "VIEW" && { seconds }),
      ...(isSale && { amount: Math.round((price + ofLines) * 100) / 100, lines }),
    };
  });

const batches = fc.array(fc.array(eventOf, { maxLength: 15 }), { minLength: 1, maxLength: 4 });
/** Seconds that divide a show; some are those of minutes. */
const divisions = fc
  .uniqueArray(
    fc.oneof(
      fc.integer({ min: 1, max: lengthMax - 1 }),
      fc.integer({ min: 1, max: lengthMax / 60 - 1 }).map((minute) => minute * 60),
    ),
    { maxLength: 6 },
  )
  .map((inner) => [-3_700, ...inner.toSorted((a, b) => a - b), lengthMax + 60].map((second) => start + second));

const figures = `seconds sales netSales orders quantity addToCart viewersAtStart peakViewers averageViewers newViewers isExact`;
const ofProduct = "ofProduct { sales orders quantity addToCart carts }";

/** Records batches in turns by two processes, and both at once. */
async function recordByBoth(lsId: string, sent: readonly SentEvent[][]) {
  const record = (events: readonly SentEvent[], place: number) =>
    recordEvents(place % 2 === 0 ? app.db : other, store.id, lsId, asInputs(events));
  await Promise.all(sent.map(record));
}

/** An id has one content, since batches arrive in any order. */
const settled = batches.map((sent) => {
  const ids = new Set<string>();
  return sent.map((events) => events.filter(({ id }) => !ids.has(id) && ids.add(id)));
});

let shows = 0;
async function newShow() {
  const id = `intervals ${shows++}`;
  await insertShows(app.db, store.id, [{ id, status: "ENDED", startedAt: iso(start) }]);
  return id;
}

async function readIntervals(lsId: string, bounds: readonly number[]) {
  const intervals = bounds.slice(1).map((until, index) => ({ from: bounds[index] ?? until, until }));
  const fields = intervals.map(
    ({ from, until }, index) => `i${index}: between(from: "${iso(from)}", until: "${iso(until)}") { ${figures} }
      m${index}: between(from: "${iso(from)}", until: "${iso(until)}") { sales orders addToCart }`,
  );
  const { data } = await store.graphql(
    `{ liveStreamAnalytics(lsId: "${lsId}") { kpis { sales { total } orders { total } } ${fields.join(" ")} } }`,
  );
  const answer = data.liveStreamAnalytics;
  return {
    kpis: answer.kpis,
    intervals: intervals.map((interval, index) => ({
      ...interval,
      all: answer[`i${index}`],
      ofMinutes: answer[`m${index}`],
    })),
  };
}

test("intervals equal the oracle, and those that follow each other add up to the show", async () => {
  const property = fc.asyncProperty(settled, divisions, fc.boolean(), async (sent, bounds, isRebuilt) => {
    const lsId = await newShow();
    await recordByBoth(lsId, [...sent, (sent[0] ?? []).toReversed()]);
    if (isRebuilt) await rebuildAnalytics(app.db, store.id, lsId);
    const events = accepted(sent.flat());
    const { kpis, intervals } = await readIntervals(lsId, bounds);
    for (const { from, until, all, ofMinutes } of intervals) {
      const { ofProduct: _, ...expected } = intervalFigures(events, from, until);
      expect(all).toEqual(expected);
      expect(ofMinutes).toEqual({ sales: all.sales, orders: all.orders, addToCart: all.addToCart });
    }
    const total = intervals.reduce((sum, { all }) => sum + Math.round(all.sales * 100), 0);
    expect(total).toBe(Math.round(kpis.sales.total * 100));
    expect(intervals.reduce((sum, { all }) => sum + all.orders, 0)).toBe(kpis.orders.total);
  });
  await fc.assert(property);
});

test("moments have the figures of their time and their product", async () => {
  const moment = fc.record({
    kind: fc.constantFrom("PIN", "SEGMENT"),
    at: fc.integer({ min: 0, max: lengthMax }),
    length: fc.option(fc.integer({ min: 0, max: 200 })),
    productId: products,
  });
  const moments = fc.array(moment, { minLength: 1, maxLength: 5 });
  const minutes = fc.constantFrom(0, 1, 3, 30);
  const property = fc.asyncProperty(settled, moments, minutes, async (sent, given, within) => {
    const lsId = await newShow();
    await recordByBoth(lsId, sent);
    const saved = given.map(({ kind, at, length, productId }, index) => ({
      id: `m${index}`,
      kind,
      productId,
      startedAt: iso(start + at),
      endedAt: length === null ? null : iso(start + at + length),
    }));
    const save =
      "mutation ($lsId: String!, $moments: [MomentInput!]!) { saveMoments(lsId: $lsId, moments: $moments) { created } }";
    expect(await store.graphql(save, { lsId, moments: saved })).toEqual({
      data: { saveMoments: { created: saved.length } },
    });
    const { data } = await store.graphql(`{ liveStreamAnalytics(lsId: "${lsId}") {
      moments { id startedAt endedAt productId figures { ${figures} ${ofProduct} } late: figures { ofProduct { ordersWithin(minutes: ${within}) } } } } }`);
    const events = accepted(sent.flat());
    const sorted = saved.toSorted((a, b) => (a.startedAt + a.id < b.startedAt + b.id ? -1 : 1));
    const expected = sorted.map(({ id, kind, startedAt, endedAt, productId }, index) => {
      const next = sorted.slice(index + 1).find((later) => later.kind === kind)?.startedAt;
      const end = [endedAt ?? iso(start + 3_600), ...(next === undefined ? [] : [next])].toSorted()[0] ?? "";
      const [from, until] = [Date.parse(startedAt) / 1_000, Date.parse(end) / 1_000];
      const late = { ofProduct: { ordersWithin: ordersWithin(events, { from, until, productId, minutes: within }) } };
      return { id, startedAt, endedAt: end, productId, figures: intervalFigures(events, from, until, productId), late };
    });
    expect(data.liveStreamAnalytics.moments).toEqual(expected);
  });
  await fc.assert(property);
});

test("intervals whose events were removed are those of minutes, and still add up with the others", async () => {
  const property = fc.asyncProperty(
    settled,
    divisions,
    fc.integer({ min: 0, max: lengthMax }),
    async (sent, bounds, cutoff) => {
      const lsId = await newShow();
      await recordByBoth(lsId, sent);
      await pruneBefore(app.db, store.id, lsId, { before: new Date((start + cutoff) * 1_000) });
      const events = accepted(sent.flat());
      const { kpis, intervals } = await readIntervals(lsId, bounds);
      for (const { from, until, all } of intervals) {
        const { ofProduct: _, ...exact } = intervalFigures(events, from, until);
        const isOfMinute = (second: number) => second % 60 === 0 || Math.floor(second / 60) * 60 >= start + cutoff;
        if (from >= start + cutoff && isOfMinute(from)) {
          expect(all).toEqual(exact);
          continue;
        }
        const [first, end] = [from, until].map((second) =>
          isOfMinute(second) ? second : Math.floor(second / 60) * 60,
        );
        const { seconds, sales, orders, addToCart } = intervalFigures(events, first ?? 0, end ?? 0);
        expect(all).toEqual({ seconds, sales, orders, addToCart, ...unknownIfRemoved, isExact: false });
      }
      const total = intervals.reduce((sum, { all }) => sum + Math.round(all.sales * 100), 0);
      expect(total).toBe(Math.round(kpis.sales.total * 100));
    },
  );
  await fc.assert(property, { numRuns: 30 });
});
