import { setTimeout as sleep } from "node:timers/promises";
import type { RootDatabase } from "../../database/client.js";
import { isRowRefused } from "../../database/errors.js";
import { retrying } from "../../database/transaction.js";
import { AppError, errorAt, Problems } from "../../errors.js";
import { isStorable } from "../../lib/text.js";
import { batchEventsMax, checkEvent, type EventSpan, eventSpan, type ShopperEventInput } from "./events.input.js";
import { eventColumns } from "./storage/events.columns.js";
import { type Duplicates, type EventBatch, eventStatement } from "./storage/events.sql.js";
import { foldTotals } from "../totals/fold.js";
import { noteDue } from "../totals/foldDue.js";
import { belongTo, keepNames, type NameLimits, nameLimits } from "./keptNames.js";
import {
  areDuplicatesExpected,
  type CachedShow,
  cachedShow,
  cacheShow,
  noteDuplicates,
  rowsToFoldMax,
} from "./showCache.js";
import { findLiveStream, liveStreamNotFound } from "../shows/liveStream.js";
import { waitForShowLock } from "../shows/showLock.js";

export interface EventReceipt {
  readonly accepted: number;
  /** Events whose id the show had before, or that the batch repeats. */
  readonly duplicates: number;
}

/** Rows that each total is spread over, so that concurrent batches rarely update the same one. */
const slots = 16;
const lockWaitMsDefault = 5_000;
const pauseMsMax = 500;
let nextSlot = Math.floor(Math.random() * slots);

interface RecordOptions {
  readonly lockWaitMs?: number;
  /** Must be the same wherever a show is recorded or rebuilt. */
  readonly limits?: NameLimits;
}

interface Outcome {
  readonly status: string;
  /** Whether the show's lock was acquired before the snapshot was taken; if not, nothing was stored. */
  readonly hasLock: boolean;
  /** Whether an event occurred too long before the show's start, or before its horizon; if so, nothing was stored. */
  readonly isTooEarly: boolean;
  readonly createdAt: Date | null;
  /** Whether the show is another one than that whose names are known; if so, nothing was stored. */
  readonly isReplaced: boolean;
  readonly accepted: number;
  readonly rowsToFold: number;
}

/**
 * Records a batch of events: all or nothing, each event id once for its show. One statement stores the new events and
 * updates all totals.
 *
 * @throws {AppError} VALIDATION_FAILED naming each invalid event by its index, LIVE_STREAM_NOT_FOUND, or UNAVAILABLE
 *   after `lockWaitMs`
 */
export async function recordEvents(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
  { lockWaitMs = lockWaitMsDefault, limits = nameLimits }: RecordOptions = {},
): Promise<EventReceipt> {
  if (events.length > batchEventsMax) {
    throw errorAt("VALIDATION_FAILED", `A batch may have at most ${batchEventsMax} events.`, ["events"]);
  }
  const hasCurrency = events.some(({ currency }) => typeof currency === "string");
  checkEvents(events, { ...eventSpan(), ...(hasCurrency && { currency: await currencyOf(db, storeId) }) });
  if (!isStorable(lsId)) throw liveStreamNotFound();

  const earliest = earliestOf(events);
  const show = cachedShow(db, storeId, lsId);
  const columns = eventColumns(events, new Date());
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    await keepNames(db, show.names, { storeId, lsId, events, earliest, limits, waitMs: deadline - performance.now() });
    nextSlot = (nextSlot + 1) % slots;
    const batch = {
      storeId,
      lsId,
      slot: nextSlot,
      now: new Date(),
      earliest,
      createdAt: show.names.createdAt,
      hasOthers: show.names.full.size > 0,
      columns,
    };
    const [outcome] = await send(db, batch, show, deadline);
    if (outcome === undefined) throw liveStreamNotFound();
    requireTakesEvents(outcome.status);
    belongTo(show.names, outcome.createdAt);
    if (outcome.isReplaced) continue;
    if (outcome.isTooEarly) {
      checkEvents(events, eventSpan(await findLiveStream(db, storeId, lsId)));
      continue; // the show was saved with another start meanwhile
    }
    if (outcome.hasLock) {
      if (outcome.accepted < events.length) noteDuplicates(show, { wereUnexpected: false });
      else show.batchesWithoutDuplicates += 1;
      await foldWhenDue(db, storeId, lsId, show, outcome.rowsToFold);
      return { accepted: outcome.accepted, duplicates: events.length - outcome.accepted };
    }
    await waitForShowLock(db, storeId, lsId, deadline - performance.now());
  }
}

/**
 * Sends the statement again where it was refused: for an event that the show has, or for a viewer whom a concurrent batch has
 * just stored with another first hour.
 */
async function send(
  db: RootDatabase,
  batch: Omit<EventBatch, "duplicates">,
  show: CachedShow,
  deadline: number,
): Promise<Outcome[]> {
  let duplicates: Duplicates = areDuplicatesExpected(show) ? "expected" : "unexpected";
  for (let attempt = 1; ; attempt += 1) {
    const statement = eventStatement({ ...batch, duplicates });
    try {
      return await retrying(() => db.$queryRaw<Outcome[]>(statement));
    } catch (error) {
      if (!isRowRefused(error)) throw error;
      if (performance.now() > deadline) throw contended();
      if (duplicates === "unexpected") noteDuplicates(show, { wereUnexpected: true });
      duplicates = "concurrent";
      await sleep(Math.random() * Math.min(2 ** attempt, pauseMsMax));
    }
  }
}

function contended(): AppError {
  const message = "Other requests record events of the same viewers. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

function requireTakesEvents(status: string): void {
  if (status === "ARCHIVED") {
    throw errorAt("VALIDATION_FAILED", "The show is archived and takes no more events.", ["lsId"]);
  }
  if (status === "SCHEDULED") {
    const message = "The show is scheduled and takes no events yet: save it as LIVE when it starts.";
    throw errorAt("VALIDATION_FAILED", message, ["lsId"]);
  }
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
    show.rowsToFold = rowsToFoldMax; // the events are recorded nevertheless
  }
}

/** Null where the store has none. */
export async function currencyOf(db: RootDatabase, storeId: string): Promise<string | null> {
  // findUnique would be joined with another store's: two nodes of Citus
  const store = await db.store.findFirst({ where: { id: storeId }, select: { currency: true } });
  return store?.currency ?? null;
}

function checkEvents(events: readonly ShopperEventInput[], span: EventSpan): void {
  const problems = new Problems();
  events.forEach((event, index) => checkEvent(event, ["events", index], problems, span));
  problems.throwIfAny();
}

function earliestOf(events: readonly ShopperEventInput[]): Date | null {
  let earliest: Date | null = null;
  for (const { occurredAt } of events) {
    if (occurredAt instanceof Date && (earliest === null || occurredAt < earliest)) earliest = occurredAt;
  }
  return earliest;
}
