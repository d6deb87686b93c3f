import { AppError } from "../../errors.js";
import type { LiveStreamAnalytics } from "../kpis/kpis.read.js";
import type { LatestValue } from "./latestValue.js";

export type Watcher = LatestValue<LiveStreamAnalytics>;

/** Watchers without a value, and the reading that begins after they have come. */
interface Arrived {
  readonly watchers: Watcher[];
  readonly reading: Promise<void>;
}

/** A show that somebody watches. All its watchers share one reading; those who come at the same time share a first one. */
export class WatchedShow {
  readonly #read: () => Promise<LiveStreamAnalytics>;
  readonly #intervalMs: number;
  /** Each with the number of the reading that it was given last. */
  readonly #given = new Map<Watcher, number>();
  /** Begun so far. What begins later knows all that was known before. */
  #readings = 0;
  /** Of a reading for all that is due. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether one is under way: they never overlap. */
  #isRefreshing = false;
  /** Whether there may be what it does not find: figures changed since it began, or it failed. */
  #isChanged = false;
  #refreshedAt = -Infinity;
  /** Who came while others were read their first value for: the next reading is for all of them. */
  #arrived: Arrived | undefined;
  #firstReading: Promise<void> | undefined;

  /** @param intervalMs the shortest time between two readings for all */
  constructor(read: () => Promise<LiveStreamAnalytics>, intervalMs: number) {
    this.#read = read;
    this.#intervalMs = intervalMs;
  }

  get watchers(): readonly Watcher[] {
    return [...this.#given.keys()];
  }

  get isWatched(): boolean {
    return this.#given.size > 0;
  }

  add(watcher: Watcher): void {
    this.#given.set(watcher, 0);
  }

  remove(watcher: Watcher): void {
    this.#given.delete(watcher);
    if (!this.isWatched) clearTimeout(this.#timer);
  }

  /** Gives a watcher what a reading finds that begins now or later. Those who come while one is under way share the next. */
  readFirst(watcher: Watcher): Promise<void> {
    if (this.#firstReading === undefined) return this.#readFirstFor([watcher]);
    if (this.#arrived === undefined) {
      const watchers: Watcher[] = [];
      const readThem = () => this.#readFirstFor(watchers);
      this.#arrived = { watchers, reading: this.#firstReading.then(readThem, readThem) };
    }
    this.#arrived.watchers.push(watcher);
    return this.#arrived.reading;
  }

  async #readFirstFor(watchers: readonly Watcher[]): Promise<void> {
    this.#arrived = undefined;
    const reading = this.#readFor(() => watchers);
    this.#firstReading = reading;
    try {
      await reading;
    } finally {
      // Whoever has arrived goes on from the end of this one.
      if (this.#arrived === undefined && this.#firstReading === reading) this.#firstReading = undefined;
    }
  }

  /** Gives some watchers what a reading that begins now finds, and whoever of them was given a later one meanwhile keeps that. */
  async #readFor(watchers: () => readonly Watcher[]): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    if (!watchers().some((watcher) => this.#given.has(watcher))) return; // they left while they waited
    const analytics = await this.#read();
    for (const watcher of watchers()) {
      if ((this.#given.get(watcher) ?? Infinity) > reading) continue; // or it has ended
      this.#given.set(watcher, reading);
      watcher.set(analytics);
    }
  }

  /**
   * Has the show read anew for all, as soon as may be. Where the database cannot be read for a while, watchers wait: if they
   * all came anew when it can, they would use up their store's rate limit.
   */
  refreshSoon(): void {
    this.#isChanged = true;
    if (this.#timer !== undefined || this.#isRefreshing) return; // the reading that is due will see this change too
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
