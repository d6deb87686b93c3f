import { setTimeout as sleep } from "node:timers/promises";
import type { RootDatabase } from "../../database/client.js";
import { isRowRefused } from "../../database/databaseErrors.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { retrying } from "../../database/transaction.js";
import { queryStore, retryAfterMoves } from "../../database/sql/storeStatements.js";
import { AppError } from "../../errors.js";
import type { ShopperEvent, ShopperEventInput } from "../events.input.js";
import type { LiveStreamStatus } from "../../shows/liveStream.js";
import { areDuplicatesExpected, type CachedShow, noteDuplicates } from "./showCache.js";
import { eventColumns } from "./events.columns.js";
import { isLate } from "./events.late.sql.js";
import { type BatchShow, type Duplicates, type EventBatch, eventStatement } from "./events.sql.js";

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
export function refusingStatuses(events: readonly ShopperEventInput[]): readonly LiveStreamStatus[] {
  const areRefunds = events.length > 0 && events.every(({ type }) => type === "REFUND");
  return areRefunds ? ["SCHEDULED"] : ["SCHEDULED", "ARCHIVED"];
}

/** The checked events of one show. */
export interface Part {
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
export function sendEvents(
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
