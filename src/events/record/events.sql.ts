import { textArrayLiteral } from "../../database/rawParameters.js";
import type { Statement } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { LiveStreamStatus } from "../../shows/liveStream.js";
import { isSnapshotCurrent, showLockKey, trySharedLockOf } from "../../database/showLock.js";
import { totalsOf } from "./events.totals.sql.js";
import { storeRow, type StoreRow } from "./showRow.js";
import { viewersOf } from "./viewers.sql.js";
import { reasonCodes, ruleCodes, channelCodes, typeCodes } from "../../database/codes.js";
import type { OrderLineInput, ShopperEvent } from "../events.input.js";
import { deviceName, sourceName } from "./countedNames.js";
import { beginningOfView, idArrayLiteral } from "./eventValues.sql.js";

/** With `unexpected`, the statement fails for any duplicate; with `expected`, only for a concurrent one; with `concurrent`, never. */
export type Duplicates = "unexpected" | "expected" | "concurrent";

export interface BatchShow {
  readonly lsId: string;
  /** The earliest time of the events; null if all of them occurred now. */
  readonly earliest: Date | null;
  /** When the show must have been created, else it is another one; undefined for any. */
  readonly createdAt: Date | undefined;
  /** The number of the batch's events that belong to earlier shows. */
  readonly offset: number;
}

/** What determines the text of a statement. */
interface Variant {
  /** Events that were sent, entries of orders, or stored events that are counted again (figures/totals/rebuild.ts). */
  readonly kind: "events" | "entries" | "stored";
  readonly duplicates: Duplicates;
  /** Whether devices or products may be beyond the limits of their show. */
  readonly hasOthers: boolean;
  /** Whether there are ORDERs with an orderId: each order of the store counts once, whatever the ids of its events. */
  readonly hasOrders: boolean;
  /** Whether some events are late (isLate). */
  readonly hasLate: boolean;
}

export interface EventBatch extends Variant {
  readonly storeId: string;
  readonly shows: readonly BatchShow[];
  /** The row of each total to which this batch adds. */
  readonly slot: number;
  readonly now: Date;
  /** Shows with these statuses do not take these events. */
  readonly refusedBy: readonly LiveStreamStatus[];
  readonly columns: EventColumns;
}

/** By name. Values that differ from batch to batch are functions (Read). */
const kept = new Map<string, Statement>();

/**
 * Records a batch of one or several shows. Each part uses the rows that the previous part inserted, so duplicates add nothing. Stores
 * nothing for a show without its lock, for one that replaced the known show, or if an event occurred too early. Inserts rows in the
 * order of their keys, so that batches cannot deadlock.
 *
 * Statements are prepared by name, because planning takes 2 ms, longer than recording a hundred events. The texts of some seventy
 * variants are kept, because building one takes a tenth of that.
 */
export function eventStatement(batch: EventBatch): Statement {
  const expectation = expectationOf(batch.columns);
  const name = nameOf(batch, expectation.size);
  let statement = kept.get(name);
  if (statement === undefined)
    kept.set(name, (statement = withDistinctValues(statementOf(name, batch, expectation.rows))));
  const sent = sentOf(batch);
  const values = statement.values.map((value) => (typeof value === "function" ? (value as Read)(sent) : value));
  return { text: statement.text, values };
}

type Sent = ReturnType<typeof sentOf>;
type Read = (sent: Sent) => unknown;

function sentOf({ shows, ...batch }: EventBatch) {
  const column = (value: (show: BatchShow) => string | null) => textArrayLiteral(shows.map(value));
  return {
    ...batch,
    count: shows.length,
    offsets: `{${shows.map(({ offset }) => offset).join(",")}}`,
    ids: column(({ lsId }) => lsId),
    locks: column(({ lsId }) => showLockKey(batch.storeId, lsId)),
    earliest: column(({ earliest }) => earliest?.toISOString() ?? null),
    createdAt: column(({ createdAt }) => createdAt?.toISOString() ?? null),
    statuses: `{${batch.refusedBy.join(",")}}`,
  };
}

