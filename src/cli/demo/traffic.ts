import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { recordEvents } from "../../analytics/events/events.record.js";
import type { LiveFeed } from "../../analytics/feed/feed.js";
import type { RootDatabase } from "../../database/client.js";
import { demoStore, runningShow } from "./demo.js";
import { demoProductIds } from "./products.js";
import { shopperVisits, visitsPerMinute } from "./shoppers.js";
import { findLiveStream } from "../../analytics/shows/liveStream.js";

interface TrafficOptions {
  readonly intervalMs: number;
  /** Events of the show after which the traffic ends. */
  readonly eventsMax: number;
}

const visitsOfRound = { min: 1, max: 3 };
const meanVisits = (visitsOfRound.min + visitsOfRound.max) / 2;
/** About four days of traffic; see docs/operations.md. */
const byDefault: TrafficOptions = { intervalMs: (meanVisits * 60_000) / visitsPerMinute, eventsMax: 100_000 };
/** How many times fewer shoppers come from a fifth of the maximum on. */
const slowdown = 5;

/**
 * Records generated visits to the running demo show, so that its dashboard moves, until stopped or until the show has
 * `eventsMax` events.
 *
 * @returns stops it, and waits for the running statement
 */
export function startDemoTraffic(db: RootDatabase, feed: LiveFeed, options = byDefault): () => Promise<void> {
  const stopped = new AbortController();
  const ended = recordTraffic(db, feed, options, stopped.signal);
  return async () => {
    stopped.abort();
    await ended;
  };
}

async function recordTraffic(
  db: RootDatabase,
  feed: LiveFeed,
  { intervalMs, eventsMax }: TrafficOptions,
  signal: AbortSignal,
): Promise<void> {
  let stored: number | undefined;
  while (stored === undefined || stored < eventsMax) {
    const isSlower = stored !== undefined && stored >= eventsMax / slowdown;
    await sleep(isSlower ? intervalMs * slowdown : intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      stored ??= await countEvents(db);
      if (stored < eventsMax) stored += await visitShow(db, feed);
    } catch {
      // The show was archived, or the database is down: retried in the next round.
    }
  }
}

async function countEvents(db: RootDatabase): Promise<number> {
  const { number } = await findLiveStream(db, demoStore, runningShow);
  return db.showEvent.count({ where: { storeId: demoStore, show: number } });
}

async function visitShow(db: RootDatabase, feed: LiveFeed): Promise<number> {
  const visits = randomInt(visitsOfRound.min, visitsOfRound.max + 1);
  const events = shopperVisits({ productIds: demoProductIds, from: new Date(), minutes: 0, visits });
  const { accepted } = await recordEvents(db, demoStore, runningShow, events);
  feed.changed(demoStore, runningShow);
  return accepted;
}
