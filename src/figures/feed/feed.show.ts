import { AppError } from "../../errors.js";
import type { LiveStreamAnalytics } from "../show/kpis.read.js";
import type { LatestValue } from "./latestValue.js";

export type Watcher = LatestValue<LiveStreamAnalytics>;

interface Arrived {
  readonly watchers: Watcher[];
  readonly reading: Promise<void>;
}

/** How often the first figures of new subscribers are read at most, while the show changes: each read is executed by each operation. */
const firstIntervalMs = 250;

/**
 * A show with subscribers, who share each read that began after they arrived: it has all that was stored before, also by other
 * processes.
 */
export class WatchedShow {
  readonly #read: () => Promise<LiveStreamAnalytics>;
  readonly #intervalMs: number;
  /** The number of the last read that each subscriber has received; before its first value, of the last that began before it came. */
  readonly #given = new Map<Watcher, number>();
  /** Those without a value yet. */
  readonly #waiting = new Set<Watcher>();
  /** A later read sees everything an earlier one did. */
  #readings = 0;
  #timer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  /** Reads for all never overlap. */
  #isRefreshing = false;
  /** Whether the show has changed since the last read started, or that read failed. */
  #isChanged = false;
  #refreshedAt = -Infinity;
  /** Subscribers that arrived during a first read: they share the next one. */
  #arrived: Arrived | undefined;
  #firstReading: Promise<void> | undefined;
  #firstReadAt = -Infinity;

  readonly #quietMs: number;

  /**
   * @param intervalMs minimum time between two reads for all
   * @param quietMs maximum time between two reads of a LIVE show
   */
  constructor(
    read: () => Promise<LiveStreamAnalytics>,
    { intervalMs, quietMs }: { readonly intervalMs: number; readonly quietMs: number },
  ) {
    this.#read = read;
    this.#intervalMs = intervalMs;
    this.#quietMs = quietMs;
  }

  get watchers(): readonly Watcher[] {
    return [...this.#given.keys()];
  }

  get isWatched(): boolean {
    return this.#given.size > 0;
  }

  add(watcher: Watcher): void {
    this.#given.set(watcher, this.#readings);
    this.#waiting.add(watcher);
  }

  remove(watcher: Watcher): void {
    this.#given.delete(watcher);
    this.#waiting.delete(watcher);
    if (this.isWatched) return;
    clearTimeout(this.#timer);
    clearTimeout(this.#quietTimer);
  }

  readFirst(watcher: Watcher): Promise<void> {
    if (this.#firstReading === undefined && this.#firstWaitMs() <= 0) return this.#readFirstFor([watcher]);
    if (this.#arrived === undefined) {
      const watchers: Watcher[] = [];
      this.#arrived = { watchers, reading: this.#readNextFor(watchers) };
    }
    this.#arrived.watchers.push(watcher);
    return this.#arrived.reading;
  }

  #firstWaitMs(): number {
    return this.#firstReadAt + Math.min(firstIntervalMs, this.#intervalMs) - performance.now();
  }

  async #readNextFor(watchers: readonly Watcher[]): Promise<void> {
    await this.#firstReading?.catch(() => undefined); // it failed for those who waited for it
    const isWaiting = () => watchers.some((watcher) => this.#waiting.has(watcher));
    if (isWaiting()) await new Promise((resolve) => setTimeout(resolve, this.#firstWaitMs()));
    if (isWaiting()) return this.#readFirstFor(watchers);
    this.#arrived = undefined; // a read for all has served them, or they have left
  }

  async #readFirstFor(watchers: readonly Watcher[]): Promise<void> {
    this.#arrived = undefined;
    this.#firstReadAt = performance.now();
    const reading = this.#readFor(() => watchers);
    this.#firstReading = reading;
    try {
      await reading;
    } finally {
      // Others wait for the end of this one.
      if (this.#arrived === undefined && this.#firstReading === reading) this.#firstReading = undefined;
    }
  }

  async #readFor(watchers: () => readonly Watcher[]): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    if (!watchers().some((watcher) => this.#given.has(watcher))) return; // all left while they waited
    const analytics = await this.#read();
    for (const watcher of watchers()) {
      if ((this.#given.get(watcher) ?? Infinity) >= reading) continue; // or it has ended
      this.#given.set(watcher, reading);
      this.#waiting.delete(watcher);
      watcher.set(analytics);
    }
    clearTimeout(this.#quietTimer);
    if (analytics.status === "LIVE" && this.isWatched) {
      this.#quietTimer = setTimeout(() => this.refreshSoon(), this.#quietMs);
    }
  }

  /**
   * Schedules a read for all. Subscribers stay connected while the database is unavailable: reconnecting together would
   * use up their store's rate limit.
   */
  refreshSoon(): void {
    this.#isChanged = true;
    if (this.#timer !== undefined || this.#isRefreshing) return; // the next read includes this change
    const waitMs = Math.max(0, this.#refreshedAt + this.#intervalMs - performance.now());
    this.#timer = setTimeout(() => void this.#refresh(), waitMs);
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    this.#isChanged = false;
    this.#isRefreshing = true;
    this.#refreshedAt = performance.now();
    try {
      await this.#readFor(() => this.watchers);
    } catch (error) {
      if (error instanceof AppError && error.code === "UNAVAILABLE") this.#isChanged = true;
      else for (const watcher of this.watchers) watcher.fail(error);
    }
    this.#isRefreshing = false;
    if (this.#isChanged && this.isWatched) this.refreshSoon();
  }
}