/** A parameter, read from each batch. */
function sentValue(read: Read): Prisma.Sql {
  return Prisma.sql`${read}`;
}

function sentColumn(name: Exclude<keyof EventColumns, "count">): Prisma.Sql {
  return sentValue(({ columns }) => columns[name]);
}

const [storeId, slot, now] = [
  sentValue((sent) => sent.storeId),
  sentValue((sent) => sent.slot),
  sentValue((sent) => sent.now),
];
const store = storeRow(storeId);

function withDistinctValues({ strings, values }: Prisma.Sql): Statement {
  const numbers = new Map([...new Set(values)].map((value, index) => [value, index + 1]));
  const text = strings.reduce((before, next, index) => `${before}$${numbers.get(values[index - 1])}${next}`);
  return { text, values: [...numbers.keys()] };
}

function statementOf(name: string, variant: Variant, expectedRows: Prisma.Sql): Prisma.Sql {
  const { kind, duplicates, hasOthers, hasOrders, hasLate } = variant;
  const place = Prisma.sql`coalesce(e.place, 1)`; // the column is empty if there is one show
  const lateBefore = sentValue((sent) => lateTime(sent.now.getTime()));
  return Prisma.sql`${duplicates === "concurrent" ? Prisma.empty : Prisma.raw(`/* ${name} */`)}
    WITH ${showsOf()},
    open AS MATERIALIZED (
      SELECT ARRAY(SELECT (
        SELECT show FROM shows WHERE shows.place = n.place AND "hasLock" AND NOT "isTooEarly" AND NOT "isReplaced"
          AND status <> ALL(${sentValue(({ statuses }) => statuses)}::text[]))
        FROM generate_series(1, ${sentValue(({ count }) => count)}::int) AS n(place) ORDER BY n.place) AS numbers),
    ${hasOrders ? Prisma.sql`sent` : Prisma.sql`input`} AS (
      SELECT (SELECT numbers FROM open)[${place}] AS show, e.id, type, channel, "viewerId", coalesce(device, '') AS device,
        coalesce(source, '') AS source, value,
        coalesce("productId", '') AS "productId", coalesce("occurredAt", ${now}::timestamptz) AS "occurredAt",
        coalesce("orderId", '') AS "orderId", coalesce(lines, '') AS lines,
        e.position - (${sentValue(({ offsets }) => offsets)}::int[])[${place}] AS position
      FROM ROWS FROM (unnest(${sentColumn("place")}::int[], ${sentColumn("id")}::bytea[], ${sentColumn("type")}::smallint[],
        ${sentColumn("channel")}::smallint[], ${sentColumn("viewerId")}::bytea[], ${sentColumn("device")}::text[],
        ${sentColumn("source")}::text[], ${sentColumn("value")}::numeric[], ${sentColumn("productId")}::text[],
        ${sentColumn("occurredAt")}::timestamptz[], ${sentColumn("orderId")}::text[], ${sentColumn("lines")}::text[]), ${expectedRows})
        WITH ORDINALITY AS e(place, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", "orderId", lines, none, position)
      WHERE (SELECT numbers FROM open)[${place}] IS NOT NULL),
    ${hasOrders ? Prisma.sql`${ordersOf()},` : Prisma.empty}
    ${kind === "stored" ? storedBefore : newlyStored(duplicates)},
    ${hasLate ? Prisma.sql`${lateOf(store, lateBefore)},` : Prisma.empty}
    ${viewersOf(store, hasOthers)},
    ${totalsOf(store, slot, hasOthers)}
    SELECT place::int, status, "hasLock", "isTooEarly", "createdAt", "isReplaced", ${kind === "events" ? counts : noCounts},
      ${hasOrders ? Prisma.sql`EXISTS (SELECT FROM ordered WHERE "dueAt" IS NOT NULL)` : Prisma.sql`false`} AS "hasDueOrders"
    FROM shows`;
}

