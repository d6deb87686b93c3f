import type { Database, RootDatabase } from "../../database/client.js";
import { callerOf, storeClientOf } from "../../database/shares/caller.js";
import { AppError } from "../../errors.js";
import type { ShopperEventInput } from "../events.input.js";
import { type AttributeOrders, type EventReceipt, recordEvents, recordShows } from "../record/events.record.js";
import type { ShowEvents } from "../record/events.send.js";
import { idBytes } from "../record/eventValues.sql.js";

/** Resolves once the request's own events are stored. */
export type RecordTogether = (
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
) => Promise<EventReceipt>;

/** The requests of one public key, which ends for all of them. */
interface Queue {
  readonly key: string;
  readonly db: RootDatabase;
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

/** Between the statements of one key, so that busy ones record several requests each. */
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
 * Group commit: one statement, most of the cost of small requests, records those of one public key that come together. Each
 * gets the counts of its own events; one that is refused fails alone.
 */
export function createGroupCommit(attribute?: AttributeOrders): RecordTogether {
  const commit = new GroupCommit(attribute);
  return (db, storeId, lsId, events) => commit.record(db, storeId, lsId, events);
}

class GroupCommit {
  readonly #queues = new Map<string, Queue>();
  readonly #unansweredByStore = new Map<string, number>();
  #unanswered = 0;

  constructor(private readonly attribute: AttributeOrders | undefined) {}

  async record(...[db, storeId, lsId, events]: Parameters<RecordTogether>): ReturnType<RecordTogether> {
    const ofStore = this.#unansweredByStore.get(storeId) ?? 0;
    if (this.#unanswered >= unansweredMax || ofStore >= unansweredOfStoreMax) {
      throw new AppError("UNAVAILABLE", "Too many requests wait to be stored.", { retryAfterSeconds: 1 });
    }
    const key = callerOf(db)?.id ?? storeId;
    const queue = this.#queues.get(key) ?? newQueue(key, db, storeId);
    this.#queues.set(key, queue);
    this.#count(queue, 1);
    try {
      return await new Promise((resolve, reject) => {
        queue.waiting.push({ lsId, events, resolve, reject });
        this.#schedule(queue);
      });
    } finally {
      this.#count(queue, -1);
    }
  }

  #count(queue: Queue, unanswered: number): void {
    const ofStore = (this.#unansweredByStore.get(queue.storeId) ?? 0) + unanswered;
    if (ofStore === 0) this.#unansweredByStore.delete(queue.storeId);
    else this.#unansweredByStore.set(queue.storeId, ofStore);
    this.#unanswered += unanswered;
    queue.unanswered += unanswered;
  }

  #schedule(queue: Queue): void {
    if (queue.running >= runningMax || queue.cancel !== undefined) return;
    const pauseMs = queue.running > 0 ? waitMs : intervalMs;
    queue.cancel = after(queue.startedAt + pauseMs - performance.now(), () => {
      queue.cancel = undefined;
      if (queue.waiting.some(({ lsId }) => !queue.alone.has(lsId))) void this.#run(queue);
      else if (queue.unanswered === 0) this.#queues.delete(queue.key);
    });
  }

  async #run(queue: Queue): Promise<void> {
    const group = takeGroup(queue);
    queue.startedAt = performance.now();
    queue.running += 1;
    if (queue.waiting.length > 0) this.#schedule(queue);
    for (const [lsId, requests] of await recordGroup(queue, group, this.attribute)) {
      queue.alone.add(lsId);
      void recordShow(queue, lsId, requests, this.attribute).finally(() => {
        queue.alone.delete(lsId);
        this.#schedule(queue);
      });
    }
    queue.running -= 1;
    queue.cancel?.(); // the next group need not wait that long anymore
    queue.cancel = undefined;
    this.#schedule(queue);
  }
}

