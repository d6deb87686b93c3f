export interface Waiter {
  readonly amount: number;
  readonly admit: () => void;
  readonly refuse: () => void;
}

export interface StoreUse {
  readonly storeId: string;
  held: number;
  /** The group in which its places count, until it is looked up again. */
  group: string | undefined;
  /** Its use so far, in places times milliseconds. */
  used: number;
  countedAt: number;
  readonly waiting: Set<Waiter>;
}

/** Stores to remember beyond those that hold or wait. */
const storesMax = 10_000;

/** Measures how long stores hold places, and tells whose turn is next. */
export class StoreUses {
  /** Stores that hold or wait, or recently used more than others. */
  readonly #stores = new Map<string, StoreUse>();
  /** Virtual time: the use of the store last admitted, from which new stores start, so that idle time earns nothing. */
  #clock = 0;
  /** No entry where nothing is held. */
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

  /** Answers what would be if the store had given back as much. */
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

  /** The first waiter of the store that has used the least, where its amount fits. */
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