const counts = Prisma.sql`
  (SELECT count(*) FROM fresh AS f WHERE f.show = shows.show)::int AS accepted,
  ((SELECT count(*) FROM grouped AS g WHERE g."liveStreamId" = shows.id) + (SELECT count(*) FROM product AS p WHERE p.show = shows.show)
    + (SELECT count(*) FROM minute AS m WHERE m."liveStreamId" = shows.id))::int AS "rowsToFold"`;
/** No caller needs the counts for entries, which may belong to hundreds of shows, or for stored events. */
const noCounts = Prisma.sql`0 AS accepted, 0 AS "rowsToFold"`;

/**
 * The existing shows, with what forbids recording. FOR KEY SHARE, because the snapshot may be older than the show's lock, which a
 * deletion, an erasure or a rebuild may just have released.
 */
function showsOf(): Prisma.Sql {
  // With arrays, not with a join: see storeStatements.ts.
  const ids = sentValue((sent) => sent.ids);
  const place = Prisma.sql`array_position(${ids}::text[], s.id)`;
  const earliest = Prisma.sql`(${sentValue((sent) => sent.earliest)}::timestamptz[])[${place}]`;
  const createdAt = Prisma.sql`(${sentValue((sent) => sent.createdAt)}::timestamptz[])[${place}]`;
  const lock = Prisma.sql`(${sentValue((sent) => sent.locks)}::text[])[${place}]`;
  return Prisma.sql`
    shows AS MATERIALIZED (
      SELECT s.number AS show, s.id, ${place} AS place, status, ${trySharedLockOf(lock)} AND ${isSnapshotCurrent(storeId)} AS "hasLock",
        coalesce(${earliest} < greatest("startedAt" - interval '24 hours', "prunedBefore"), false) AS "isTooEarly",
        s."createdAt", coalesce(s."createdAt" <> ${createdAt}, false) AS "isReplaced"
      FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids}::text[]) FOR KEY SHARE OF s)`;
}

/**
 * Functions that return no rows, although PostgreSQL expects some. It keeps a generic plan only if that seems no more expensive than a
 * plan for the real parameters, and it expects ten rows from an unknown array.
 */
const expectations = [
  { size: "small", countMax: 50, rows: Prisma.sql`unnest(NULL::int[])` },
  { size: "medium", countMax: 400, rows: Prisma.sql`json_array_elements('[]')` }, // a hundred
];
const largeBatch = { size: "large", rows: Prisma.sql`generate_series(1, ${0}::int)` }; // a thousand

function expectationOf({ count }: EventColumns) {
  return expectations.find(({ countMax }) => count <= countMax) ?? largeBatch;
}

function nameOf({ kind, duplicates, hasOthers, hasOrders, hasLate }: Variant, size: string): string {
  const of = kind === "events" ? `events_${duplicates}` : kind;
  return `record_${of}${hasOthers ? "_others" : ""}${hasOrders ? "_orders" : ""}${hasLate ? "_late" : ""}_${size}`;
}

/**
 * Stores the events that the show does not have yet. Looking them up costs less than ON CONFLICT, which writes each row to the log
 * twice.
 */
function newlyStored(duplicates: Duplicates): Prisma.Sql {
  const unknown = Prisma.sql`(
        SELECT DISTINCT ON (show, id) input.* FROM input LEFT JOIN LATERAL (
          SELECT true AS "isKnown" FROM "ShowEvent" AS k
          WHERE k."storeId" = ${storeId} AND k.show = input.show AND k.id = input.id OFFSET 0) AS k ON true
        WHERE "isKnown" IS NOT TRUE ORDER BY show, id, position)`;
  return Prisma.sql`
    fresh AS (
      INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
        "orderId", lines, "acceptedAt", position)
      SELECT o.id, e.show, e.id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", "orderId", lines,
        ${now}::timestamptz, position
      FROM ${store.source}, ${duplicates === "unexpected" ? Prisma.sql`input` : unknown} AS e
      WHERE ${store.isStore} ORDER BY e.show, e.id
      ${duplicates === "concurrent" ? Prisma.sql`ON CONFLICT ("storeId", show, id) DO NOTHING` : Prisma.empty}
      RETURNING show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", lines, "acceptedAt", position)`;
}

