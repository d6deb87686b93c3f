import { currencyOf } from "../../stores/store.currency.js";
import type { RootDatabase } from "../../database/client.js";
import { errorAt, Problems } from "../../errors.js";
import { isStorable } from "../../lib/text.js";
import { withChannels } from "./inferChannel.js";
import {
  batchEventsMax,
  checkEvent,
  eventConstraints,
  type EventConstraints,
  isSale,
  type ShopperEventInput,
} from "../events.input.js";
import { type Outcome, type Part, refusingStatuses, sendEvents, type ShowEvents } from "./events.send.js";
import { foldTotals, noteDue } from "./fold.js";
import { areNamesKept, keepNames, nameLimits, type NameLimits, resetIfReplaced } from "./countedNames.js";
import { cachedShow, type CachedShow, cacheShow, noteDuplicates, rowsToFoldMax } from "./showCache.js";
import { findLiveStream, liveStreamNotFound, startWhenDue } from "../../shows/liveStream.js";
import { waitForShowLock } from "../../database/showLock.js";

export interface EventReceipt {
  readonly accepted: number;
  /** Events whose ids the show already had, or the batch repeats. */
  readonly duplicates: number;
  /** The ids of other shows whose figures these events' orders changed. */
  readonly changed?: readonly string[];
}

const lockWaitMsDefault = 5_000;

/**
 * Attributes the orders that events made due. Passed in, because the room of events may not import the room of orders.
 *
 * @returns the ids of the shows whose figures changed
 */
export type AttributeOrders = (
  db: RootDatabase,
  storeId: string,
  orderIds: readonly string[],
) => Promise<readonly string[]>;

interface RecordOptions {
  readonly lockWaitMs?: number;
  /** If missing, the next round of the sweep attributes them (orders/attribution/attributePending.ts). */
  readonly attribute?: AttributeOrders | undefined;
  /** Must be the same wherever a show is recorded or rebuilt. */
  readonly limits?: NameLimits;
}

/**
 * Records a batch, all or nothing, each event id once for its show. One statement stores the new events and updates all totals.
 *
 * @throws {AppError} VALIDATION_FAILED naming each invalid event by its index, LIVE_STREAM_NOT_FOUND, or UNAVAILABLE
 * after `lockWaitMs`
 */
export async function recordEvents(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
  { lockWaitMs = lockWaitMsDefault, attribute, limits = nameLimits }: RecordOptions = {},
): Promise<EventReceipt> {
  const part = await checked(db, storeId, { lsId, events });
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    const waitMs = deadline - performance.now();
    await keepNames(db, part.show.names, { ...part, storeId, limits, waitMs });
    const [outcome] = await sendEvents(db, storeId, [part], deadline);
    const receipt = await receiptOf(db, storeId, part, outcome, attribute);
    if (receipt !== undefined) return receipt;
    if (outcome?.isReplaced === true || outcome?.status === "SCHEDULED") continue; // the show was replaced or started in between
    if (outcome?.isTooEarly === true) {
      checkEvents(events, eventConstraints(await findLiveStream(db, storeId, lsId))); // this names the events; amounts were checked before
      continue; // the show's start changed in between
    }
    await waitForShowLock(db, storeId, lsId, deadline - performance.now());
  }
}

/**
 * Records events of different shows with one statement, otherwise like recordEvents.
 *
 * @param batches at most `batchEventsMax` events in all
 * @returns for each show its receipt or error; undefined if nothing was stored and recordEvents, which may wait, must do it
 */
export async function recordShows(
  db: RootDatabase,
  storeId: string,
  batches: readonly ShowEvents[],
  attribute?: AttributeOrders,
): Promise<PromiseSettledResult<EventReceipt | undefined>[]> {
  const parts = await Promise.allSettled(batches.map((batch) => checked(db, storeId, batch)));
  const ready = parts.flatMap((part) =>
    part.status === "fulfilled" && areNamesKept(part.value.events, part.value.show.names) ? [part.value] : [],
  );
  const sent = ready.length === 0 ? [] : await sendEvents(db, storeId, ready, performance.now() + lockWaitMsDefault);
  const outcomes = new Map(sent.map((outcome) => [ready[outcome.place - 1], outcome]));
  return Promise.allSettled(
    parts.map(async (part) => {
      if (part.status === "rejected") throw part.reason;
      return ready.includes(part.value)
        ? receiptOf(db, storeId, part.value, outcomes.get(part.value), attribute)
        : undefined;
    }),
  );
}

