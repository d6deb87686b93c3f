import type { Database, RootDatabase } from "../../database/client.js";
import { callerOf, storeClientOf } from "../../database/shares/caller.js";
import { AppError } from "../../errors.js";
import { GroupCommit, type Waiting } from "../../lib/groupCommit.js";
import type { ShopperEventInput } from "../events.input.js";
import type { AttributeOrders } from "../../schema/context.js";
import { type EventReceipt, recordEvents, recordShows, type ShowEvents } from "../record/events.record.js";
import { idBytes } from "../record/eventValues.sql.js";

/** Resolves once the request's own events are stored. */
export type RecordTogether = (
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
) => Promise<EventReceipt>;

/** Between the statements of one public key, so that busy ones record several requests each. */
const everyMs = 10;
const eventsMax = 1_000;
/** The most shows of a statement, which compares each event with all of them. */
const showsMax = 100;

interface Sent extends ShowEvents {
  /** Of the request's public key. */
  readonly db: RootDatabase;
  readonly storeId: string;
}

type Request = Waiting<Sent, EventReceipt>;
/** Requests of one show. */
type Group = readonly [Request, ...Request[]];

/**
 * One statement, most of the cost of small requests, records those of one public key that come together. Each gets the counts of its own
 * events; one that is refused fails alone. What has to wait for its show's lock or names is recorded apart, show by show, so that the
 * other shows need not wait for it.
 */
export function createGroupCommit(attribute?: AttributeOrders): RecordTogether {
  const ofShows = new GroupCommit<Sent, EventReceipt>({
    sizeOf,
    commit: (group) => recordShow(group as Group, attribute),
  });
  const commit = async (group: readonly Request[], key: string): Promise<void> => {
    const shows = byKey(group, ({ item }) => item.lsId);
    const ready = [...shows].filter(([lsId]) => !ofShows.isBusy(`${key} ${lsId}`));
    for (const lsId of await recordShowsOf(ready, attribute)) shows.delete(lsId);
    for (const [lsId, requests] of shows) {
      for (const { item, resolve, reject } of requests) {
        ofShows.add(item.storeId, `${key} ${lsId}`, item).then(resolve, reject);
      }
    }
  };
  const ofKeys = new GroupCommit<Sent, EventReceipt>({ everyMs, sizeOf, commit });
  return (db, storeId, lsId, events) => ofKeys.add(storeId, callerOf(db)?.id ?? storeId, { db, storeId, lsId, events });
}

function sizeOf(waiting: readonly Request[]): number {
  const shows = new Set<string>();
  let events = 0;
  const end = waiting.findIndex(({ item }, index) => {
    events += item.events.length;
    shows.add(item.lsId);
    return index > 0 && (events > eventsMax || shows.size > showsMax);
  });
  return end === -1 ? waiting.length : end;
}

function byKey<Key>(requests: readonly Request[], keyOf: (request: Request) => Key): Map<Key, Group> {
  const groups = new Map<Key, [Request, ...Request[]]>();
  for (const request of requests) {
    const key = keyOf(request);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  return groups;
}

/** Records by one statement what needs no waiting. @returns the shows whose requests are settled */
async function recordShowsOf(
  shows: readonly (readonly [lsId: string, requests: Group])[],
  attribute: AttributeOrders | undefined,
): Promise<readonly string[]> {
  const [first] = shows;
  if (first === undefined) return [];
  const { db, storeId } = first[1][0].item;
  const since = new Date();
  const batches = shows.map(([lsId, requests]) => ({ lsId, events: eventsOf(requests) }));
  const outcomes = await recordShows(db, storeId, batches, attribute);
  return shows.flatMap(([lsId, requests], index) => {
    const outcome = outcomes[index];
    if (outcome?.status === "rejected") {
      if (requests.length > 1) return []; // it may concern one of them alone
      requests[0].reject(outcome.reason);
    } else if (outcome?.value === undefined) return [];
    else void answer(db, requests, outcome.value, since);
    return [lsId];
  });
}

function eventsOf(requests: readonly Request[]): readonly ShopperEventInput[] {
  return requests.flatMap(({ item }) => item.events);
}

/** Settles the requests of one show, refusing each by itself. */
async function recordShow(requests: Group, attribute: AttributeOrders | undefined): Promise<void> {
  const since = new Date();
  const { db, storeId, lsId } = requests[0].item;
  try {
    const receipt = await recordEvents(db, storeId, lsId, eventsOf(requests), { attribute });
    await answer(db, requests, receipt, since);
  } catch (error) {
    const parts = apart(requests, error);
    if (parts.length === 1) throw error;
    for (const part of parts)
      await recordShow(part, attribute).catch((reason: unknown) => part.forEach(({ reject }) => reject(reason)));
  }
}

/**
 * Gives each request the number of its own events that were new. Never rejects.
 *
 * @param since before they were recorded
 */
async function answer(db: RootDatabase, requests: Group, receipt: EventReceipt, since: Date): Promise<void> {
  const [first, ...others] = requests;
  if (others.length === 0) return first.resolve(receipt);
  try {
    const { storeId, lsId } = first.item;
    const fresh =
      receipt.duplicates === 0
        ? undefined
        : await newEvents(storeClientOf(db), storeId, lsId, eventsOf(requests), since);
    let at = 0;
    for (const { item, resolve } of requests) {
      const indexes = item.events.map((_, index) => at + index);
      at += indexes.length;
      const accepted = fresh === undefined ? indexes.length : indexes.filter((index) => fresh.has(index)).length;
      resolve({ accepted, duplicates: indexes.length - accepted });
    }
  } catch (error) {
    for (const { reject } of requests) reject(error);
  }
}

/** What to record apart after an error that does not concern all. */
function apart(group: Group, error: unknown): readonly Group[] {
  if (group.length === 1) return [group];
  const refused = refusedOf(group, error);
  return [...byKey(group, (request) => (refused.has(request) ? request : undefined)).values()];
}

/** The requests whose events a refusal names; none where it concerns all. */
function refusedOf(group: readonly Request[], error: unknown): ReadonlySet<Request> {
  if (!(error instanceof AppError)) return new Set();
  const named = new Set(error.problems.flatMap(({ path: [name, index] }) => (name === "events" ? [index] : [])));
  let at = 0;
  return new Set(
    group.filter(({ item }) => {
      const start = at;
      at += item.events.length;
      return item.events.some((_, index) => named.has(start + index));
    }),
  );
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
