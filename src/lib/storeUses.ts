export interface Waiter {
  readonly amount: number;
  readonly admit: () => void;
  readonly refuse: () => void;
}

/** What one store holds, has used, and waits for. */
export interface StoreUse {
  held: number;
  /** Its use so far, in places times milliseconds. */
  used: number;
  countedAt: number;
  readonly waiting: Set<Waiter>;
}

/** Stores to remember beyond those that hold or wait. */
const storesMax = 10_000;

/** Measures how long each store holds how many places, and tells whose turn is next. */
export class StoreUses {
  /** Stores that hold or wait, or recently used more than others. */
  readonly #stores = new Map<string, StoreUse>();
  /** The virtual time: the use of the store that was last admitted. New stores start from it, so that idle time earns nothing. */
  #clock = 0;

  of(storeId: string): StoreUse {
    let use = this.#stores.get(storeId);
    if (use === undefined) {
      if (this.#stores.size >= storesMax) this.#forgetIdle();
      use = { held: 0, used: this.#clock, countedAt: performance.now(), waiting: new Set() };
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
    use.held += amount;
  }

  /** @returns whether the store is known */
  release(storeId: string, amount: number): boolean {
    const use = this.#stores.get(storeId);
    if (use === undefined) return false;
    count(use);
    use.held -= amount;
    return true;
  }

  clear(): void {
    this.#stores.clear();
  }

  /** The first waiter of the store that has used the least, among those whose amount fits. */
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

function isIdle({ held, waiting }: StoreUse): boolean {
  return held === 0 && waiting.size === 0;
}

/** Adds the use since the last count. */
function count(use: StoreUse): void {
  const now = performance.now();
  use.used += use.held * (now - use.countedAt);
  use.countedAt = now;
}
