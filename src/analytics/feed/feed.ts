import { AppError } from "../../errors.js";
import { type Confirm, Confirmations } from "./feed.confirm.js";
import type { FeedRelay } from "./feed.relay.js";
import { type Watcher, WatchedShow } from "./feed.show.js";
import type { LiveStreamAnalytics } from "../kpis/kpis.read.js";
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
   * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE where too many are watching or the feed was closed
   */
  watch(storeId: string, lsId: string, until?: WatchUntil): Promise<AsyncIterableIterator<LiveStreamAnalytics>>;
  /** Ends all watching, for good. */
  close(): Promise<void>;
}

/** What else ends watching. */
interface WatchUntil {
  /** Asked every 1.5 seconds, once for all who watch by the same token; once it says UNAUTHENTICATED, watching ends with that. */
  readonly confirm?: Confirm;
  /** Aborted when the watcher leaves, which may be before it has its iterator: then nobody would return that. */
  readonly disconnectSignal?: AbortSignal;
}

interface FeedOptions {
  readonly read: (storeId: string, lsId: string) => Promise<LiveStreamAnalytics>;
  /** Carries changes between processes. */
  readonly relay?: FeedRelay | undefined;
  /** The shortest time between two values of a show. */
  readonly intervalMs?: number;
  /** In all. */
  readonly watchersMax?: number;
  /** Of the shows of a store, so that none takes the places of all. */
  readonly watchersOfStoreMax?: number;
}

/** A feed for the watchers of this process. */
export function createLiveFeed({
  read,
  relay,
  intervalMs = 1_000,
  watchersMax = 10_000,
  watchersOfStoreMax = 1_000,
}: FeedOptions): LiveFeed {
  const shows = new Map<string, WatchedShow>();
  const places = new Places(watchersMax, watchersOfStoreMax);
  const confirmations = new Confirmations();
  let isClosed = false;

  const noticed = (storeId: string, lsId: string): void => shows.get(keyOf(storeId, lsId))?.refreshSoon();

  const join = (storeId: string, lsId: string, { confirm, disconnectSignal }: WatchUntil): [WatchedShow, Watcher] => {
    if (isClosed) throw new AppError("UNAVAILABLE", "The server is stopping.", { retryAfterSeconds: 1 });
    places.take(storeId);
    const key = keyOf(storeId, lsId);
    const show = shows.get(key) ?? new WatchedShow(() => read(storeId, lsId), intervalMs);
    shows.set(key, show);
    const watcher: Watcher = new LatestValue(() => {
      places.free(storeId);
      if (confirm !== undefined) confirmations.remove(watcher, confirm);
      show.remove(watcher);
      if (!show.isWatched) shows.delete(key);
    });
    if (confirm !== undefined) confirmations.add(watcher, confirm);
    show.add(watcher);
    endOnAbort(watcher, disconnectSignal);
    return [show, watcher];
  };

  relay?.onChange(noticed, () => {
    for (const show of shows.values()) show.refreshSoon(); // whatever was told meanwhile is lost
  });

  return {
    get watchers() {
      return places.taken;
    },
    changed(storeId, lsId) {
      noticed(storeId, lsId);
      relay?.send(storeId, lsId);
    },
    async watch(storeId, lsId, until = {}) {
      const hearing = relay?.watched?.();
      if (hearing !== undefined) await hearing; // else nothing may come between
      const [show, watcher] = join(storeId, lsId, until); // before reading, so that no change falls between
      if (watcher.isEnded) return watcher;
      try {
        await show.readFirst(watcher);
        return watcher;
      } catch (error) {
        await watcher.return();
        throw error;
      }
    },
    async close() {
      isClosed = true;
      const watchers = [...shows.values()].flatMap((show) => show.watchers);
      await Promise.all([...watchers.map((watcher) => watcher.return()), relay?.close()]);
    },
  };
}

function endOnAbort(watcher: Watcher, signal: AbortSignal | undefined): void {
  signal?.addEventListener("abort", () => void watcher.return());
  if (signal?.aborted === true) void watcher.return();
}

function keyOf(storeId: string, lsId: string): string {
  return JSON.stringify([storeId, lsId]);
}

/** Places for watchers: so many in all, and so many for the shows of a store, so that none takes the places of others. */
class Places {
  readonly #max: number;
  readonly #ofStoreMax: number;
  readonly #byStore = new Map<string, number>();
  taken = 0;

  constructor(max: number, ofStoreMax: number) {
    this.#max = max;
    this.#ofStoreMax = ofStoreMax;
  }

  /** @throws {AppError} UNAVAILABLE where none is free */
  take(storeId: string): void {
    if (this.taken >= this.#max || (this.#byStore.get(storeId) ?? 0) >= this.#ofStoreMax) {
      throw new AppError("UNAVAILABLE", "Too many open subscriptions.", { retryAfterSeconds: 10 });
    }
    this.#count(storeId, 1);
  }

  free(storeId: string): void {
    this.#count(storeId, -1);
  }

  #count(storeId: string, change: 1 | -1): void {
    this.taken += change;
    const ofStore = (this.#byStore.get(storeId) ?? 0) + change;
    if (ofStore > 0) this.#byStore.set(storeId, ofStore);
    else this.#byStore.delete(storeId);
  }
}
