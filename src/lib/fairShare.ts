import { AppError } from "../errors.js";
import { type StoreUse, StoreUses, type Waiter } from "./storeUses.js";

interface FairShareOptions {
  /** All places: connections, threads or bytes. */
  readonly places: number;
  /** The most that one store may hold. */
  readonly ofStoreMax: number;
  /** The timeout for a place; 4.5 seconds by default, so that clients are refused within 5. */
  readonly waitMs?: number;
  /** 1,000 by default. */
  readonly waitingOfStoreMax?: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

interface TakeOptions {
  /** 1 by default. */
  readonly amount?: number;
  /** Aborted when the caller has disconnected and stops waiting. */
  readonly signal?: AbortSignal | undefined;
}

const waitMsDefault = 4_500;
const waitingOfStoreMaxDefault = 1_000;

/**
 * Shares places among stores by start-time fair queueing (Goyal, Vin and Cheng, 1996), with the time that places are held as
 * cost: a free place goes to the waiting store that has used the least. Neither many requests nor long ones of one store
 * delay the others.
 */
export class FairShare {
  readonly #options: Required<FairShareOptions>;
  readonly #uses = new StoreUses();
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

  get ofStoreMax(): number {
    return this.#options.ofStoreMax;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Takes places if they are free and nobody waits for them; the caller must `release` them. */
  tryTake(storeId: string, amount = 1): boolean {
    const use = this.#uses.of(storeId);
    if (use.waiting.size > 0 || !this.#fits(use.held, amount)) return false;
    if (this.#waiting > 0 && amount > 1) return false; // large amounts must not overtake waiting small ones
    this.#hold(use, amount);
    return true;
  }

  /**
   * Takes places, waiting where too few are free; the caller must `release` them.
   *
   * @throws {AppError} UNAVAILABLE after the timeout, or where too many callers of the store wait
   */
  async take(storeId: string, { amount = 1, signal }: TakeOptions = {}): Promise<void> {
    if (this.tryTake(storeId, amount)) return;
    const use = this.#uses.of(storeId);
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
        this.#admitNext(); // a smaller amount may fit
      };
      const timer = setTimeout(giveUp, this.#options.waitMs);
      signal?.addEventListener("abort", giveUp);
      use.waiting.add(waiter);
      this.#waiting += 1;
    });
  }

  /** Refuses all who wait or would have to. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#uses.all()) for (const waiter of waiting) waiter.refuse();
  }

  release(storeId: string, amount = 1): void {
    if (!this.#uses.release(storeId, amount)) return;
    this.#free += amount;
    if (this.#free === this.#options.places && this.#waiting === 0) this.#uses.clear(); // nobody competes
    this.#admitNext();
  }

  /** Runs work that holds one place. @throws {AppError} as `take` does, or what the work throws */
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
    this.#uses.hold(use, amount);
    this.#free -= amount;
  }

  #admitNext(): void {
    while (this.#waiting > 0 && this.#free > 0) {
      const next = this.#uses.next((use, amount) => this.#fits(use.held, amount));
      if (next === undefined) return;
      this.#hold(next.use, next.waiter.amount);
      next.waiter.admit();
    }
  }

  #refusal(): AppError {
    const { message, retryAfterSeconds } = this.#options;
    return new AppError("UNAVAILABLE", message, { retryAfterSeconds });
  }
}
