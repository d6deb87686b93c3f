import type { RootDatabase } from "../../database/client.js";
import { callerOf } from "../../database/shares/caller.js";
import { AppError } from "../../errors.js";
import type { ShopperEventInput } from "../events/events.input.js";
import type { EventReceipt } from "../events/events.record.js";
import { recordGroup, recordShow, type Waiting } from "./group.record.js";

/** Resolves once the request's own events are stored. */
export type RecordTogether = (
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
) => Promise<EventReceipt>;

interface Queue {
  readonly storeId: string;
  waiting: Waiting[];
  /**
   * Shows whose requests wait for the show's lock or names, or are recorded one by one: others need not wait for them.
   */
  readonly alone: Set<string>;
  unanswered: number;
  running: number;
  startedAt: number;
  cancel: (() => void) | undefined;
}

/** Between the statements of one store, so that busy ones record several requests each. */
const intervalMs = 10;
/** While a group is recorded, the next one waits no longer than this. */
const waitMs = 20;
const runningMax = 4;
const eventsMax = 1_000;
/** The most shows of a statement, which compares each event with all of them. */
const showsMax = 100;
const unansweredMax = 5_000;
const unansweredOfStoreMax = unansweredMax / 2;

/**
 * Group commit: one statement, most of the cost of small requests, records those of one store that come together. Each
 * gets the counts of its own events; one that is refused fails alone.
 */
export function createGroupCommit(): RecordTogether {
  const commit = new GroupCommit();
  return (db, storeId, lsId, events) => commit.record(db, storeId, lsId, events);
}

class GroupCommit {
  readonly #queues = new Map<string, Queue>();
  #unanswered = 0;

  async record(...[db, storeId, lsId, events]: Parameters<RecordTogether>): ReturnType<RecordTogether> {
    const key = `${storeId} ${callerOf(db)?.storeCreatedAt.toISOString()}`;
    const queue = this.#queues.get(key) ?? newQueue(storeId);
    if (this.#unanswered >= unansweredMax || queue.unanswered >= unansweredOfStoreMax) {
      throw new AppError("UNAVAILABLE", "Too many requests wait to be stored.", { retryAfterSeconds: 1 });
    }
    this.#queues.set(key, queue);
    this.#unanswered += 1;
    queue.unanswered += 1;
    try {
      return await new Promise((resolve, reject) => {
        queue.waiting.push({ db, lsId, events, resolve, reject });
        this.#schedule(key, queue);
      });
    } finally {
      this.#unanswered -= 1;
      queue.unanswered -= 1;
    }
  }

  #schedule(key: string, queue: Queue): void {
    if (queue.running >= runningMax || queue.cancel !== undefined) return;
    const pauseMs = queue.running > 0 ? waitMs : intervalMs;
    queue.cancel = after(queue.startedAt + pauseMs - performance.now(), () => {
      queue.cancel = undefined;
      if (queue.waiting.some(({ lsId }) => !queue.alone.has(lsId))) void this.#run(key, queue);
      else if (queue.unanswered === 0) this.#queues.delete(key);
    });
  }

  async #run(key: string, queue: Queue): Promise<void> {
    const group = takeGroup(queue);
    queue.startedAt = performance.now();
    queue.running += 1;
    if (queue.waiting.length > 0) this.#schedule(key, queue);
    for (const [lsId, requests] of await recordGroup(queue.storeId, group)) {
      queue.alone.add(lsId);
      void recordShow(queue.storeId, lsId, requests).finally(() => {
        queue.alone.delete(lsId);
        this.#schedule(key, queue);
      });
    }
    queue.running -= 1;
    queue.cancel?.(); // the next group need not wait that long anymore
    queue.cancel = undefined;
    this.#schedule(key, queue);
  }
}

function newQueue(storeId: string): Queue {
  return { storeId, waiting: [], alone: new Set(), unanswered: 0, running: 0, startedAt: -Infinity, cancel: undefined };
}

/** @returns a function that cancels it */
function after(ms: number, work: () => void): () => void {
  if (ms <= 0) {
    const immediate = setImmediate(work); // with all requests of this turn of the event loop
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

function takeGroup(queue: Queue): Waiting[] {
  let count = 0;
  const shows = new Set<string>();
  const group: Waiting[] = [];
  const rest: Waiting[] = [];
  for (const one of queue.waiting) {
    const hasPlace = group.length === 0 || (count + one.events.length <= eventsMax && shows.size < showsMax);
    if (queue.alone.has(one.lsId) || !hasPlace) {
      rest.push(one);
      continue;
    }
    count += one.events.length;
    shows.add(one.lsId);
    group.push(one);
  }
  queue.waiting = rest;
  return group;
}