/** For empty totals, all stored events of the show are new. */
const storedBefore = Prisma.sql`
    fresh AS (
      SELECT show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", lines,
        ${now}::timestamptz AS "acceptedAt", position
      FROM input)`;

/**
 * The orders of a batch. An ORDER with an orderId is an order of the store and counts once, in the show that reports it first; `input`
 * leaves out later ones. If an order was known without a show, this show is noted and the order becomes due. A new order becomes due
 * unless, by the store's rule, senders name the show.
 */
function ordersOf(): Prisma.Sql {
  const { source, isStore } = store;
  const lines = Prisma.sql`CASE WHEN lines <> '' THEN lines WHEN "productId" = '' THEN '[]'
    ELSE json_build_array(json_build_object('productId', "productId", 'quantity', 1, 'amount', value))::text END`;
  return Prisma.sql`
    firsts AS MATERIALIZED (
      SELECT DISTINCT ON ("orderId") * FROM sent
      WHERE type = 3 AND "orderId" <> '' AND NOT EXISTS (SELECT FROM "ShowEvent" AS k
        WHERE k."storeId" = ${storeId} AND k.show = sent.show AND k.id = sent.id)
      ORDER BY "orderId", position),
    ordered AS (
      INSERT INTO "ShopOrder" AS t ("storeId", id, "placedAt", "viewerId", "claimedBy", "lsId", channel, "isPaid", "dueAt", state)
      SELECT o.id, e."orderId", e."occurredAt", e."viewerId",
        coalesce((SELECT c."viewerId" FROM "OrderClaim" AS c WHERE c."storeId" = ${storeId} AND c."orderId" = e."orderId"), ''),
        (SELECT shows.id FROM shows WHERE shows.show = e.show), e.channel, true, CASE WHEN o."attributionRule" <> 'AS_SENT' THEN ${now}::timestamptz END,
        '{"gross":' || value || ',"newest":{"changedAt":0,"isPaid":true,"isCancelled":false,"amount":' || value || ',"remaining":' || value
          || ',"areTaxesIncluded":false,"lines":' || ${lines} || ',"isTimed":false,"listed":[]},"refunds":[]}'
      FROM ${source}, firsts AS e
      WHERE ${isStore} ORDER BY e."orderId"
      ON CONFLICT ("storeId", id) DO UPDATE SET "lsId" = EXCLUDED."lsId", channel = EXCLUDED.channel, "dueAt" = ${now}::timestamptz,
        "viewerId" = CASE WHEN t."viewerId" = '' THEN EXCLUDED."viewerId" ELSE t."viewerId" END
        WHERE t."lsId" = ''
      RETURNING id AS "orderId", xmax = 0 AS "isNew", "dueAt"),
    input AS (
      SELECT * FROM sent WHERE type <> 3 OR "orderId" = ''
      UNION ALL SELECT * FROM firsts AS e
      WHERE (SELECT n."isNew" FROM ordered AS n WHERE n."orderId" = e."orderId")),
    parts AS (
      INSERT INTO "OrderPart" ("storeId", "orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded,
        seconds, lines, refunds)
      SELECT o.id, e."orderId", 0, "occurredAt", "occurredAt", show, channel, ${ruleCodes.AS_SENT}::int, ${reasonCodes.SENT}::int, '',
        value, 0, 0, ${lines}, '[]'
      FROM ${source}, input AS e
      WHERE ${isStore} AND type = 3 AND "orderId" <> '')`;
}

/** Array literals for `unnest`, and the number of events. A column with only empty texts or nulls has no elements. */
export type EventColumns = ReturnType<typeof eventColumns>;

/**
 * @param eventsOfShows by show
 * @param bind of withRawParameters
 */
