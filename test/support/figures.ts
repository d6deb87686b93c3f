import { randomUUID } from "node:crypto";
import { mkdir, rmdir } from "node:fs/promises";
import { inject, onTestFinished } from "vitest";
import { createStore } from "../../src/stores/store.js";
import type { ShopperEventInput } from "../../src/events/events.input.js";
import { recordEvents } from "../../src/events/record/events.record.js";
import { deviceShares, kpisOf } from "../../src/figures/show/kpis.js";
import { readAnalytics } from "../../src/figures/show/kpis.read.js";
import { saveLiveStream } from "../../src/shows/liveStream.save.js";
import { readPeakViewers, readTimeline, readTopProducts } from "../../src/figures/show/timeline.js";
import type { RootDatabase } from "../../src/database/client.js";
import { devicesByChannel, kpis, peakViewers, type SentEvent, timeline, topProducts } from "./oracle.js";
import { until } from "./until.js";

/** A show of a test's own. */
export interface ShowKey {
  readonly storeId: string;
  readonly lsId: string;
}

/** A new show that runs: of a new store, or of the one given. */
export async function newShow(db: RootDatabase, store?: string): Promise<ShowKey> {
  const storeId = store ?? `store-${randomUUID()}`;
  if (store === undefined) await createStore(db, storeId, "Test store");
  const lsId = `show-${randomUUID()}`;
  await insertShows(db, storeId, [{ id: lsId, status: "LIVE", startedAt: "2026-05-04T18:30:00Z" }]);
  return { storeId, lsId };
}

interface InsertedShow {
  readonly id: string;
  readonly status: "LIVE" | "ENDED" | "ARCHIVED";
  readonly startedAt: string;
}

/** Inserts shows as `savedShow` of shows.ts by one statement: saving one takes eight. One that has ended took an hour. */
export async function insertShows(db: RootDatabase, storeId: string, shows: readonly InsertedShow[]): Promise<void> {
  const before = await db.liveStream.count({ where: { storeId } });
  const data = shows.map(({ id, status, startedAt }, index) => ({
    storeId,
    id,
    status,
    name: "Spring collection",
    number: before + index + 1,
    startedAt: new Date(startedAt),
    durationSeconds: status === "LIVE" ? null : 3_600,
    hostName: "Robin Host",
    hostEmail: "robin@shop.example",
  }));
  await db.liveStream.createMany({ data });
}

/**
 * Waits until no other test, in any process of the run, changes what is so old in all stores. To be called before `oldShow`;
 * the test's end lets the next one begin.
 */
export async function onlyOldShows(): Promise<void> {
  const lock = `${inject("statementsFolder")}.old-shows`; // one for each database
  const isOurs = () =>
    mkdir(lock).then(
      () => true,
      () => false,
    );
  await until(isOurs, "other tests of old shows to end", 200_000);
  onTestFinished(() => rmdir(lock));
}

const oldStart = Date.parse("2020-05-04T18:30:00Z");

/**
 * An ended show of 2020, of a store of its own, and its events: for what is done to all stores of the database, such as
 * removing what is older than a time, which must leave the shows of other tests alone.
 */
export async function oldShow(db: RootDatabase, count: number) {
  const storeId = `store-${randomUUID()}`;
  await createStore(db, storeId, "Test store");
  const show = { id: `show-${randomUUID()}`, name: "Old", startedAt: new Date(oldStart), durationSeconds: 7_200 };
  await saveLiveStream(db, storeId, { ...show, status: "LIVE", durationSeconds: null });
  const shiftMs = Date.parse("2026-05-04T18:30:00Z") - oldStart;
  const events = someEvents(count).map((event): SentEvent => {
    const occurredAt = new Date(Date.parse(event.occurredAt ?? "") - shiftMs).toISOString();
    return { ...event, occurredAt };
  });
  await recordEvents(db, storeId, show.id, asInputs(events));
  await saveLiveStream(db, storeId, { ...show, status: "ENDED" });
  return { show: { storeId, lsId: show.id }, saved: show, events };
}

/** Every figure of a show, as it is read. */
export async function figuresOf(db: RootDatabase, { storeId, lsId }: ShowKey) {
  const analytics = await readAnalytics(db, storeId, lsId);
  const buckets = await readTimeline(db, storeId, lsId, 60);
  return {
    kpis: kpisOf(analytics.totals),
    peakViewers: await readPeakViewers(db, storeId, lsId),
    timeline: buckets.map((bucket) => ({ ...bucket, startsAt: bucket.startsAt.toISOString() })),
    topProducts: await readTopProducts(db, storeId, lsId, { first: 100, by: "CARTS" }),
    devicesByChannel: (["LIVE", "REPLAY"] as const).map((channel) => ({
      channel,
      devices: deviceShares(analytics.devices.filter((device) => device.channel === channel)),
    })),
  };
}

/** The same, worked out from the formulas. */
export function expectedFigures(events: readonly SentEvent[]) {
  return {
    kpis: kpis(events),
    peakViewers: peakViewers(events),
    timeline: timeline(events, 60),
    topProducts: topProducts(events, 100),
    devicesByChannel: devicesByChannel(events),
  };
}

/** Events as the functions of the service take them. */
export function asInputs(events: readonly SentEvent[]): ShopperEventInput[] {
  return events.map((event) => ({
    ...event,
    occurredAt: event.occurredAt === undefined ? null : new Date(event.occurredAt),
  }));
}

/** Some of everything, the same on each run: viewers who come back, devices that change, orders without a viewer. */
export function someEvents(count: number): SentEvent[] {
  return Array.from({ length: count }, (_, n): SentEvent => {
    const mixed = (n * 7_919) % 10_007;
    const occurredAt = new Date(Date.parse("2026-05-04T18:30:00Z") + (mixed % 90) * 60_000).toISOString();
    const common = { id: `event-${n}`, productId: mixed % 4 === 0 ? null : `product-${mixed % 9}`, occurredAt };
    if (mixed % 5 === 0) {
      const channel = (["LIVE", "REPLAY", "REFERRAL"] as const)[n % 3] ?? "LIVE";
      const buyer = mixed % 2 === 0 ? {} : { viewerId: `viewer-${mixed % 60}` };
      const lines = [`product-${mixed % 9}`, `product-${mixed % 7}`].map((productId, index) => ({
        productId,
        quantity: 1 + (mixed % 3),
        amount: ((mixed + index) % 500) / 10,
      }));
      const cents = mixed % 9_999;
      const ofLines = { amount: (cents + 10_000) / 100, lines }; // lines are a part of it
      const sold = { ...buyer, channel, ...(mixed % 3 === 0 ? ofLines : { amount: cents / 100 }) };
      return { ...common, ...sold, type: mixed % 7 === 0 ? "REFUND" : "ORDER" };
    }
    return {
      ...common,
      type: mixed % 3 === 0 ? "ADD_TO_CART" : "VIEW",
      channel: mixed % 2 === 0 ? "LIVE" : "REPLAY",
      viewerId: `viewer-${mixed % 60}`,
      device: (["Mobile", "desktop", "tablet", ""] as const)[mixed % 4] ?? "",
      seconds: (mixed % 600) / 10,
    };
  });
}