function newQueue(key: string, db: RootDatabase, storeId: string): Queue {
  const [startedAt, cancel] = [-Infinity, undefined];
  return { key, db, storeId, waiting: [], alone: new Set(), unanswered: 0, running: 0, startedAt, cancel };
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

interface Waiting extends ShowEvents {
  readonly resolve: (receipt: EventReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Records by one statement what needs no waiting. Never rejects.
 *
 * @returns the requests that are not settled, by their show
 */
async function recordGroup(
  { db, storeId }: Queue,
  group: readonly Waiting[],
  attribute: AttributeOrders | undefined,
): Promise<readonly (readonly [lsId: string, Waiting[]])[]> {
  const byShow = new Map<string, Waiting[]>();
  for (const one of group) {
    const requests = byShow.get(one.lsId);
    if (requests === undefined) byShow.set(one.lsId, [one]);
    else requests.push(one);
  }
  const shows = [...byShow];
  const since = new Date();
  try {
    const batches = shows.map(([lsId, requests]) => ({ lsId, events: requests.flatMap(({ events }) => events) }));
    const outcomes = await recordShows(db, storeId, batches, attribute);
    return shows.filter(([lsId, requests], index) => {
      const outcome = outcomes[index];
      if (outcome?.status === "rejected") {
        if (requests.length === 1) requests[0]?.reject(outcome.reason);
        return requests.length > 1;
      }
      if (outcome?.value !== undefined) void answer(db, storeId, lsId, requests, outcome.value, since);
      return outcome?.value === undefined;
    });
  } catch (error) {
    for (const one of group) one.reject(error);
    return [];
  }
}

/** Settles the requests of one show, refusing each by itself. Never rejects. */
async function recordShow(
  queue: Queue,
  lsId: string,
  requests: readonly Waiting[],
  attribute: AttributeOrders | undefined,
): Promise<void> {
  const since = new Date();
  const { db, storeId } = queue;
  try {
    const events = requests.flatMap((one) => one.events);
    const receipt = await recordEvents(db, storeId, lsId, events, { attribute });
    await answer(db, storeId, lsId, requests, receipt, since);
  } catch (error) {
    const parts = apart(requests, error);
    if (parts.length === 1) return requests.forEach((one) => one.reject(error));
    for (const part of parts) await recordShow(queue, lsId, part, attribute);
  }
}

/**
 * Gives each request the number of its own events that were new. Never rejects.
 *
 * @param since before they were recorded
 */
async function answer(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  requests: readonly Waiting[],
  receipt: EventReceipt,
  since: Date,
): Promise<void> {
  const [first, ...others] = requests;
  if (others.length === 0) return first?.resolve(receipt);
  try {
    const events = requests.flatMap((one) => one.events);
    const fresh =
      receipt.duplicates === 0 ? undefined : await newEvents(storeClientOf(db), storeId, lsId, events, since);
    let at = 0;
    for (const one of requests) {
      const indexes = one.events.map((_, index) => at + index);
      at += one.events.length;
      const accepted = fresh === undefined ? indexes.length : indexes.filter((index) => fresh.has(index)).length;
      one.resolve({ accepted, duplicates: indexes.length - accepted });
    }
  } catch (error) {
    for (const one of requests) one.reject(error);
  }
}

/** What to record apart after an error that does not concern all. */
function apart(group: readonly Waiting[], error: unknown): readonly (readonly Waiting[])[] {
  if (group.length === 1) return [group];
  const refused = refusedOf(group, error);
  const others = group.filter((one) => !refused.includes(one));
  return [...refused.map((one) => [one]), ...(others.length > 0 ? [others] : [])];
}

/** The requests whose events a refusal names; none where it concerns all. */
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

/**
 * Events of a batch, by index, that were new when it was recorded.
 *
 * @param since a time before the batch was recorded
 */
async function newEvents(
  db: Database,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
  since: Date,
): Promise<ReadonlySet<number>> {
  // findFirst: see storeStatements.ts
  const show = await db.liveStream.findFirst({ where: { storeId, id: lsId }, select: { number: true } });
  if (show === null) return new Set(); // deleted meanwhile
  const keys = events.map(({ id }) => idBytes(id).slice(2)); // without the \x of PostgreSQL
  const rows = await db.showEvent.findMany({
    where: {
      storeId,
      show: show.number,
      id: { in: [...new Set(keys)].map((key) => Uint8Array.from(Buffer.from(key, "hex"))) },
      acceptedAt: { gte: since },
    },
    select: { id: true, position: true },
  });
  // An event keeps its position in the batch that stored it.
  const stored = new Set(rows.map(({ id, position }) => `${Buffer.from(id).toString("hex")} ${position}`));
  return new Set(keys.flatMap((key, index) => (stored.has(`${key} ${index + 1}`) ? [index] : [])));
}
