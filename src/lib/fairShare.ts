import { AppError } from "../errors.js";

/** Measures how long stores hold places, and decides whose turn is next. */
class StoreUses {
  /** Stores that hold or wait, or recently used more than others. */
  readonly #stores = new Map<string, StoreUse>();
  /** Virtual time: the use of the store last admitted, from which new stores start, so that idle time earns nothing. */
  #clock = 0;
  /** Only groups that hold something have an entry. */
  readonly #heldByGroup = new Map<string, number>();
  readonly #groupOf: (storeId: string) => string | undefined;

  constructor(groupOf: (storeId: string) => string | undefined = () => undefined) {
    this.#groupOf = groupOf;
  }

  of(storeId: string): StoreUse {
    let use = this.#stores.get(storeId);
    if (use === undefined) {
      if (this.#stores.size >= storesMax) this.#forgetIdle();
      use = { storeId, held: 0, group: undefined, used: this.#clock, countedAt: performance.now(), waiting: new Set() };
      this.#stores.set(storeId, use);
    } else if (isIdle(use)) use.used = Math.max(use.used, this.#clock);
    return use;
  }

  all(): Iterable<StoreUse> {
    return this.#stores.values();
  }

  hold(use: StoreUse, amount: number): void {
    count(use);
    this.#clock = Math.max(this.#clock, use.used);
    this.#addHeld(use, amount);
  }

  /** @returns whether the store is known */
  release(storeId: string, amount: number): boolean {
    const use = this.#stores.get(storeId);
    if (use === undefined) return false;
    count(use);
    this.#addHeld(use, -amount);
    return true;
  }

  /** Asks as if the store had already released this amount. */
  asIfReleased<Answer>(use: StoreUse, amount: number, ask: () => Answer): Answer {
    this.#addHeld(use, -amount);
    try {
      return ask();
    } finally {
      this.#addHeld(use, amount);
    }
  }

  heldByGroupOf(use: StoreUse): number {
    const group = this.#groupOf(use.storeId);
    if (group !== use.group) {
      const { held } = use;
      this.#addHeld(use, -held);
      use.group = group;
      this.#addHeld(use, held);
    }
    return group === undefined ? 0 : (this.#heldByGroup.get(group) ?? 0);
  }

  get heldByGroups(): number {
    let sum = 0;
    for (const held of this.#heldByGroup.values()) sum += held;
    return sum;
  }

  #addHeld(use: StoreUse, amount: number): void {
    use.held += amount;
    if (use.group === undefined) return;
    const held = (this.#heldByGroup.get(use.group) ?? 0) + amount;
    if (held === 0) this.#heldByGroup.delete(use.group);
    else this.#heldByGroup.set(use.group, held);
  }

  clear(): void {
    this.#stores.clear();
    this.#heldByGroup.clear();
  }

  /** The first waiter whose amount fits, of the store that has used the least. */
  next(fits: (use: StoreUse, amount: number) => boolean): { use: StoreUse; waiter: Waiter } | undefined {
    let next: { use: StoreUse; waiter: Waiter } | undefined;
    for (const use of this.#stores.values()) {
      const [waiter] = use.waiting;
      if (waiter === undefined || !fits(use, waiter.amount)) continue;
      count(use);
      if (next === undefined || use.used < next.use.used) next = { use, waiter };
    }
    return next;
  }

  #forgetIdle(): void {
    for (const [storeId, use] of this.#stores) if (isIdle(use)) this.#stores.delete(storeId);
  }
}

interface FairShareOptions {
  /** Connections, threads or bytes. */
  readonly places: number;
  readonly ofStoreMax: number;
  /** 4.5 seconds by default, so that clients are refused within 5. */
  readonly waitMs?: number;
  /** More callers of one store than this would time out, so they are refused immediately. 1,000 by default. */
  readonly waitingOfStoreMax?: number;
  /**
   * Stores that share a database server: together they hold at most `max` places. The more groups are active, the less each may
   * hold, so that some places stay free (Choudhury and Hahne's dynamic thresholds, 1998).
   */
  readonly groups?: StoreGroups | undefined;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

interface StoreGroups {
  readonly max: number;
  /** Called often, because a store's group may change. Undefined for a store without one. */
  readonly of: (storeId: string) => string | undefined;
}

interface TakeOptions {
  /** 1 by default. */
  readonly amount?: number;
  /** Aborted when the caller disconnects. */
  readonly signal?: AbortSignal | undefined;
}

const waitMsDefault = 4_500;
const waitingOfStoreMaxDefault = 1_000;

/**
 * Shares places by start-time fair queueing (Goyal, Vin and Cheng, 1996). The cost of a request is the time it holds its places:
 * a free place goes to the waiting store that has used the least, so that one store's many or long requests do not delay others.
 */
export class FairShare {
  readonly #options: Required<FairShareOptions>;
  readonly #uses: StoreUses;
  #free: number;
  #waiting = 0;
  #isClosed = false;

  constructor(options: FairShareOptions) {
    this.#options = {
      waitMs: waitMsDefault,
      waitingOfStoreMax: waitingOfStoreMaxDefault,
      retryAfterSeconds: 1,
      groups: undefined,
      ...options,
    };
    this.#uses = new StoreUses(options.groups?.of);
    this.#free = options.places;
  }

  get ofStoreMax(): number {
    return this.#options.ofStoreMax;
  }

  get places(): number {
    return this.#options.places;
  }

  get held(): number {
    return this.#options.places - this.#free;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Takes places if they are free and nobody waits for them; the caller must `release` them. */
  tryTake(storeId: string, amount = 1): boolean {
    const use = this.#uses.of(storeId);
    if (use.waiting.size > 0 || !this.#fits(use, amount)) return false;
    if (this.#waiting > 0 && amount > 1) return false; // large amounts must not overtake waiting small ones
    this.#hold(use, amount);
    return true;
  }

  /**
   * Takes places, and waits while too few are free.
   *
   * @throws {AppError} UNAVAILABLE after the timeout, or if too many callers of the store wait
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

  /** Whether a waiting caller would get this amount if the store released it. */
  isWanted(storeId: string, amount = 1): boolean {
    if (this.#waiting === 0) return false;
    const fits = (use: StoreUse, wanted: number) => this.#fits(use, wanted, amount);
    return this.#uses.asIfReleased(this.#uses.of(storeId), amount, () => this.#uses.next(fits)) !== undefined;
  }

  /** Refuses all waiting and all later callers. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#uses.all()) for (const waiter of waiting) waiter.refuse();
  }

  release(storeId: string, amount = 1): void {
    if (!this.#uses.release(storeId, amount)) return;
    this.#free += amount;
    if (this.#free === this.#options.places && this.#waiting === 0) this.#uses.clear(); // no store competes
    this.#admitNext();
  }

  /** Holds one place while it works. @throws {AppError} as `take` does */
  async run<Result>(storeId: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (!this.tryTake(storeId)) await this.take(storeId, { signal });
    try {
      return await work();
    } finally {
      this.release(storeId);
    }
  }

  /** @param released what would be free in addition */
  #fits(use: StoreUse, amount: number, released = 0): boolean {
    const { places, ofStoreMax, groups } = this.#options;
    if (amount > this.#free + released || use.held + amount > ofStoreMax) return false;
    if (groups === undefined) return true;
    const before = this.#uses.heldByGroupOf(use);
    const held = before + amount;
    if (held > groups.max) return false;
    const left = places - this.#uses.heldByGroups - amount;
    return before === 0 || held * (places - groups.max) <= groups.max * left;
  }

  #hold(use: StoreUse, amount: number): void {
    this.#uses.hold(use, amount);
    this.#free -= amount;
  }

  #admitNext(): void {
    while (this.#waiting > 0 && this.#free > 0) {
      const next = this.#uses.next((use, amount) => this.#fits(use, amount));
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

interface Waiter {
  readonly amount: number;
  readonly admit: () => void;
  readonly refuse: () => void;
}

interface StoreUse {
  readonly storeId: string;
  held: number;
  /** The group as last looked up, in which the store's places count. */
  group: string | undefined;
  /** Its use so far, in places times milliseconds. */
  used: number;
  countedAt: number;
  readonly waiting: Set<Waiter>;
}

/** Stores to remember beyond those that hold or wait. */
const storesMax = 10_000;

function isIdle({ held, waiting }: StoreUse): boolean {
  return held === 0 && waiting.size === 0;
}

/** Adds the use since the last count. */
function count(use: StoreUse): void {
  const now = performance.now();
  use.used += use.held * (now - use.countedAt);
  use.countedAt = now;
}
