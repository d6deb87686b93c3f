import type { RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { type EventReceipt, recordEvents, recordShows } from "../events/events.record.js";
import type { ShowEvents } from "../events/events.send.js";
import { newEvents } from "./newEvents.js";

export interface Waiting extends ShowEvents {
  readonly resolve: (receipt: EventReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Records by one statement what needs no waiting. Never rejects.
 *
 * @returns the requests that are not settled, by their show
 */
export async function recordGroup(
  db: RootDatabase,
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
    for (const one of group) one.reject(error);
    return [];
  }
}

/** Settles the requests of one show, refusing each by itself. Never rejects. */
export async function recordShow(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  requests: readonly Waiting[],
): Promise<void> {
  const since = new Date();
  try {
    const receipt = await recordEvents(
      db,
      storeId,
      lsId,
      requests.flatMap(({ events }) => events),
    );
    await answer(db, storeId, lsId, requests, receipt, since);
  } catch (error) {
    const refused = requests.length === 1 ? [] : refusedOf(requests, error);
    if (refused.length === 0) return requests.forEach((one) => one.reject(error));
    for (const one of refused) await recordShow(db, storeId, lsId, [one]);
    const others = requests.filter((one) => !refused.includes(one));
    if (others.length > 0) await recordShow(db, storeId, lsId, others);
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
    const fresh = receipt.duplicates === 0 ? undefined : await newEvents(db, storeId, lsId, events, since);
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
