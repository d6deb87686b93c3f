import { AppError } from "../errors.js";
import type { FeedRelay } from "./feed.relay.js";
import type { LiveStreamAnalytics } from "./kpis.read.js";
import { LatestValue } from "./latestValue.js";

/** Tells watchers of shows when figures change. */
export interface LiveFeed {
  /** How many are watching now. */
  readonly watchers: number;
  /** To be called after figures of a show changed. It returns at once. */
  changed(storeId: string, lsId: string): void;
  /**
   * The analytics of a show: at once, and then whenever they change, at most once a second. Returning the iterator, or
   * closing the feed, ends it.
   *
   * @param confirm asked every 2 seconds; once it says UNAUTHENTICATED, watching ends with that
   * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE where too many are watching
   */
  watch(
    storeId: string,
    lsId: string,
    confirm?: () => Promise<unknown>,
  ): Promise<AsyncIterableIterator<LiveStreamAnalytics>>;
  /** Ends all watching. */
  close(): Promise<void>;
}

interface FeedOptions {
  readonly read: (storeId: string, lsId: string) => Promise<LiveStreamAnalytics>;
  /** Carries changes between processes. */
  readonly relay?: FeedRelay | undefined;
  /** The shortest time between two values of a show. */
  readonly intervalMs?: number;
  readonly watchersMax?: number;
}

/** A show that somebody watches. All its watchers share one reading. */
interface WatchedShow {
  readonly watchers: Set<LatestValue<LiveStreamAnalytics>>;
  lastReadAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** A revoked token must stop working within 5 seconds, and tokens are trusted for 3. */
const confirmMs = 2_000;

/** A feed for the watchers of this process. */
export function createLiveFeed({ read, relay, intervalMs = 1_000, watchersMax = 10_000 }: FeedOptions): LiveFeed {
  const shows = new Map<string, WatchedShow>();
  let watchersTotal = 0;

  const noticed = (storeId: string, lsId: string): void => {
    const show = shows.get(keyOf(storeId, lsId));
    if (show === undefined || show.timer !== undefined) return; // the reading that is due will see this change too
    const waitMs = Math.max(0, show.lastReadAt + intervalMs - Date.now());
    show.timer = setTimeout(() => void refresh(show, () => read(storeId, lsId)), waitMs);
  };

  const join = (key: string, confirm?: () => Promise<unknown>): LatestValue<LiveStreamAnalytics> => {
    if (watchersTotal >= watchersMax)
      throw new AppError("UNAVAILABLE", "Too many are watching.", { retryAfterSeconds: 10 });
    const show = shows.get(key) ?? { watchers: new Set(), lastReadAt: 0, timer: undefined };
    shows.set(key, show);
    watchersTotal += 1;
    const watcher = new LatestValue<LiveStreamAnalytics>(() => {
      watchersTotal -= 1;
      clearInterval(confirming);
      show.watchers.delete(watcher);
      if (show.watchers.size > 0) return;
      clearTimeout(show.timer);
      shows.delete(key);
    });
    const confirming = confirm && setInterval(() => void endUnlessConfirmed(watcher, confirm), confirmMs);
    show.watchers.add(watcher);
    return watcher;
  };

  relay?.onChange(noticed, () => {
    for (const key of shows.keys()) noticed(...partsOf(key)); // whatever was told meanwhile is lost
  });

  return {
    get watchers() {
      return watchersTotal;
    },
    changed(storeId, lsId) {
      noticed(storeId, lsId);
      relay?.send(storeId, lsId);
    },
    async watch(storeId, lsId, confirm) {
      const watcher = join(keyOf(storeId, lsId), confirm); // before reading, so that no change falls between
      try {
        watcher.set(await read(storeId, lsId));
        return watcher;
      } catch (error) {
        await watcher.return();
        throw error;
      }
    },
    async close() {
      const watchers = [...shows.values()].flatMap((show) => [...show.watchers]);
      await Promise.all([...watchers.map((watcher) => watcher.return()), relay?.close()]);
    },
  };
}

async function endUnlessConfirmed(watcher: LatestValue<LiveStreamAnalytics>, confirm: () => Promise<unknown>) {
  try {
    await confirm();
  } catch (error) {
    if (error instanceof AppError && error.code === "UNAUTHENTICATED") watcher.fail(error); // else: the next time
  }
}

/** Reads a show anew for all who watch it. */
async function refresh(show: WatchedShow, read: () => Promise<LiveStreamAnalytics>): Promise<void> {
  show.timer = undefined;
  show.lastReadAt = Date.now();
  try {
    const analytics = await read();
    for (const watcher of show.watchers) watcher.set(analytics);
  } catch (error) {
    for (const watcher of show.watchers) watcher.fail(error);
  }
}

function keyOf(storeId: string, lsId: string): string {
  return JSON.stringify([storeId, lsId]);
}

function partsOf(key: string): [string, string] {
  return JSON.parse(key) as [string, string]; // keyOf made it
}
