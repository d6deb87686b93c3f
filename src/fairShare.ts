import { AppError } from "./errors.js";

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
const waitingOfStoreMaxDefault = 1_000;

/**
 * Places that stores share. No store holds more than its share of them, and while there are too few, turns go round among
 * the stores that wait and not among their requests: a store that asks a thousand times waits no less than one that asks once.
 */
export class FairShare {
  readonly #options: Required<FairShareOptions>;
  /** Stores that hold or wait. The order is that of turns: a store that was given a place goes to the end. */
  readonly #stores = new Map<string, StoreUse>();
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

  /** Callers that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes places if they can be had at once, and nobody is passed over by it. They are given back by `release`. */
  tryTake(storeId: string, amount = 1): boolean {
    const use = this.#stores.get(storeId);
    if (use !== undefined && use.waiting.size > 0) return false;
    if (!this.#fits(use?.held ?? 0, amount)) return false;
    if (this.#waiting > 0 && amount > 1) return false; // large amounts would keep those who wait for less from their turn
    this.#hold(storeId, use, amount);
    return true;
  }

  /**
   * Takes places, after waiting for a turn where there are too few. They are given back by `release`.
   *
   * @throws {AppError} UNAVAILABLE after waiting in vain, or where too many of the store wait already
   */
  async take(storeId: string, { amount = 1, signal }: TakeOptions = {}): Promise<void> {
    if (this.tryTake(storeId, amount)) return;
    const { waitMs, waitingOfStoreMax } = this.#options;
    const use = this.#useOf(storeId);
    if (this.#isClosed || use.waiting.size >= waitingOfStoreMax || signal?.aborted === true) throw this.#refusal();
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
        this.#forgetIdle(storeId, use);
        reject(this.#refusal());
        this.#admitNext(); // what waited behind it may fit
      };
      const timer = setTimeout(giveUp, waitMs);
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
    use.held -= amount;
    this.#free += amount;
    this.#forgetIdle(storeId, use);
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

  #hold(storeId: string, use: StoreUse | undefined, amount: number): void {
    const held = use ?? { held: 0, waiting: new Set() };
    held.held += amount;
    this.#free -= amount;
    this.#stores.delete(storeId);
    this.#stores.set(storeId, held);
  }

  #useOf(storeId: string): StoreUse {
    const use = this.#stores.get(storeId) ?? { held: 0, waiting: new Set() };
    this.#stores.set(storeId, use);
    return use;
  }

  #forgetIdle(storeId: string, { held, waiting }: StoreUse): void {
    if (held === 0 && waiting.size === 0) this.#stores.delete(storeId);
  }

  /** Admits those who wait, as far as there are places: a store that was given one comes up again after all others. */
  #admitNext(): void {
    if (this.#waiting === 0) return;
    for (const [storeId, use] of this.#stores) {
      const [waiter] = use.waiting;
      if (waiter === undefined || !this.#fits(use.held, waiter.amount)) continue;
      this.#hold(storeId, use, waiter.amount);
      waiter.admit();
    }
  }

  #refusal(): AppError {
    const { message, retryAfterSeconds } = this.#options;
    return new AppError("UNAVAILABLE", message, { retryAfterSeconds });
  }
}
