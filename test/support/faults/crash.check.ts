import { expect } from "vitest";
import type { RootDatabase } from "../../../src/database/client.js";
import type { TestStore } from "../app.js";
import type { Batch, Outcome, ProductSet, Sent } from "./crash.load.js";
import { devicesByChannel, kpis, peakViewers, type SentEvent, timeline, topProducts } from "../oracle.js";
import { documentedKpis, readAnalytics, readKpis } from "../shows.js";
import { storedEventIds } from "../figures/storedEvents.js";

/** What became of requests in the database. */
export interface Tally {
  readonly sent: number;
  readonly answered: number;
  readonly whole: number;
  readonly notAtAll: number;
  /** Requests of which a part is stored, which must not happen. */
  readonly half: number;
  /** Requests that were answered with 200 and are not stored, which must not happen. */
  readonly lost: number;
}

export const nothingSent: Tally = { sent: 0, answered: 0, whole: 0, notAtAll: 0, half: 0, lost: 0 };

export function add(a: Tally, b: Tally): Tally {
  const names = Object.keys(nothingSent) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Record<keyof Tally, number>;
}

/** Finds out what is stored of each request. */
export async function tallyOf(db: RootDatabase, storeId: string, lsId: string, sent: Sent): Promise<Tally> {
  const products = await db.$queryRaw<{ set: string; title: string; rows: number }[]>`
    SELECT split_part(id, '/', 1) AS set, title, count(*)::int AS rows
    FROM "Product" WHERE "storeId" = ${storeId} GROUP BY 1, 2`;
  const ids = new Set((await storedIds(db, storeId, lsId)).values());
  const ofSets = sent.sets.map((set) =>
    setTally(
      set,
      products.filter((group) => group.set === set.id),
    ),
  );
  return [...ofSets, ...sent.batches.map((batch) => batchTally(batch, ids))].reduce(add, nothingSent);
}

export async function storedIds(db: RootDatabase, storeId: string, lsId: string): Promise<string[]> {
  return storedEventIds(db, { storeId, lsId });
}

/** The writes of a set came one after the other: up to that which is stored all did their work, and none after it. */
function setTally({ rows, writes }: ProductSet, stored: readonly { title: string; rows: number }[]): Tally {
  const last = writes.findIndex(({ title }) => title === stored[0]?.title);
  const isMixed = stored.length > 1 || stored.some((group) => group.rows !== rows);
  return writes
    .map(({ outcome }, index) => tally(outcome, isMixed ? "half" : index <= last ? "whole" : "notAtAll"))
    .reduce(add, nothingSent);
}

function batchTally({ fresh, outcome }: Batch, ids: ReadonlySet<string>): Tally {
  const stored = fresh.filter(({ id }) => ids.has(id)).length;
  return tally(outcome, stored === fresh.length ? "whole" : stored === 0 ? "notAtAll" : "half");
}

function tally(outcome: Outcome, found: "whole" | "notAtAll" | "half"): Tally {
  return {
    ...nothingSent,
    sent: 1,
    answered: outcome === "answered" ? 1 : 0,
    [found]: 1,
    // What was refused must not be stored either; this counts it where a stored half is counted.
    ...(outcome === "refused" && found === "whole" && { whole: 0, half: 1 }),
    lost: outcome === "answered" && found === "notAtAll" ? 1 : 0,
  };
}

/** What the API must say of a show with these events. */
export function figuresFrom(events: readonly SentEvent[]) {
  const documented = documentedKpis(events);
  const analytics = {
    kpis: kpis(events),
    peakConcurrentViewers: peakViewers(events),
    timeline: timeline(events, 60),
    topProducts: topProducts(events, 100),
    devicesByChannel: devicesByChannel(events),
  };
  return { documented, analytics };
}

/** Reads all figures of a show through the API. */
export async function expectFigures(
  store: TestStore,
  lsId: string,
  { documented, analytics }: ReturnType<typeof figuresFrom>,
): Promise<void> {
  expect(await readKpis(store, lsId)).toEqual(documented);
  const { data } = await store.graphql(readAnalytics, { lsId, first: 100 });
  expect(data.liveStreamAnalytics).toMatchObject(analytics);
}