async function checked(db: RootDatabase, storeId: string, { lsId, events }: ShowEvents): Promise<Part> {
  if (events.length > batchEventsMax) {
    throw errorAt("VALIDATION_FAILED", `A batch may have at most ${batchEventsMax} events.`, ["events"]);
  }
  checkEvents(events, await constraintsOf(db, storeId, events));
  if (!isStorable(lsId)) throw liveStreamNotFound();
  const ofChannels = await withChannels(db, storeId, lsId, events);
  const [earliest, refusedBy] = [earliestOf(events), refusingStatuses(events)];
  return { lsId, events: ofChannels, earliest, refusedBy, show: cachedShow(db, storeId, lsId) };
}

/** Reads the currency from the database if an event names one, because an operator may just have set it. */
async function constraintsOf(
  db: RootDatabase,
  storeId: string,
  events: readonly ShopperEventInput[],
): Promise<EventConstraints> {
  const isNamed = events.some(({ currency }) => typeof currency === "string");
  if (!isNamed && !events.some(({ type }) => isSale(type))) return eventConstraints();
  return { ...eventConstraints(), currency: await currencyOf(db, storeId, isNamed) };
}

/**
 * @param outcome undefined for a missing show
 * @returns undefined if nothing was stored and the events must be sent again
 */
async function receiptOf(
  db: RootDatabase,
  storeId: string,
  { lsId, events, refusedBy, show }: Part,
  outcome: Outcome | undefined,
  attribute: AttributeOrders | undefined,
): Promise<EventReceipt | undefined> {
  if (outcome === undefined) throw liveStreamNotFound();
  if (outcome.status === "ARCHIVED" && refusedBy.includes("ARCHIVED")) {
    throw errorAt("VALIDATION_FAILED", "The show is archived and takes no more events.", ["lsId"]);
  }
  if (outcome.status === "SCHEDULED") {
    await startWhenDue(db, storeId, lsId);
    return undefined;
  }
  resetIfReplaced(show.names, outcome.createdAt);
  if (outcome.isReplaced || outcome.isTooEarly || !outcome.hasLock) return undefined;
  if (outcome.accepted < events.length) noteDuplicates(show, { wereUnexpected: false });
  else show.batchesWithoutDuplicates += 1;
  await foldWhenDue(db, storeId, lsId, show, outcome.rowsToFold);
  const receipt = { accepted: outcome.accepted, duplicates: events.length - outcome.accepted };
  if (!outcome.hasDueOrders || attribute === undefined) return receipt;
  const orders = events.flatMap(({ orderId }) => (orderId ? [orderId] : []));
  return { ...receipt, changed: await attribute(db, storeId, orders) };
}

async function foldWhenDue(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  show: CachedShow,
  rowsWritten: number,
): Promise<void> {
  if (rowsWritten > 0) noteDue(db, storeId, lsId);
  show.rowsToFold += rowsWritten;
  const isDue = show.rowsToFold > rowsToFoldMax;
  if (isDue) show.rowsToFold = 0;
  cacheShow(db, storeId, lsId, show);
  if (!isDue) return;
  try {
    await foldTotals(db, storeId, lsId);
  } catch {
    show.rowsToFold = rowsToFoldMax; // folding failed, but the events are recorded
  }
}

function checkEvents(events: readonly ShopperEventInput[], constraints: EventConstraints): void {
  const problems = new Problems();
  events.forEach((event, index) => checkEvent(event, ["events", index], problems, constraints));
  problems.throwIfAny();
}

function earliestOf(events: readonly ShopperEventInput[]): Date | null {
  let earliest: Date | null = null;
  for (const { occurredAt } of events) {
    if (occurredAt instanceof Date && (earliest === null || occurredAt < earliest)) earliest = occurredAt;
  }
  return earliest;
}
