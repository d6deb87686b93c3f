import { AppError } from "../../errors.js";
import { type FeedRelay, parseChange } from "./feed.relay.js";
import { type Watcher, WatchedShow } from "./feed.show.js";
import type { LiveStreamAnalytics } from "../kpis/kpis.read.js";
import { LatestValue } from "./latestValue.js";
import { randomUUID } from "node:crypto";
import type { PoolConfig } from "pg";
import { NotificationChannel } from "../../database/notifications.js";
import { withTimeout } from "../../lib/timeout.js";
import { createCircuitBreaker } from "../../lib/circuitBreaker.js";

/** Pushes a show's figures to subscribers when they change. */
export interface LiveFeed {
  readonly watchers: number;
  /** Returns at once. */
  changed(storeId: string, lsId: string): void;
  /**
   * Sends figures now, and after changes at most once a second. Returning the iterator, or closing the feed, ends it.
   *
   * @throws {AppError} LIVE_STREAM_NOT_FOUND, or UNAVAILABLE where the feed is full or closed
   */
  watch(storeId: string, lsId: string, until?: WatchUntil): Promise<AsyncIterableIterator<LiveStreamAnalytics>>;
  close(): Promise<void>;
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

export function createLiveFeed({
  read,
  relay,
  intervalMs = 1_000,
  quietMs = 60_000,
  watchersMax = 10_000,
  watchersOfStoreMax = 1_000,
}: FeedOptions): LiveFeed {
  const shows = new Map<string, WatchedShow>();
  const subscriptions = new SubscriptionCounter(watchersMax, watchersOfStoreMax);
  let isClosed = false;

  const onChange = (storeId: string, lsId: string): void => shows.get(keyOf(storeId, lsId))?.refreshSoon();

  const join = (storeId: string, lsId: string, { signal }: WatchUntil): [WatchedShow, Watcher] => {
    if (isClosed) throw new AppError("UNAVAILABLE", "The server is stopping.", { retryAfterSeconds: 1 });
    subscriptions.add(storeId);
    const key = keyOf(storeId, lsId);
    const show = shows.get(key) ?? new WatchedShow(() => read(storeId, lsId), { intervalMs, quietMs });
    shows.set(key, show);
    const watcher: Watcher = new LatestValue(() => {
      subscriptions.remove(storeId);
      show.remove(watcher);
      if (!show.isWatched) shows.delete(key);
    });
    show.add(watcher);
    endOnAbort(watcher, signal);
    return [show, watcher];
  };

  relay?.subscribe(onChange, () => {
    for (const show of shows.values()) show.refreshSoon(); // changes may have been lost
  });

  return {
    get watchers() {
      return subscriptions.total;
    },
    changed(storeId, lsId) {
      onChange(storeId, lsId);
      relay?.send(storeId, lsId);
    },
    async watch(storeId, lsId, until = {}) {
      const ready = relay?.ready?.();
      if (ready !== undefined) await ready; // without a wait, join must run synchronously
      const [show, watcher] = join(storeId, lsId, until); // before the read, so that no change is missed
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
  const end = (): void => {
    const reason: unknown = signal?.reason;
    if (reason instanceof AppError && reason.code !== "CLIENT_CLOSED_REQUEST") watcher.fail(reason);
    else void watcher.return();
  };
  signal?.addEventListener("abort", end);
  if (signal?.aborted === true) end();
}

function keyOf(storeId: string, lsId: string): string {
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

const channelName = "vitrine_live_stream_changed";
/** NOTIFY takes a lock of the whole server at commit, so a process sends those of a second together. */
const sendEveryMs = 1_000;
const showsMax = 10_000;

/** How long the first subscriber waits for the connection to listen; its figures are read again once that does. */
const readyTimeoutMs = 1_000;

const closeTimeoutMs = 500;

interface Options {
  /** False behind a transaction pooler. */
  readonly listens: boolean;
  readonly log: (problem: Error) => void;
}

/** LISTEN and NOTIFY of the common PostgreSQL database. */
export function createPostgresRelay(connection: PoolConfig, { listens, log }: Options): FeedRelay {
  const self = randomUUID();
  const channel = new NotificationChannel(connection, channelName, createCircuitBreaker(log));
  const due = new Set<string>();
  let listener: Parameters<NotificationChannel["listen"]>[0] | undefined;
  let ready: Promise<void> | undefined;
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  const sendDue = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    sentAt = performance.now();
    const payloads = [...due];
    due.clear();
    if (payloads.length > 0) await channel.notify(payloads).catch(() => undefined); // the channel reports it
  };
  return {
    send(storeId, lsId) {
      if (due.size < showsMax) due.add(JSON.stringify([self, storeId, lsId]));
      timer ??= setTimeout(() => void sendDue(), Math.max(0, sentAt + sendEveryMs - performance.now()));
    },
    subscribe(onChange, onMissed) {
      listener = {
        onPayload(payload) {
          const change = parseChange(payload);
          if (change !== undefined && change[0] !== self) onChange(change[1], change[2]);
        },
        onReady: onMissed,
      };
    },
    ready() {
      if (!listens || listener === undefined) return ready;
      ready = withTimeout(channel.listen(listener), readyTimeoutMs, "The database")
        .catch(() => undefined)
        .then(() => (ready = undefined));
      listener = undefined;
      return ready;
    },
    async close() {
      await withTimeout(sendDue(), closeTimeoutMs, "The database").catch(() => undefined);
      await channel.close();
    },
  };
}
