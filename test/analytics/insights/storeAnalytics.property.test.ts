import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rebuildAnalytics } from "../../../src/analytics/totals/rebuild.js";
import { foldTotals } from "../../../src/analytics/totals/fold.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../support/app.js";
import type { SentEvent } from "../../support/oracle.js";
import { kpiFields, recorded, saved } from "../../support/shows.js";
import {
  before,
  type OracleRange,
  type OracleShow,
  storeKpis,
  storeTimeline,
  topShows,
} from "../../support/storeOracle.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ analyticsRateLimit: 0 });
});
afterAll(() => app.close());

const buckets = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
const orders = ["SALES", "ORDERS", "VIEWERS", "CONVERSION_RATE", "AVERAGE_VIEW_TIME"] as const;
const topFirst = 2;

const figures = `
  from until showCount kpis { ${kpiFields} }
  ${buckets.map((bucket) => `${bucket}: timeline(bucket: ${bucket}) { startsAt orders sales carts }`).join("\n")}
  ${orders.map((by) => `${by}: topShows(first: ${topFirst}, by: ${by}) { id kpis { ${kpiFields} } }`).join("\n")}
`;
const read = `query ($from: DateTime!, $until: DateTime!, $timeZone: String) {
  storeAnalytics(from: $from, until: $until, timeZone: $timeZone) { ${figures} previous { ${figures} } }
}`;

function expectedFigures(shows: readonly OracleShow[], range: OracleRange, timeZone: string) {
  return {
    from: range.from.toISOString(),
    until: range.until.toISOString(),
    ...storeKpis(shows, range),
    ...Object.fromEntries(buckets.map((bucket) => [bucket, storeTimeline(shows, range, timeZone, bucket)])),
    ...Object.fromEntries(orders.map((by) => [by, topShows(shows, range, by, topFirst)])),
  };
}

/** Time zones, and a moment at which their clocks change: forwards, backwards, at midnight, by half an hour, by a day. */
const changes = [
  ["UTC", "2026-01-01T00:00:00Z"],
  ["Europe/Berlin", "2026-03-29T01:00:00Z"],
  ["Europe/Berlin", "2025-10-26T01:00:00Z"],
  ["America/New_York", "2026-03-08T07:00:00Z"],
  ["America/Sao_Paulo", "2018-11-04T03:00:00Z"],
  ["America/Sao_Paulo", "2018-02-18T02:00:00Z"],
  ["America/Havana", "2025-11-02T05:00:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
  ["Asia/Kathmandu", "2025-12-31T18:15:00Z"],
  ["Africa/Casablanca", "2026-02-15T02:00:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z"],
] as const;

const minuteMs = 60_000;
/** Mostly near, but also weeks away: minutes, and milliseconds at their ends. */
const shift = (minutes: number) =>
  fc
    .tuple(
      fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: -minutes, max: minutes })),
      fc.constantFrom(0, 1, 59_999),
    )
    .map(([whole, ms]) => whole * minuteMs + ms);

const event = fc.record({
  kind: fc.constantFrom(
    { type: "VIEW", channel: "LIVE" },
    { type: "VIEW", channel: "REPLAY" },
    { type: "ADD_TO_CART", channel: "LIVE" },
    { type: "ORDER", channel: "LIVE" },
    { type: "ORDER", channel: "REPLAY" },
    { type: "ORDER", channel: "REFERRAL" },
    { type: "REFUND", channel: "LIVE" },
  ) satisfies fc.Arbitrary<Pick<SentEvent, "type" | "channel">>,
  id: fc.integer({ min: 0, max: 40 }),
  viewer: fc.integer({ min: 0, max: 5 }),
  device: fc.constantFrom("mobile", "desktop", "other", null),
  units: fc.integer({ min: 0, max: 10_000 }),
  after: shift(40_000),
});

const history = fc.record({
  startedAfter: shift(30_000),
  events: fc.array(event, { maxLength: 30 }),
  isFolded: fc.boolean(),
});

const stores = fc.tuple(fc.array(history, { maxLength: 4 }), fc.array(history, { minLength: 1, maxLength: 2 }));

function showsOf(around: number, histories: readonly (typeof history extends fc.Arbitrary<infer V> ? V : never)[]) {
  return histories.map(({ startedAfter, events, isFolded }, index) => ({
    id: `show-${index}`,
    startedAt: new Date(around + startedAfter).toISOString(),
    isFolded,
    events: events.map(({ kind, id, viewer, device, units, after }): SentEvent => {
      const occurred = Math.max(around + after, around + startedAfter - 86_400_000);
      const common = { ...kind, id: `e${id}`, occurredAt: new Date(occurred).toISOString() };
      if (kind.type === "ORDER" || kind.type === "REFUND") return { ...common, amount: units / 100 };
      return { ...common, viewerId: `v${viewer}`, device, ...(kind.type === "VIEW" && { seconds: units }) };
    }),
  }));
}

async function storeOf(shows: ReturnType<typeof showsOf>): Promise<TestStore> {
  const made = await createTestStore(app);
  for (const { id, startedAt, events, isFolded } of shows) {
    await saved(made, { id, startedAt });
    if (events.length > 0) await recorded(made, id, events);
    if (isFolded) await foldTotals(app.db, made.id, id);
  }
  return made;
}

/** @param change what is done to a store before it is asked */
function figuresFollow(change: (storeId: string) => Promise<unknown> = () => Promise.resolve()) {
  const untilAfter = fc.integer({ min: 0, max: 60 * 24 * 60 });
  return fc.asyncProperty(
    fc.constantFrom(...changes),
    stores,
    shift(30_000),
    untilAfter,
    async ([timeZone, changesAt], histories, fromAfter, minutes) => {
      const around = Date.parse(changesAt);
      const from = new Date(around + fromAfter);
      const range = { from, until: new Date(from.getTime() + minutes * minuteMs) };
      // Both stores have shows, events and viewers of the same ids.
      const made = await Promise.all(
        histories.map(async (some) => {
          const shows = showsOf(around, some);
          return { shows, store: await storeOf(shows) };
        }),
      );
      for (const { shows, store } of made) {
        await change(store.id);
        const previous = expectedFigures(shows, before(range), timeZone);
        const expected = { ...expectedFigures(shows, range, timeZone), previous };
        const answer = await store.graphql(read, { from: range.from, until: range.until, timeZone });
        expect(answer).toEqual({ data: { storeAnalytics: expected } });
      }
    },
  );
}

test("every figure follows from what was sent to the shows of the store", async () => {
  const property = figuresFollow();
  await expect(fc.assert(property, { numRuns: 60 })).resolves.toBeUndefined();
});

test("also after a rebuild", async () => {
  const property = figuresFollow((storeId) => rebuildAnalytics(app.db, storeId));
  await expect(fc.assert(property, { numRuns: 3 })).resolves.toBeUndefined();
});