export function eventColumns(eventsOfShows: readonly (readonly ShopperEvent[])[], bind: (column: string) => string) {
  const events = eventsOfShows.flat();
  const texts = (value: (event: ShopperEvent) => string) => {
    const values = events.map(value);
    return values.every((text) => text === "") ? "{}" : bind(textArrayLiteral(values));
  };
  /** Makes an array of values that never need quotes. */
  const plain = (value: (event: ShopperEvent) => string | number) => bind(`{${events.map(value).join(",")}}`);
  const ids = (value: (event: ShopperEvent) => string) => bind(idArrayLiteral(events.map(value)));
  return {
    count: events.length,
    place: bind(placesOf(eventsOfShows)),
    id: ids(({ id }) => id),
    type: plain(({ type }) => typeCodes[type]),
    channel: plain(({ channel }) => channelCodes[channel]),
    viewerId: ids(({ viewerId }) => viewerId ?? ""),
    device: texts(({ device }) => deviceName(device) ?? ""),
    source: texts(({ source }) => sourceName(source) ?? ""),
    value: plain(valueOf),
    orderId: texts(({ orderId }) => orderId ?? ""),
    lines: texts(({ lines }) => linesText(lines ?? [])),
    productId: texts(({ productId }) => productId ?? ""),
    occurredAt: events.some(({ occurredAt }) => occurredAt)
      ? plain(({ occurredAt }) => (occurredAt ? `"${occurredAt.toISOString()}"` : "NULL"))
      : "{}",
  };
}

/** The place of each event's show, from 1. The array is empty if there is one show. */
function placesOf(eventsOfShows: readonly (readonly ShopperEvent[])[]): string {
  if (eventsOfShows.length === 1) return "{}";
  return `{${eventsOfShows.flatMap((ofShow, index) => ofShow.map(() => index + 1)).join(",")}}`;
}

function valueOf({ type, seconds, amount }: ShopperEvent): number {
  if (type === "VIEW") return seconds ?? 0;
  return type === "ADD_TO_CART" ? 0 : (amount ?? 0);
}

function linesText(lines: readonly OrderLineInput[]): string {
  if (lines.length === 0) return "";
  return JSON.stringify(lines.map(({ productId, quantity, amount }) => ({ productId, quantity, amount })));
}

/** Orders are attributed again five minutes after they were placed, so an event that began after this is not missed. */
const lateMs = 240_000;

/** Whether a VIEW or a cart began so long ago that orders of its viewer may not be attributed again by themselves. */
export function isLate({ type, occurredAt, seconds }: ShopperEvent, nowMs: number): boolean {
  if (type !== "VIEW" && type !== "ADD_TO_CART") return false;
  return (occurredAt?.getTime() ?? nowMs) - (seconds ?? 0) * 1_000 < nowMs - lateMs;
}

/** Events that began before this are late. */
function lateTime(nowMs: number): Date {
  return new Date(nowMs - lateMs);
}

/** When a stored event `e` began. */
export function beginningOf(e: string): Prisma.Sql {
  const column = (name: string) => Prisma.raw(`${e}."${name}"`);
  const seconds = Prisma.sql`CASE WHEN ${column("type")} = ${typeCodes.VIEW}::int THEN ${column("value")} ELSE 0 END`;
  return beginningOfView(column("occurredAt"), Prisma.sql`(${seconds})`);
}

/**
 * Notes late events, under rules that count views and carts. The sweep then marks the orders of their viewers as due
 * (orders/attribution/pendingAttribution.ts). It only inserts here, because updates of orders would wait for whoever records them.
 */
function lateOf({ source, isStore }: StoreRow, before: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    late AS (
      INSERT INTO "LateEvent" ("storeId", show, id)
      SELECT o.id, e.show, e.id FROM ${source}, fresh AS e
      WHERE ${isStore} AND o."attributionRule" <> 'AS_SENT' AND e.type < 3
        AND ${beginningOf("e")} < ${before}::timestamptz ORDER BY e.show, e.id
      ON CONFLICT ("storeId", show, id) DO NOTHING)`;
}
