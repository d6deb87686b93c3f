import { randomInt } from "node:crypto";
import { recordEvents } from "../analytics/events.record.js";
import type { LiveFeed } from "../analytics/feed.js";
import type { RootDatabase } from "../database/client.js";
import { demoProductIds, demoStore, runningShow } from "./demo.js";
import { shopperVisits } from "./demo.shoppers.js";

const intervalMs = 2_000;

/**
 * Lets made-up shoppers visit the running show of the demo store until stopped, so that a dashboard moves.
 *
 * @returns stops it, and waits for what is under way
 */
export function startDemoTraffic(db: RootDatabase, feed: LiveFeed): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = visitShow(db, feed).catch(() => undefined); // a show that was ended, a database that is away: next time
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function visitShow(db: RootDatabase, feed: LiveFeed): Promise<void> {
  const visits = shopperVisits({ productIds: demoProductIds, from: new Date(), minutes: 0, visits: randomInt(1, 4) });
  await recordEvents(db, demoStore, runningShow, visits);
  feed.changed(demoStore, runningShow);
}
