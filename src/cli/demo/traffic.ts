import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { recordEvents } from "../../analytics/events/events.record.js";
import type { LiveFeed } from "../../analytics/feed/feed.js";
import type { RootDatabase } from "../../database/client.js";
import { demoProductIds, demoStore, runningShow } from "./demo.js";
import { shopperVisits } from "./shoppers.js";

interface TrafficOptions {
  readonly intervalMs: number;
  /** Events of the show at which nobody comes any more. */
  readonly eventsMax: number;
}

/** What a demonstration may store: as much as comes in about 20 hours. docs/operations.md says the same. */
const byDefault: TrafficOptions = { intervalMs: 2_000, eventsMax: 100_000 };

/**
 * Lets made-up shoppers visit the running show of the demo store until stopped, so that a dashboard moves, or until the
 * show has as many events as a demonstration may store.
 *
 * @returns stops it, and waits for what is under way
 */
export function startDemoTraffic(db: RootDatabase, feed: LiveFeed, options = byDefault): () => Promise<void> {
  const stopped = new AbortController();
  const ended = letShoppersCome(db, feed, options, stopped.signal);
  return async () => {
    stopped.abort();
    await ended;
  };
}

async function letShoppersCome(
  db: RootDatabase,
  feed: LiveFeed,
  { intervalMs, eventsMax }: TrafficOptions,
  signal: AbortSignal,
): Promise<void> {
  let stored: number | undefined;
  while (stored === undefined || stored < eventsMax) {
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      stored ??= await countEvents(db);
      if (stored < eventsMax) stored += await visitShow(db, feed);
    } catch {
      // A show that was archived, a database that is away: next time.
    }
  }
}

function countEvents(db: RootDatabase): Promise<number> {
  return db.shopperEvent.count({ where: { storeId: demoStore, liveStreamId: runningShow } });
}

async function visitShow(db: RootDatabase, feed: LiveFeed): Promise<number> {
  const visits = shopperVisits({ productIds: demoProductIds, from: new Date(), minutes: 0, visits: randomInt(1, 4) });
  const { accepted } = await recordEvents(db, demoStore, runningShow, visits);
  feed.changed(demoStore, runningShow);
  return accepted;
}
