import type { AttributeOrders } from "../../schema/context.js";
import { currencyOf } from "../../stores/store.currency.js";
import type { RootDatabase } from "../../database/client.js";
import { errorAt, Problems, AppError } from "../../errors.js";
import { isStorable } from "../../lib/text.js";
import {
  batchEventsMax,
  checkEvent,
  eventConstraints,
  type EventConstraints,
  isSale,
  type ShopperEventInput,
  type ShopperEvent,
} from "../events.input.js";
import { foldTotals, markFoldable } from "./fold.js";
import {
  areNamesReserved,
  reserveNames,
  nameLimits,
  type NameLimits,
  resetIfReplaced,
  type CachedNames,
  noNames,
} from "./countedNames.js";
import {
  findLiveStream,
  liveStreamNotFound,
  startWhenDue,
  type LiveStreamStatus,
  showKey,
  endOf,
} from "../../shows/liveStream.js";
import { waitForShowLock } from "../../database/showLock.js";
import { setTimeout as sleep } from "node:timers/promises";
import { isRowRefused } from "../../database/databaseErrors.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { retrying } from "../../database/transaction.js";
import { queryStore, retryAfterMoves } from "../../database/sql/storeStatements.js";
import {
  eventColumns,
  type BatchShow,
  type Duplicates,
  type EventBatch,
  eventStatement,
  isLate,
} from "./events.sql.js";
import { LRUCache } from "lru-cache";
import { perDatabase } from "../../database/shares/forStore.js";

export interface EventReceipt {
  readonly accepted: number;
  /** Events whose ids the show already had, or the batch repeats. */
  readonly duplicates: number;
  /** The ids of other shows whose figures these events' orders changed. */
  readonly changed?: readonly string[];
}

const lockWaitMsDefault = 5_000;

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
    await reserveNames(db, part.show.names, { ...part, storeId, limits, waitMs });
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
    part.status === "fulfilled" && areNamesReserved(part.value.events, part.value.show.names) ? [part.value] : [],
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
  if (rowsWritten > 0) markFoldable(db, storeId, lsId);
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

/** Each total is spread over so many rows, so that concurrent batches rarely update the same one. */
const slots = 16;
const pauseMsMax = 500;
let lastSlot = Math.floor(Math.random() * slots);

export function nextSlot(): number {
  lastSlot = (lastSlot + 1) % slots;
  return lastSlot;
}

export interface ShowEvents {
  readonly lsId: string;
  readonly events: readonly ShopperEventInput[];
}

/** An archived show takes refunds, because what it sold may still be returned. */
function refusingStatuses(events: readonly ShopperEventInput[]): readonly LiveStreamStatus[] {
  const areRefunds = events.length > 0 && events.every(({ type }) => type === "REFUND");
  return areRefunds ? ["SCHEDULED"] : ["SCHEDULED", "ARCHIVED"];
}

/** The checked events of one show. */
interface Part {
  readonly lsId: string;
  readonly events: readonly ShopperEvent[];
  readonly earliest: Date | null;
  /** Shows with these statuses do not take the events. */
  readonly refusedBy: readonly LiveStreamStatus[];
  readonly show: CachedShow;
}

export interface Outcome {
  /** From 1, in the order of the parts. */
  readonly place: number;
  readonly status: string;
  /** Whether the show's lock was taken before the snapshot; otherwise nothing was stored. */
  readonly hasLock: boolean;
  /** An event occurred too long before the show's start, or before its cutoff. Nothing was stored. */
  readonly isTooEarly: boolean;
  readonly createdAt: Date;
  /** The show is not the one whose names are known. Nothing was stored. */
  readonly isReplaced: boolean;
  readonly accepted: number;
  readonly rowsToFold: number;
  /** Some orders are due to be attributed. */
  readonly hasDueOrders: boolean;
}

/**
 * Sends a batch, and sends it again if it was refused for an event that the show already has, or for a viewer whom a concurrent batch
 * just stored with another first hour.
 */
function sendEvents(
  db: RootDatabase,
  storeId: string,
  parts: readonly Part[],
  deadline: number,
): Promise<readonly Outcome[]> {
  return withRawParameters((bind) => sendBatch(db, batchOf(storeId, parts, bind), parts, deadline));
}

type Batch = Omit<EventBatch, "duplicates">;

function batchOf(storeId: string, parts: readonly Part[], bind: (value: string) => string): Batch {
  const now = new Date();
  return {
    storeId,
    shows: withOffsets(parts),
    slot: nextSlot(),
    now,
    refusedBy: [...new Set(parts.flatMap((part) => part.refusedBy))],
    hasOthers: parts.some(({ show }) => show.names.full.size > 0),
    hasOrders: parts.some(({ events }) => events.some(({ type, orderId }) => type === "ORDER" && Boolean(orderId))),
    hasLate: parts.some(({ events }) => events.some((event) => isLate(event, now.getTime()))),
    kind: "events",
    columns: eventColumns(
      parts.map(({ events }) => events),
      bind,
    ),
  };
}

