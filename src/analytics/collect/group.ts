import type { RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import type { ShopperEventInput } from "../events/events.input.js";
import { type EventReceipt, recordEvents } from "../events/events.record.js";
import { newEvents } from "./accepted.js";

/** Records a request's events of a show, together with those of others. Resolves once its own are stored. */
export type RecordTogether = (
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
) => Promise<EventReceipt>;

interface Waiting {
  readonly events: readonly ShopperEventInput[];
  readonly resolve: (receipt: EventReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/** The requests of one show that wait for their turn. */
interface Queue {
  waiting: Waiting[];
  running: number;
  startedAt: number;
  cancel: (() => void) | undefined;
}

/** Statements of one show start this far apart, so that they record several requests each where many come. */
const intervalMs = 10;
/** While a group is recorded, the next one waits for it, but not longer. */
const waitMs = 20;
const runningMax = 4;
const eventsMax = 1_000;
/** Of all shows. */
const waitingMax = 5_000;

/**
 * Group commit: requests of one show that come together are recorded by one statement, since most of the cost of small
 * ones is that of a statement. Each gets the counts of its own events; one that is refused fails alone.
 */
export function createGroupCommit(): RecordTogether {
  const queues = new Map<string, Queue>();
  let waitingTotal = 0;
  const run = async (key: string, queue: Queue, record: RecordGroup): Promise<void> => {
    const group = takeGroup(queue);
    queue.startedAt = performance.now();
    queue.running += 1;
    if (queue.waiting.length > 0) schedule(key, queue, record);
    await record(group);
    queue.running -= 1;
    waitingTotal -= group.length;
    queue.cancel?.(); // the next group need not wait that long anymore
    queue.cancel = undefined;
    schedule(key, queue, record);
  };
  const schedule = (key: string, queue: Queue, record: RecordGroup): void => {
    if (queue.running >= runningMax || queue.cancel !== undefined) return;
    const pauseMs = queue.running > 0 ? waitMs : intervalMs;
    queue.cancel = after(queue.startedAt + pauseMs - performance.now(), () => {
      queue.cancel = undefined;
      if (queue.waiting.length > 0) void run(key, queue, record);
      else if (queue.running === 0) queues.delete(key);
    });
  };
  return (db, storeId, lsId, events) => {
    if (waitingTotal >= waitingMax) {
      const options = { retryAfterSeconds: 1 };
      return Promise.reject(new AppError("UNAVAILABLE", "Too many requests wait to be stored.", options));
    }
    const key = JSON.stringify([storeId, lsId]);
    const queue = queues.get(key) ?? { waiting: [], running: 0, startedAt: -Infinity, cancel: undefined };
    queues.set(key, queue);
    return new Promise((resolve, reject) => {
      waitingTotal += 1;
      queue.waiting.push({ events, resolve, reject });
      schedule(key, queue, (group) => recordGroup(db, storeId, lsId, group));
    });
  };
}

/** Settles each request of a group. Never rejects. */
type RecordGroup = (group: readonly Waiting[]) => Promise<void>;

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
  let events = 0;
  const end = queue.waiting.findIndex((one) => (events += one.events.length) > eventsMax);
  return queue.waiting.splice(0, end === -1 ? queue.waiting.length : Math.max(1, end));
}

/** Settles each request of a group. Never rejects. */
async function recordGroup(db: RootDatabase, storeId: string, lsId: string, group: readonly Waiting[]): Promise<void> {
  const events = group.flatMap((one) => one.events);
  const since = new Date();
  try {
    const receipt = await recordEvents(db, storeId, lsId, events);
    const [first, ...others] = group;
    if (others.length === 0) return first?.resolve(receipt);
    const fresh = receipt.duplicates === 0 ? undefined : await newEvents(db, storeId, lsId, events, since);
    let at = 0;
    for (const one of group) {
      const indexes = one.events.map((_, index) => at + index);
      at += one.events.length;
      const accepted = fresh === undefined ? indexes.length : indexes.filter((index) => fresh.has(index)).length;
      one.resolve({ accepted, duplicates: indexes.length - accepted });
    }
  } catch (error) {
    const refused = group.length === 1 ? [] : refusedOf(group, error);
    if (refused.length === 0) return group.forEach((one) => one.reject(error));
    for (const one of refused) await recordGroup(db, storeId, lsId, [one]);
    const others = group.filter((one) => !refused.includes(one));
    if (others.length > 0) await recordGroup(db, storeId, lsId, others);
  }
}

/** The requests whose events a refusal names; none where it concerns all of them. */
function refusedOf(group: readonly Waiting[], error: unknown): readonly Waiting[] {
  if (!(error instanceof AppError)) return [];
  const named = new Set(error.problems.flatMap(({ path: [name, index] }) => (name === "events" ? [index] : [])));
  let at = 0;
  return group.filter((one) => {
    const start = at;
    at += one.events.length;
    return one.events.some((_, index) => named.has(start + index));
  });
}
