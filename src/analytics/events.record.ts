import type { Database } from "../database/client.js";
import { textArrayLiteral } from "../database/arrayLiteral.js";
import { retrying } from "../database/transaction.js";
import { errorAt, Problems } from "../errors.js";
import { isStorable } from "../text.js";
import { batchEventsMax, checkEvent, type ShopperEventInput } from "./events.input.js";
import { eventStatement } from "./events.sql.js";
import { liveStreamNotFound } from "./liveStream.js";

/** What became of a batch. */
export interface EventReceipt {
  /** Events counted now. */
  readonly accepted: number;
  /** Events whose id the show had already, or that stood in the batch before. */
  readonly duplicates: number;
}

/** Writers of totals that can go on without waiting for each other. */
const slots = 16;
let nextSlot = Math.floor(Math.random() * slots);

/**
 * Records a batch of events, all of it or nothing, each event id once for its show, however often it is sent.
 * One statement stores the events, finds the new ones and brings all totals up to date.
 *
 * @throws {AppError} VALIDATION_FAILED naming each bad event by its index, or LIVE_STREAM_NOT_FOUND
 */
export async function recordEvents(
  db: Database,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
): Promise<EventReceipt> {
  if (events.length > batchEventsMax) {
    throw errorAt("VALIDATION_FAILED", `A batch may have at most ${batchEventsMax} events.`, ["events"]);
  }
  const problems = new Problems();
  events.forEach((event, index) => checkEvent(event, ["events", index], problems));
  problems.throwIfAny();
  if (!isStorable(lsId)) throw liveStreamNotFound();

  nextSlot = (nextSlot + 1) % slots;
  const statement = eventStatement({ storeId, lsId, slot: nextSlot, now: new Date(), columns: eventColumns(events) });
  const [outcome] = await retrying(() => db.$queryRaw<[{ status: string | null; accepted: number }]>(statement));
  if (outcome.status === null) throw liveStreamNotFound();
  if (outcome.status === "ARCHIVED") {
    throw errorAt("VALIDATION_FAILED", "The show is archived and takes no more events.", ["lsId"]);
  }
  return { accepted: outcome.accepted, duplicates: events.length - outcome.accepted };
}

/** Events turned into columns for `unnest`, each a PostgreSQL array literal. */
export type EventColumns = ReturnType<typeof eventColumns>;

function eventColumns(events: readonly ShopperEventInput[]) {
  const column = (value: (event: ShopperEventInput) => string | number | null | undefined) =>
    textArrayLiteral(
      events.map((event) => {
        const cell = value(event);
        return cell === null || cell === undefined ? null : String(cell);
      }),
    );
  return {
    id: column(({ id }) => id),
    type: column(({ type }) => type),
    channel: column(({ channel }) => channel),
    viewerId: column(({ viewerId }) => viewerId),
    device: column(({ device }) => device?.trim().toLowerCase() || null),
    seconds: column(({ seconds }) => seconds),
    amount: column(({ amount }) => amount),
    productId: column(({ productId }) => productId),
    occurredAt: column(({ occurredAt }) => occurredAt?.toISOString()),
  };
}
