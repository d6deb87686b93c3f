import { AppError } from "../../errors.js";
import type { LiveFeed } from "../../schema/context.js";
import { whenAborted } from "../../lib/timers.js";
import type { FeedRelay } from "./feed.relay.js";
import { type Watcher, WatchedShow } from "./feed.show.js";
import type { LiveStreamAnalytics } from "../show/kpis.read.js";
import { LatestValue } from "./latestValue.js";

declare module "../../schema/context.js" {
  interface LiveFeed {
    readonly watchers: number;
    /**
     * Sends figures now, and after changes at most once a second. Returning the iterator, or closing the feed, ends it.
     *
     * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE where the feed is full or closed
     */
    watch(storeId: string, lsId: string, until?: WatchUntil): Promise<AsyncIterableIterator<LiveStreamAnalytics>>;
    close(): Promise<void>;
  }
}

interface WatchUntil {
  /** Ends it, possibly before there is an iterator: with an error if that is the reason, or without, as when a client leaves. */
  readonly signal?: AbortSignal;
}

interface FeedOptions {
  readonly read: (storeId: string, lsId: string) => Promise<LiveStreamAnalytics>;
  readonly relay?: FeedRelay | undefined;
  readonly intervalMs?: number;
  /** How often a LIVE show is read that does not change: its viewers are those of the last minute. */
  readonly quietMs?: number;
  readonly watchersMax?: number;
  readonly watchersOfStoreMax?: number;
}

export function createLiveFeed(options: FeedOptions): LiveFeed {
  return new ShowFeed(options);
}

class ShowFeed implements LiveFeed {
  readonly #options: FeedOptions;
  readonly #shows = new Map<string, WatchedShow>();
  readonly #subscriptions: SubscriptionCounter;
  #isClosed = false;

  constructor(options: FeedOptions) {
    const { watchersMax = 10_000, watchersOfStoreMax = 1_000, relay } = options;
    this.#options = options;
    this.#subscriptions = new SubscriptionCounter(watchersMax, watchersOfStoreMax);
    relay?.subscribe(
      (storeId, lsId) => this.#refresh(storeId, lsId),
      () => {
        for (const show of this.#shows.values()) show.refreshSoon(); // changes may have been lost
      },
    );
  }

  get watchers(): number {
    return this.#subscriptions.total;
  }

  changed(storeId: string, lsId: string): void {
    this.#refresh(storeId, lsId);
    this.#options.relay?.send(storeId, lsId);
  }

  async watch(
    storeId: string,
    lsId: string,
    until: WatchUntil = {},
  ): Promise<AsyncIterableIterator<LiveStreamAnalytics>> {
    const ready = this.#options.relay?.ready?.();
    if (ready !== undefined) await ready; // without a wait, #join must run synchronously
    const [show, watcher] = this.#join(storeId, lsId, until); // before the read, so that no change is missed
    if (watcher.isEnded) return watcher;
    try {
      await show.readFirst(watcher);
      return watcher;
    } catch (error) {
      await watcher.return();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const watchers = [...this.#shows.values()].flatMap((show) => show.watchers);
    await Promise.all([...watchers.map((watcher) => watcher.return()), this.#options.relay?.close()]);
  }

  #refresh(storeId: string, lsId: string): void {
    this.#shows.get(feedKey(storeId, lsId))?.refreshSoon();
  }

  #join(storeId: string, lsId: string, { signal }: WatchUntil): [WatchedShow, Watcher] {
    if (this.#isClosed) throw new AppError("UNAVAILABLE", "The server is stopping.", { retryAfterSeconds: 1 });
    this.#subscriptions.add(storeId);
    const { read, intervalMs = 1_000, quietMs = 60_000 } = this.#options;
    const key = feedKey(storeId, lsId);
    const show = this.#shows.get(key) ?? new WatchedShow(() => read(storeId, lsId), { intervalMs, quietMs });
    this.#shows.set(key, show);
    const watcher: Watcher = new LatestValue(() => {
      this.#subscriptions.remove(storeId);
      show.remove(watcher);
      if (!show.isWatched) this.#shows.delete(key);
    });
    show.add(watcher);
    endOnAbort(watcher, signal);
    return [show, watcher];
  }
}

function endOnAbort(watcher: Watcher, signal: AbortSignal | undefined): void {
  whenAborted(signal, () => {
    const reason: unknown = signal?.reason;
    if (reason instanceof AppError && reason.code !== "CLIENT_CLOSED_REQUEST") watcher.fail(reason);
    else void watcher.return();
  });
}

function feedKey(storeId: string, lsId: string): string {
  return JSON.stringify([storeId, lsId]);
}

class SubscriptionCounter {
  readonly #max: number;
  readonly #ofStoreMax: number;
  readonly #byStore = new Map<string, number>();
  total = 0;

  constructor(max: number, ofStoreMax: number) {
    this.#max = max;
    this.#ofStoreMax = ofStoreMax;
  }

  /** @throws {AppError} UNAVAILABLE at the limit */
  add(storeId: string): void {
    if (this.total >= this.#max || (this.#byStore.get(storeId) ?? 0) >= this.#ofStoreMax) {
      throw new AppError("UNAVAILABLE", "Too many open subscriptions.", { retryAfterSeconds: 10 });
    }
    this.#count(storeId, 1);
  }

  remove(storeId: string): void {
    this.#count(storeId, -1);
  }

  #count(storeId: string, change: 1 | -1): void {
    this.total += change;
    const ofStore = (this.#byStore.get(storeId) ?? 0) + change;
    if (ofStore > 0) this.#byStore.set(storeId, ofStore);
    else this.#byStore.delete(storeId);
  }
}
