import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { LiveStreamStatus } from "../../shows/liveStream.js";
import { isSnapshotCurrent, showLockKey, trySharedLockOf } from "../../shows/showLock.js";
import type { EventColumns } from "./events.columns.js";
import { ordersOf } from "./events.orders.sql.js";
import { lateOf } from "./events.late.sql.js";
import { totalsOf } from "./events.totals.sql.js";
import { type StoreRow, storeRow } from "./showRow.js";
import { viewersOf } from "./viewers.sql.js";

/** With `unexpected`, the statement fails for any duplicate; with `expected`, only for a concurrent one; with `concurrent`, never. */
export type Duplicates = "unexpected" | "expected" | "concurrent";

export interface BatchShow {
  readonly lsId: string;
  /** The earliest of the events' times, null where all of them occurred now. */
  readonly earliest: Date | null;
  /** The show is another one unless it was created then; undefined for any. */
  readonly createdAt: Date | undefined;
  /** Events of the shows before, in the batch. */
  readonly offset: number;
}

export interface EventBatch {
  readonly storeId: string;
  /** Whether the store is the caller's. */
  readonly isOfCaller: Prisma.Sql;
  readonly shows: readonly BatchShow[];
  /** Row of each total that this batch adds to. */
  readonly slot: number;
  readonly now: Date;
  /** Devices or products may be beyond the limits of their show. */
  readonly hasOthers: boolean;
  readonly duplicates: Duplicates;
  /** Whether some events are ORDERs with an orderId: each order of the store counts once, whatever the ids of its events. */
  readonly hasOrders: boolean;
  /** Whether some events are late (isLate). */
  readonly hasLate: boolean;
  /** The statuses of shows that do not take these events. */
  readonly refusedBy: readonly LiveStreamStatus[];
  /** What these are: events that were sent, entries of orders, or what the show has stored, which counts again (totals/rebuild.ts). */
  readonly kind: "events" | "entries" | "stored";
  readonly columns: EventColumns;
}

/**
 * Records a batch of one or several shows. Each part uses the rows that the part before has inserted, so duplicates add
 * nothing. Nothing is stored for a show without its lock or that has replaced the known one, or where an event occurred
 * too early. Rows are inserted in the order of their keys, so that batches cannot deadlock.
 *
 * Statements are prepared by name: planning takes 2 ms, longer than recording a hundred events.
 */
