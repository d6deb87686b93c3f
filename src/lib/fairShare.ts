import { AppError } from "../errors.js";

interface FairShareOptions {
  /** Places in all: connections, threads or bytes. */
  readonly places: number;
  /** What one store may hold of them at any time. */
  readonly ofStoreMax: number;
  /** How long a place is waited for; 4.5 seconds unless given, so that a refusal is there within 5. */
  readonly waitMs?: number;
  /** Callers of one store that may wait at the same time. */
  readonly waitingOfStoreMax?: number;
  /** What callers are told that waited in vain. */
  readonly message: string;
  /** When they are told to come again; after 1 second unless given. */
  readonly retryAfterSeconds?: number;
}

interface Waiter {
  readonly amount: number;
  readonly admit: () => void;
  readonly refuse: () => void;
}

interface StoreUse {
  held: number;
  /** What it has used so far, in places times milliseconds. */
  used: number;
  /** Up to when that is counted. */
  countedAt: number;
  /** In the order in which they came. */
  readonly waiting: Set<Waiter>;
}

interface TakeOptions {
  /** Places that are taken together; 1 unless given. */
  readonly amount?: number;
  /** Aborted when the caller has gone: then it no longer waits. */
  readonly signal?: AbortSignal | undefined;
}

const waitMsDefault = 4_500;
/** Stores that are remembered at the most, beyond those that hold or wait. */
const storesMax = 10_000;
const waitingOfStoreMaxDefault = 1_000;

/**
 * Places that stores share. No store holds more than its share of them, and while there are too few, the next one goes to the
 * store that has used the least: neither who asks a thousand times nor whose work takes a thousand times as long keeps
 * others waiting. This is start-time fair queueing (Goyal, Vin and Cheng, 1996), with the time that places were held as cost.
 */
export class FairShare {
  readonly #options: Required<FairShareOptions>;
  /** Stores that hold or wait, or lately held more than others. */
  readonly #stores = new Map<string, StoreUse>();
  /** What the store had used that was given a place last. Who comes anew has used no less: idle time saves up nothing. */
  #clock = 0;
  #free: number;
  #waiting = 0;
  #isClosed = false;

  constructor(options: FairShareOptions) {
    this.#options = {
      waitMs: waitMsDefault,
      waitingOfStoreMax: waitingOfStoreMaxDefault,
      retryAfterSeconds: 1,
      ...options,
    };
    this.#free = options.places;
  }

  /** What one store may hold at any time. */
  get ofStoreMax(): number {
    return this.#options.ofStoreMax;
  }

  /** Callers that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes places if they can be had at once, and nobody is passed over by it. They are given back by `release`. */
  tryTake(storeId: string, amount = 1): boolean {
    const use = this.#useOf(storeId);
    if (use.waiting.size > 0 || !this.#fits(use.held, amount)) return false;
    if (this.#waiting > 0 && amount > 1) return false; // large amounts would keep those who wait for less from their turn
    this.#hold(use, amount);
    return true;
  }

  /**
   * Takes places, after waiting for a turn where there are too few. They are given back by `release`.
   *
   * @throws {AppError} UNAVAILABLE after waiting in vain, or where too many of the store wait already
   */
  async take(storeId: string, { amount = 1, signal }: TakeOptions = {}): Promise<void> {
    if (this.tryTake(storeId, amount)) return;
    const use = this.#useOf(storeId);
    const isFull = use.waiting.size >= this.#options.waitingOfStoreMax;
    if (this.#isClosed || isFull || signal?.aborted === true) throw this.#refusal();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        use.waiting.delete(waiter);
        this.#waiting -= 1;
      };
      const waiter: Waiter = {
        amount,
        admit: () => {
          leave();
          resolve();
        },
        refuse: () => giveUp(),
      };
      const giveUp = (): void => {
        leave();
        reject(this.#refusal());
        this.#admitNext(); // what waited behind it may fit
      };
      const timer = setTimeout(giveUp, this.#options.waitMs);
      signal?.addEventListener("abort", giveUp);
      use.waiting.add(waiter);
      this.#waiting += 1;
    });
  }

  /** Refuses all who wait, and who would have to: what the places are of is being closed. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#stores.values()) for (const waiter of waiting) waiter.refuse();
  }

  /** Gives places back, to whoever waits for a turn. */
  release(storeId: string, amount = 1): void {
    const use = this.#stores.get(storeId);
    if (use === undefined) return;
    count(use);
    use.held -= amount;
    this.#free += amount;
    if (this.#free === this.#options.places && this.#waiting === 0) this.#stores.clear(); // nobody competes
    this.#admitNext();
  }

  /** Does work that holds one place. @throws {AppError} as `take` does, or what the work throws */
  async run<Result>(storeId: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (!this.tryTake(storeId)) await this.take(storeId, { signal });
    try {
      return await work();
    } finally {
      this.release(storeId);
    }
  }

  #fits(held: number, amount: number): boolean {
    return amount <= this.#free && held + amount <= this.#options.ofStoreMax;
  }

  #hold(use: StoreUse, amount: number): void {
    count(use);
    this.#clock = Math.max(this.#clock, use.used);
    use.held += amount;
    this.#free -= amount;
  }

  /** A store that comes, or is here. */
  #useOf(storeId: string): StoreUse {
    let use = this.#stores.get(storeId);
    if (use === undefined) {
      if (this.#stores.size >= storesMax) this.#forgetIdle();
      use = { held: 0, used: this.#clock, countedAt: performance.now(), waiting: new Set() };
      this.#stores.set(storeId, use);
    } else if (isIdle(use)) use.used = Math.max(use.used, this.#clock);
    return use;
  }

  #forgetIdle(): void {
    for (const [storeId, use] of this.#stores) if (isIdle(use)) this.#stores.delete(storeId);
  }

  /** Admits those who wait, as far as there are places. */
  #admitNext(): void {
    while (this.#waiting > 0 && this.#free > 0) {
      const next = this.#nextToAdmit();
      if (next === undefined) return;
      this.#hold(next.use, next.waiter.amount);
      next.waiter.admit();
    }
  }

  /** The first who waits of the store that has used the least, of those that may have a place. */
  #nextToAdmit(): { use: StoreUse; waiter: Waiter } | undefined {
    let next: { use: StoreUse; waiter: Waiter } | undefined;
    for (const use of this.#stores.values()) {
      const [waiter] = use.waiting;
      if (waiter === undefined || !this.#fits(use.held, waiter.amount)) continue;
      count(use);
      if (next === undefined || use.used < next.use.used) next = { use, waiter };
    }
    return next;
  }

  #refusal(): AppError {
    const { message, retryAfterSeconds } = this.#options;
    return new AppError("UNAVAILABLE", message, { retryAfterSeconds });
  }
}

function isIdle({ held, waiting }: StoreUse): boolean {
  return held === 0 && waiting.size === 0;
}

/** Brings what a store has used up to date. */
function count(use: StoreUse): void {
  const now = performance.now();
  use.used += use.held * (now - use.countedAt);
  use.countedAt = now;
}
