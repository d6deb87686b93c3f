/** Random histories of stores: several shows around a moment at which clocks change. */
import * as fc from "fast-check";
import { eraseViewer } from "../../../src/events/erase.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import { pruneBefore, showsWithEventsBefore } from "../../../src/figures/totals/pruneBefore.js";
import { rebuildAnalytics } from "../../../src/figures/totals/rebuild.js";
import type { RootDatabase } from "../../../src/database/client.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";
import { asInputs, insertShows } from "../figures.js";
import type { SentEvent } from "../oracle.js";
import type { OracleRange } from "./storeOracle.js";

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

const product = fc.constantFrom("p0", "p1", "p2", "P3", "ä");

const event = fc.record({
  kind: fc.constantFrom(
    { type: "VIEW", channel: "LIVE" },
    { type: "VIEW", channel: "REPLAY" },
    { type: "ADD_TO_CART", channel: "LIVE" },
    { type: "ORDER", channel: "LIVE" },
    { type: "ORDER", channel: "REPLAY" },
    { type: "ORDER", channel: "REFERRAL" },
    { type: "REFUND", channel: "LIVE" },
    { type: "REFUND", channel: "REFERRAL" },
  ) satisfies fc.Arbitrary<Pick<SentEvent, "type" | "channel">>,
  id: fc.integer({ min: 0, max: 40 }),
  viewer: fc.integer({ min: 0, max: 5 }),
  device: fc.constantFrom("mobile", "desktop", "other", null),
  units: fc.integer({ min: 0, max: 10_000 }),
  product: fc.option(product),
  lines: fc.array(fc.record({ productId: product, quantity: fc.integer({ min: 1, max: 3 }), units: fc.nat(5_000) }), {
    maxLength: 3,
  }),
  after: shift(40_000),
});

const history = fc.record({
  startedAfter: shift(30_000),
  events: fc.array(event, { maxLength: 20 }),
  isFolded: fc.boolean(),
});

function showsOf(around: number, histories: readonly (typeof history extends fc.Arbitrary<infer V> ? V : never)[]) {
  return histories.map(({ startedAfter, events, isFolded }, index) => ({
    id: `show-${index}`,
    startedAt: new Date(around + startedAfter).toISOString(),
    isFolded,
    events: events.map(({ kind, id, viewer, device, units, after, product: productId, lines }): SentEvent => {
      const occurred = Math.max(around + after, around + startedAfter - 86_400_000);
      const common = { ...kind, productId, id: `e${id}`, occurredAt: new Date(occurred).toISOString() };
      if (kind.type === "ORDER" || kind.type === "REFUND") {
        const sold = lines.map(({ units: own, ...line }) => ({ ...line, amount: own / 100 }));
        const cents = lines.reduce((sum, line) => sum + line.units, units);
        return { ...common, amount: cents / 100, lines: sold };
      }
      return { ...common, viewerId: `v${viewer}`, device, ...(kind.type === "VIEW" && { seconds: units }) };
    }),
  }));
}

/** The shows of a store, and the moment near them at which its clocks change. */
const situations = fc
  .record({ change: fc.constantFrom(...changes), histories: fc.array(history, { minLength: 1, maxLength: 4 }) })
  .map(({ change: [timeZone, changesAt], histories }) => {
    const around = new Date(changesAt);
    return { timeZone, around, shows: showsOf(around.getTime(), histories) };
  });

/** A range of time, by its start after such a moment. */
export const nearby = fc.record({
  fromAfter: shift(30_000),
  minutes: fc.integer({ min: 0, max: 60 * 24 * 60 }),
});

export function rangeNear(around: Date, { fromAfter, minutes }: { fromAfter: number; minutes: number }): OracleRange {
  const from = new Date(around.getTime() + fromAfter);
  return { from, until: new Date(from.getTime() + minutes * minuteMs) };
}

/** What happens to a store before its figures are read: they stay. */
const treatments = ["none", "rebuilt", "removed", "removed and rebuilt"] as const;

/**
 * Stores with random histories, all with the same ids of shows, events and viewers.
 *
 * @param db of which no server folds the totals
 */
export async function someStores(app: TestApp, db: RootDatabase, count: number) {
  const made = [];
  for (const [n, situation] of fc.sample(situations, count).entries()) {
    const store = await createTestStore(app);
    const ended = situation.shows.map(({ id, startedAt }) => ({ id, startedAt, status: "ENDED" as const }));
    await insertShows(db, store.id, ended);
    for (const { id, events, isFolded } of situation.shows) {
      if (events.length > 0) await recordEvents(db, store.id, id, asInputs(events));
      if (isFolded) await foldTotals(db, store.id, id);
    }
    await treat(db, store, treatments[n % treatments.length] ?? "none", situation.around);
    made.push({ ...situation, store });
  }
  return made;
}

/** @param around the moment at which the clocks of the store change, before which events are removed */
async function treat(
  db: RootDatabase,
  { id: storeId }: TestStore,
  how: (typeof treatments)[number],
  around: Date,
): Promise<void> {
  if (how.startsWith("removed")) {
    await eraseViewer(db, storeId, "v0"); // who may be in several shows or in none
    await removeBefore(db, storeId, new Date(around.getTime() - 90 * minuteMs));
  }
  if (how.endsWith("rebuilt")) await rebuildAnalytics(db, storeId);
  if (how.startsWith("removed")) await removeBefore(db, storeId, around);
}

async function removeBefore(db: RootDatabase, storeId: string, before: Date): Promise<void> {
  for (const id of await showsWithEventsBefore(db, storeId, before)) {
    await pruneBefore(db, storeId, id, { before, pageRows: 15 });
  }
}