export function eventStatement(batch: EventBatch): Prisma.Sql {
  const { storeId, slot, hasOthers, hasOrders, hasLate, kind, columns } = batch;
  const store = storeRow(storeId);
  const place = Prisma.sql`coalesce(e.place, 1)`; // the column is empty where there is one show
  const offsets = `{${batch.shows.map(({ offset }) => offset).join(",")}}`;
  return Prisma.sql`${nameOf(batch)}
    WITH ${showsOf(batch)},
    open AS MATERIALIZED (
      SELECT ARRAY(SELECT (
        SELECT show FROM shows WHERE shows.place = n.place AND "hasLock" AND NOT "isTooEarly" AND NOT "isReplaced"
          AND status <> ALL(${`{${batch.refusedBy.join(",")}}`}::text[]))
        FROM generate_series(1, ${batch.shows.length}::int) AS n(place) ORDER BY n.place) AS numbers),
    ${hasOrders ? Prisma.sql`sent` : Prisma.sql`input`} AS (
      SELECT (SELECT numbers FROM open)[${place}] AS show, e.id, type, channel, "viewerId", coalesce(device, '') AS device,
        coalesce(source, '') AS source, value,
        coalesce("productId", '') AS "productId", coalesce("occurredAt", ${batch.now}::timestamptz) AS "occurredAt",
        coalesce("orderId", '') AS "orderId", coalesce(lines, '') AS lines,
        e.position - (${offsets}::int[])[${place}] AS position
      FROM ROWS FROM (unnest(${columns.place}::int[], ${columns.id}::bytea[], ${columns.type}::smallint[], ${columns.channel}::smallint[],
        ${columns.viewerId}::bytea[], ${columns.device}::text[], ${columns.source}::text[], ${columns.value}::numeric[], ${columns.productId}::text[],
        ${columns.occurredAt}::timestamptz[], ${columns.orderId}::text[], ${columns.lines}::text[]), ${expectationOf(columns).rows})
        WITH ORDINALITY AS e(place, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", "orderId", lines, none, position)
      WHERE (SELECT numbers FROM open)[${place}] IS NOT NULL),
    ${hasOrders ? Prisma.sql`${ordersOf(store, batch.now)},` : Prisma.empty}
    ${kind === "stored" ? freshOfStored(batch) : storedOf(store, batch)},
    ${hasLate ? Prisma.sql`${lateOf(store, batch.now)},` : Prisma.empty}
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
/** No caller asks for those of entries, which may be of hundreds of shows, or of what is stored. */
const noCounts = Prisma.sql`0 AS accepted, 0 AS "rowsToFold"`;

/**
 * The shows that exist, with what forbids recording. FOR KEY SHARE, since the snapshot may be older than the show's
 * lock, which a deletion, an erasure or a rebuild has just released.
 */
function showsOf({ storeId, isOfCaller, shows }: EventBatch): Prisma.Sql {
  const column = (value: (show: BatchShow) => string | null) => textArrayLiteral(shows.map(value));
  const ids = column(({ lsId }) => lsId);
  // By arrays, not by a join: see storeStatements.ts.
  const place = Prisma.sql`array_position(${ids}::text[], s.id)`;
  const own = (values: Prisma.Sql) => Prisma.sql`(${values})[${place}]`;
  const key = own(Prisma.sql`${column(({ lsId }) => showLockKey(storeId, lsId))}::text[]`);
  const earliest = own(Prisma.sql`${column((show) => show.earliest?.toISOString() ?? null)}::timestamptz[]`);
  const createdAt = own(Prisma.sql`${column((show) => show.createdAt?.toISOString() ?? null)}::timestamptz[]`);
  return Prisma.sql`
    shows AS MATERIALIZED (
      SELECT s.number AS show, s.id, ${place} AS place, status, ${trySharedLockOf(key)} AND ${isSnapshotCurrent(storeId)} AS "hasLock",
        coalesce(${earliest} < greatest("startedAt" - interval '24 hours', "prunedBefore"), false) AS "isTooEarly",
        s."createdAt", coalesce(s."createdAt" <> ${createdAt}, false) AS "isReplaced"
      FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ANY(${ids}::text[]) AND ${isOfCaller} FOR KEY SHARE OF s)`;
}

/**
 * Functions without rows, for which PostgreSQL expects some: it keeps a generic plan only where that seems no more
 * expensive than one for the real parameters, and of an unknown array it expects ten rows.
 */
const expectations = [
  { size: "small", countMax: 50, rows: Prisma.sql`unnest(NULL::int[])` },
  { size: "medium", countMax: 400, rows: Prisma.sql`json_array_elements('[]')` }, // a hundred
];
const largeBatch = { size: "large", rows: Prisma.sql`generate_series(1, ${0}::int)` }; // a thousand

function expectationOf({ count }: EventColumns) {
  return expectations.find(({ countMax }) => count <= countMax) ?? largeBatch;
}

function nameOf({ hasOthers, hasOrders, hasLate, kind, duplicates, columns }: EventBatch): Prisma.Sql {
  const variant = `${hasOthers ? "_others" : ""}${hasOrders ? "_orders" : ""}${hasLate ? "_late" : ""}_${expectationOf(columns).size}`;
  if (kind !== "events") return Prisma.raw(`/* record_${kind}${variant} */`);
  if (duplicates === "concurrent") return Prisma.empty; // rare
  return Prisma.raw(`/* record_events_${duplicates}${variant} */`);
}

/**
 * Stores the events that the show does not have. Looking them up is cheaper than ON CONFLICT, which writes each row to
 * the log twice.
 */
function storedOf(store: StoreRow, { now, duplicates }: EventBatch): Prisma.Sql {
  const unknown = Prisma.sql`(
        SELECT DISTINCT ON (show, id) input.* FROM input LEFT JOIN LATERAL (
          SELECT true AS "isKnown" FROM "ShowEvent" AS k
          WHERE k."storeId" = ${store.storeId} AND k.show = input.show AND k.id = input.id OFFSET 0) AS k ON true
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

/** Events that the show has stored are new to its totals, which are empty. */
function freshOfStored({ now }: EventBatch): Prisma.Sql {
  return Prisma.sql`
    fresh AS (
      SELECT show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt", lines,
        ${now}::timestamptz AS "acceptedAt", position
      FROM input)`;
}
