import { AppError } from "../errors.js";
import { pause } from "./timers.js";

/** An item that waits to be stored, with the callbacks that answer its caller. */
export interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** The shortest time between the starts of two groups of a key, so that groups of busy keys have several items. */
  readonly everyMs?: number;
  /** How many of the waiting items, from the first on, are stored together; at least one. */
  readonly sizeOf: (waiting: readonly Waiting<Item, Result>[]) => number;
  /** Stores a group and answers its items. If it fails, unanswered ones get its error. */
  readonly commit: (group: readonly Waiting<Item, Result>[], key: string) => Promise<void>;
}

interface Queue<Item, Result> {
  readonly waiting: Waiting<Item, Result>[];
  /** Items that are not answered yet. */
  unanswered: number;
  isRunning: boolean;
}

const unansweredMax = 5_000;
const unansweredOfOwnerMax = unansweredMax / 2;

/**
 * Group commit: items of one key that arrive together are stored together, because most of the cost of storing one is shared. While a
 * group is stored, others wait for the next one.
 */
export class GroupCommit<Item, Result> {
  readonly #queues = new Map<string, Queue<Item, Result>>();
  readonly #unansweredOf = new Map<string, number>();
  #unanswered = 0;

  constructor(private readonly options: GroupOptions<Item, Result>) {}

  /**
   * @param owner of the key and perhaps of others, such as a store. One owner may have at most half of the unanswered items
   * @throws {AppError} UNAVAILABLE if too many items are unanswered, or the error with which the item is refused
   */
  async add(owner: string, key: string, item: Item): Promise<Result> {
    const queue = this.#queues.get(key) ?? { waiting: [], unanswered: 0, isRunning: false };
    if (this.#unanswered >= unansweredMax || (this.#unansweredOf.get(owner) ?? 0) >= unansweredOfOwnerMax) {
      throw new AppError("UNAVAILABLE", "Too many requests wait to be stored.", { retryAfterSeconds: 1 });
    }
    this.#queues.set(key, queue);
    this.#count(owner, queue, 1);
    try {
      return await new Promise((resolve, reject) => {
        queue.waiting.push({ item, resolve, reject });
        if (!queue.isRunning) void this.#run(key, queue);
      });
    } finally {
      this.#count(owner, queue, -1);
      this.#forgetIdle(key, queue);
    }
  }

  #count(owner: string, queue: Queue<Item, Result>, change: 1 | -1): void {
    const ofOwner = (this.#unansweredOf.get(owner) ?? 0) + change;
    if (ofOwner === 0) this.#unansweredOf.delete(owner);
    else this.#unansweredOf.set(owner, ofOwner);
    this.#unanswered += change;
    queue.unanswered += change;
  }

  /** Whether an item of the key waits or is being stored. */
  isBusy(key: string): boolean {
    return this.#queues.has(key);
  }

  async #run(key: string, queue: Queue<Item, Result>): Promise<void> {
    const { everyMs = 0, sizeOf, commit } = this.options;
    queue.isRunning = true;
    while (queue.waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve)); // so that all items of this turn of the event loop are stored together
      const nextAt = performance.now() + everyMs;
      const group = queue.waiting.splice(0, sizeOf(queue.waiting));
      await commit(group, key).catch((error: unknown) => group.forEach(({ reject }) => reject(error)));
      const leftMs = nextAt - performance.now();
      if (leftMs > 0) await pause(leftMs);
    }
    queue.isRunning = false;
    this.#forgetIdle(key, queue);
  }

  #forgetIdle(key: string, { unanswered, isRunning }: Queue<Item, Result>): void {
    if (unanswered === 0 && !isRunning) this.#queues.delete(key);
  }
}