async function sendBatch(
  db: RootDatabase,
  batch: Batch,
  parts: readonly Part[],
  deadline: number,
): Promise<readonly Outcome[]> {
  const { storeId } = batch;
  let duplicates: Duplicates = parts.some(({ show }) => areDuplicatesExpected(show)) ? "expected" : "unexpected";
  for (let attempt = 1; ; attempt += 1) {
    const statement = eventStatement({ ...batch, duplicates });
    try {
      const send = () => queryStore<Outcome>(db, storeId, statement, ["createdAt"]);
      return await retrying(() => retryAfterMoves(db, storeId, send, deadline - performance.now()));
    } catch (error) {
      if (!isRowRefused(error)) throw error;
      if (performance.now() > deadline) throw contended();
      if (duplicates === "unexpected") for (const { show } of parts) noteDuplicates(show, { wereUnexpected: true });
      duplicates = "concurrent";
      await sleep(Math.random() * Math.min(2 ** attempt, pauseMsMax));
    }
  }
}

function withOffsets(parts: readonly Part[]): BatchShow[] {
  let offset = 0;
  return parts.map(({ lsId, events, earliest, show }) => {
    const of = { lsId, earliest, createdAt: show.names.createdAt, offset };
    offset += events.length;
    return of;
  });
}

function contended(): AppError {
  const message = "Other requests record events of the same viewers. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

interface CachedShow {
  readonly names: CachedNames;
  /** Rows written since the last folding. */
  rowsToFold: number;
  /** The number of consecutive batches without duplicates. */
  batchesWithoutDuplicates: number;
  /** The number of such batches from which on no duplicates are expected. */
  batchesUntilUnexpected: number;
}

/** The size of the cache for all stores, in names: about 40 MB. A show counts as 100 names besides its own. */
export const namesMax = 500_000;
/** The number of rows that does not measurably slow down readers. */
const rowsToFoldMax = 1_000;
const batchesUntilUnexpectedMin = 16;
const batchesUntilUnexpectedMax = 16_384;

const showsOf = perDatabase(() => new LRUCache<string, CachedShow>({ maxSize: namesMax, sizeCalculation: sizeOf }));

/** A show that is new to the cache may have totals to fold. */
export function cachedShow(db: RootDatabase, storeId: string, lsId: string): CachedShow {
  return (
    showsOf(db).get(showKey(storeId, lsId)) ?? {
      names: noNames(),
      rowsToFold: rowsToFoldMax,
      batchesWithoutDuplicates: 0,
      batchesUntilUnexpected: batchesUntilUnexpectedMin,
    }
  );
}

function areDuplicatesExpected(show: CachedShow): boolean {
  return show.batchesWithoutDuplicates < show.batchesUntilUnexpected;
}

/** After each unexpected duplicate, twice as many batches must have none, because each leaves an error in PostgreSQL's log. */
function noteDuplicates(show: CachedShow, { wereUnexpected }: { readonly wereUnexpected: boolean }): void {
  show.batchesWithoutDuplicates = 0;
  if (!wereUnexpected) return;
  show.batchesUntilUnexpected = Math.min(show.batchesUntilUnexpected * 2, batchesUntilUnexpectedMax);
}

export function cacheShow(db: RootDatabase, storeId: string, lsId: string, show: CachedShow): void {
  showsOf(db).set(showKey(storeId, lsId), show);
}

function sizeOf({ names: { cached } }: CachedShow): number {
  return 100 + cached.LIVE.size + cached.REPLAY.size + cached.SOURCE.size + cached.PRODUCT.size;
}

/** How far players lag behind the show. */
const playersLagMs = 30_000;
/**
 * Turns the channel AUTO into LIVE if the event began before the show's end or shortly after it, else into REPLAY. A VIEW began its
 * seconds before it occurred.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function withChannels(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
): Promise<readonly ShopperEvent[]> {
  if (!events.some(({ channel }) => channel === "AUTO")) return events as readonly ShopperEvent[];
  const { endedAt } = await endOf(db, storeId, lsId);
  const now = new Date();
  return events.map((event) => {
    const { channel, occurredAt, seconds } = event;
    if (channel !== "AUTO") return { ...event, channel };
    const beganAt = (occurredAt ?? now).getTime() - (seconds ?? 0) * 1_000;
    const isLive = endedAt === null || beganAt < endedAt.getTime() + playersLagMs;
    return { ...event, channel: isLive ? "LIVE" : "REPLAY" };
  });
}
