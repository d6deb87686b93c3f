import type { Database, RootDatabase } from "../../database/client.js";
import { callerOf, onBehalfOf, storeClientOf } from "../../database/shares/caller.js";
import { AppError } from "../../errors.js";
import { type EventReceipt, recordEvents, recordShows } from "../events/events.record.js";
import type { ShowEvents } from "../events/events.send.js";
import { newEvents } from "./newEvents.js";

export interface Waiting extends ShowEvents {
  /** Of the request's public key. */
  readonly db: RootDatabase;
  readonly resolve: (receipt: EventReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Records by one statement what needs no waiting. Never rejects.
 *
 * @returns the requests that are not settled, by their show
 */
export async function recordGroup(
  storeId: string,
  group: readonly Waiting[],
): Promise<readonly (readonly [lsId: string, Waiting[]])[]> {
  const byShow = new Map<string, Waiting[]>();
  for (const one of group) {
    const requests = byShow.get(one.lsId);
    if (requests === undefined) byShow.set(one.lsId, [one]);
    else requests.push(one);
  }
  const shows = [...byShow];
  const since = new Date();
  const db = clientOf(group);
  try {
    const batches = shows.map(([lsId, requests]) => ({ lsId, events: requests.flatMap(({ events }) => events) }));
    const outcomes = await recordShows(db, storeId, batches);
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
    if (byCaller(group, error).length > 1) return shows;
    for (const one of group) one.reject(error);
    return [];
  }
}

/** Settles the requests of one show, refusing each by itself. Never rejects. */
export async function recordShow(storeId: string, lsId: string, requests: readonly Waiting[]): Promise<void> {
  const since = new Date();
  const db = clientOf(requests);
  try {
    const receipt = await recordEvents(
      db,
      storeId,
      lsId,
      requests.flatMap(({ events }) => events),
    );
    await answer(db, storeId, lsId, requests, receipt, since);
  } catch (error) {
    const parts = apart(requests, error);
    if (parts.length === 1) return requests.forEach((one) => one.reject(error));
    for (const part of parts) await recordShow(storeId, lsId, part);
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
  const ofCallers = byCaller(group, error);
  if (ofCallers.length > 1 || group.length === 1) return ofCallers;
  const refused = refusedOf(group, error);
  const others = group.filter((one) => !refused.includes(one));
  return [...refused.map((one) => [one]), ...(others.length > 0 ? [others] : [])];
}

/** The requests of each public key, where the error may be that one of the keys has ended. */
function byCaller(group: readonly Waiting[], error: unknown): readonly (readonly Waiting[])[] {
  if (!(error instanceof AppError) || error.code !== "UNAUTHENTICATED") return [group];
  const parts = new Map<string | undefined, Waiting[]>();
  for (const one of group) {
    const id = callerOf(one.db)?.id;
    const part = parts.get(id);
    if (part === undefined) parts.set(id, [one]);
    else part.push(one);
  }
  return [...parts.values()];
}

/** A client that writes only while the keys of all requests are valid. */
function clientOf(group: readonly Waiting[]): RootDatabase {
  const byKey = new Map(group.map(({ db }) => [callerOf(db)?.id, db]));
  const [first, ...others] = byKey.values();
  if (first === undefined) throw new Error("A group has at least one request.");
  const caller = callerOf(first);
  if (caller === undefined || others.length === 0) return first;
  const confirm = async (db: Database): Promise<void> => {
    for (const each of byKey.values()) await callerOf(each)?.confirm(db);
  };
  return onBehalfOf(storeClientOf(first), { ...caller, confirm });
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
