import { LRUCache } from "lru-cache";
import type { RootDatabase } from "../../database/client.js";
import { keptByDatabase } from "../../database/shares/forStore.js";
import { findLiveStream, showKey, timesOf } from "../shows/liveStream.js";
import type { ShopperEvent, ShopperEventInput } from "./events.input.js";

interface ShowEnd {
  /** Null while the show has not ended. */
  readonly endedAt: Date | null;
}

/** Players show a show with a delay. */
const playersLagMs = 30_000;
const showsMax = 10_000;
/** How much later than its own process others learn that a show has ended. */
const trustMs = 1_000;
const endsOf = keptByDatabase(() => new LRUCache<string, ShowEnd>({ max: showsMax, ttl: trustMs }));

/**
 * Events of the channel AUTO as LIVE where they began before the show's end, or not much later, and as REPLAY otherwise. A VIEW began
 * as many seconds before it occurred as it has.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function withChannels(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
): Promise<readonly ShopperEvent[]> {
  if (!events.some(({ channel }) => channel === "AUTO")) return events as readonly ShopperEvent[];
  const { endedAt } = await endOf(db, storeId, lsId);
  const now = new Date();
  return events.map((event) => {
    const { channel, occurredAt, seconds } = event;
    if (channel !== "AUTO") return { ...event, channel };
    const beganAt = (occurredAt ?? now).getTime() - (seconds ?? 0) * 1_000;
    const isLive = endedAt === null || beganAt < endedAt.getTime() + playersLagMs;
    return { ...event, channel: isLive ? "LIVE" : "REPLAY" };
  });
}

/** What is known of a show's end is out of date. */
export function forgetEnd(db: RootDatabase, storeId: string, lsId: string): void {
  endsOf(db).delete(showKey(storeId, lsId));
}

async function endOf(db: RootDatabase, storeId: string, lsId: string): Promise<ShowEnd> {
  const ends = endsOf(db);
  const key = showKey(storeId, lsId);
  const start = performance.now();
  const known = ends.get(key);
  if (known !== undefined) return known;
  const end = timesOf(await findLiveStream(db, storeId, lsId));
  ends.set(key, end, { start });
  return end;
}
