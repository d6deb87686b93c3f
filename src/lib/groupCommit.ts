import { AppError } from "../errors.js";
import { pause } from "./timers.js";

/** What waits to be stored, and how its caller is answered. */
export interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** The least time between the beginnings of two groups of a key, so that busy keys have several items in each. */
  readonly everyMs?: number;
  /** How many of those that wait, from the first on, are stored together; at least one. */
  readonly sizeOf: (waiting: readonly Waiting<Item, Result>[]) => number;
  /** Answers all of a group. Those that it has not answered when it fails get its error. */
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
 * Group commit: what is most of the cost of storing one item is done once for those of one key that come together. While a group is
 * stored, others wait and share the next.
 */
export class GroupCommit<Item, Result> {
  readonly #queues = new Map<string, Queue<Item, Result>>();
  readonly #unansweredOf = new Map<string, number>();
  #unanswered = 0;

  constructor(private readonly options: GroupOptions<Item, Result>) {}

  /**
   * @param owner of the key and of others, such as a store: at most half of the items that wait may be of one
   * @throws {AppError} UNAVAILABLE where too many are not answered yet, or what the item is refused with
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

  /** Whether something of the key waits or is being stored. */
  isBusy(key: string): boolean {
    return this.#queues.has(key);
  }

  async #run(key: string, queue: Queue<Item, Result>): Promise<void> {
    const { everyMs = 0, sizeOf, commit } = this.options;
    queue.isRunning = true;
    while (queue.waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve)); // with all of this turn of the event loop
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
