import { engineOf } from "../../database/engine.js";
import type { RootDatabase } from "../../database/client.js";
import { setLocal } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { asBuffer } from "../../lib/text.js";
import { SpillQueue } from "../../lib/streams/spillQueue.js";
import { findLiveStream } from "../../shows/liveStream.js";
import type { Channel, ShopperEventType } from "../events.input.js";
import { channelCodes, typeCodes } from "../../database/codes.js";
import { idText, isOfOrder } from "../record/eventValues.sql.js";

export interface EventExportOptions {
  readonly onProgress?: (events: number) => void;
}

interface EventRow {
  readonly id: Uint8Array;
  readonly type: number;
  readonly channel: number;
  readonly viewerId: Uint8Array;
  readonly device: string;
  readonly source: string;
  readonly value: string;
  readonly productId: string;
  readonly occurredAt: Date;
  readonly orderId: string;
  readonly lines: string;
  readonly acceptedAt: Date;
  readonly position: number;
}

type Take = (rows: readonly EventRow[]) => Promise<void>;

interface ShowNumber {
  readonly storeId: string;
  readonly number: number;
}

const rowsPerFetch = 1_000;
/** Each page reads all events of the show. */
const rowsPerPage = 10_000;
const timeoutMs = 4 * 3_600_000;
/** The first rows come when all are sorted. */
const limits = {
  lock_timeout: "2s",
  statement_timeout: "30min",
  idle_in_transaction_session_timeout: "30min",
  enable_nestloop: "on",
  jit: "off",
} as const;

/**
 * Writes NDJSON that recordEventFile takes, in the order in which events were accepted. What does not count, such as
 * the amount of a VIEW, is not stored. Entries of orders, which were not sent as events, are left out. Memory is constant: what
 * the consumer has not taken yet is in a temporary file.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function* exportEvents(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  { onProgress }: EventExportOptions = {},
): AsyncGenerator<Buffer, void> {
  const { number } = await findLiveStream(db, storeId, lsId);
  const read = engineOf(db).kind === "embedded" ? readPages : readSnapshot;
  const abandoned = new AbortController();
  const queue = new SpillQueue();
  let events = 0;
  const take = async (rows: readonly EventRow[]): Promise<void> => {
    await queue.push(Buffer.from(rows.map(eventLine).join("")));
    events += rows.length;
    onProgress?.(events);
  };
  const reading = read(db, { storeId, number }, take, abandoned.signal).then(
    () => queue.end(),
    (error: unknown) => queue.end({ error }),
  );
  try {
    yield* queue.pieces();
  } finally {
    abandoned.abort();
    await reading;
  }
}

/** Reads from the cursor of one statement, which sorts the events once. */
async function readSnapshot(db: RootDatabase, show: ShowNumber, take: Take, signal: AbortSignal): Promise<void> {
  await db.$transaction(
    async (transaction) => {
      await setLocal(transaction, limits);
      await transaction.$executeRaw`DECLARE "events" NO SCROLL CURSOR FOR ${eventsOf(show)}`;
      for (;;) {
        signal.throwIfAborted();
        const rows = await transaction.$queryRaw<EventRow[]>`FETCH ${Prisma.raw(String(rowsPerFetch))} FROM "events"`;
        if (rows.length === 0) return;
        await take(rows);
      }
    },
    { timeout: timeoutMs },
  );
}

/** The embedded engine has a single session, which a cursor would block. */
async function readPages(db: RootDatabase, show: ShowNumber, take: Take, signal: AbortSignal): Promise<void> {
  for (let after: EventRow | undefined; ;) {
    signal.throwIfAborted();
    const rows: EventRow[] = await db.$queryRaw<EventRow[]>`${eventsOf(show, after)} LIMIT ${rowsPerPage}::int`;
    if (rows.length > 0) await take(rows);
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1);
  }
}

function eventsOf({ storeId, number }: ShowNumber, after?: EventRow): Prisma.Sql {
  const isLater =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`AND (e."acceptedAt", e.position, e.id) >
          (${after.acceptedAt.toISOString()}::timestamptz, ${after.position}::smallint, ${`\\x${hexOf(after.id)}`}::bytea)`;
  return Prisma.sql`
    SELECT e.id, e.type, e.channel, e."viewerId", e.device, e.source, e.value::text AS value, e."productId", e."occurredAt", e."orderId", e.lines,
      e."acceptedAt", e.position
    FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = ${number}::int AND NOT ${isOfOrder(Prisma.sql`e.id`)} ${isLater}
    ORDER BY e."acceptedAt", e.position, e.id`;
}

const types = namesOf(typeCodes);
const channels = namesOf(channelCodes);

function namesOf<Name extends string>(codes: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  return new Map((Object.entries(codes) as [Name, number][]).map(([name, code]) => [code, name]));
}

/** What stands for nothing is left out. */
function eventLine(row: EventRow): string {
  const type: ShopperEventType | undefined = types.get(row.type);
  const channel: Channel | undefined = channels.get(row.channel);
  const amounts =
    type === "VIEW" ? { seconds: Number(row.value) } : type === "ADD_TO_CART" ? {} : { amount: Number(row.value) };
  const event = {
    id: idText(row.id),
    type,
    channel,
    viewerId: row.viewerId.length === 0 ? undefined : idText(row.viewerId),
    device: row.device || undefined,
    source: row.source || undefined,
    ...amounts,
    productId: row.productId || undefined,
    orderId: row.orderId || undefined,
    lines: row.lines === "" ? undefined : (JSON.parse(row.lines) as unknown),
    occurredAt: row.occurredAt,
  };
  return `${JSON.stringify(event)}\n`;
}

function hexOf(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("hex");
}
