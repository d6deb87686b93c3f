import { Prisma } from "../../../generated/prisma/client.js";
import { isSnapshotCurrent, trySharedLock } from "../../shows/showLock.js";
import type { EventColumns } from "./events.columns.js";
import { totalsOf } from "./events.totals.sql.js";
import { isOf, type ShowRow, showRow } from "./showRow.js";
import { viewersOf } from "./viewers.sql.js";

/**
 * What is known of events that the show may have already: `unexpected`, and the statement fails where there is one;
 * `expected`, and it fails where another batch is just storing one; or `concurrent`, and it never fails for them.
 */
export type Duplicates = "unexpected" | "expected" | "concurrent";

export interface EventBatch {
  readonly storeId: string;
  readonly lsId: string;
  /** Row of each total that this batch adds to. */
  readonly slot: number;
  readonly now: Date;
  readonly earliest: Date | null;
  /** When the show was created whose names are known; undefined for any. */
  readonly createdAt: Date | null | undefined;
  /** Whether devices or products of the batch may be beyond the show's limits. */
  readonly hasOthers: boolean;
  readonly duplicates: Duplicates;
  readonly columns: EventColumns;
}

/**
 * The statement that records a batch. Each part uses the rows that the part before has inserted, so duplicates add
 * nothing. Nothing is stored without the show's lock, for a show that has replaced the known one, or where an event
 * occurred too early. Rows are inserted in the order of their keys: one lock order, so that batches cannot deadlock.
 *
 * Each text has a name of its own: planning takes longer than recording some events. A prepared statement is planned
 * without its parameters, as for the thousand rows that PostgreSQL expects of generate_series.
 *
 * FOR KEY SHARE: the snapshot may be older than the show's lock, which a deletion, an erasure or a rebuild has just released.
 */
export function eventStatement(batch: EventBatch): Prisma.Sql {
  const { storeId, lsId, slot, earliest, createdAt, hasOthers, columns } = batch;
  const show = showRow(storeId, lsId);
  return Prisma.sql`${nameOf(batch)}
    WITH show AS MATERIALIZED (
      SELECT number, status, ${trySharedLock(storeId, lsId)} AND ${isSnapshotCurrent(storeId, lsId)} AS "hasLock",
        coalesce(${earliest}::timestamptz < greatest("startedAt" - interval '24 hours', "prunedBefore"), false) AS "isTooEarly",
        "createdAt", ${createdAt !== undefined}::boolean AND "createdAt" IS DISTINCT FROM ${createdAt ?? null}::timestamptz AS "isReplaced"
      FROM "LiveStream" AS s WHERE "storeId" = ${storeId} AND id = ${lsId} FOR KEY SHARE OF s),
    input AS (
      SELECT e.id, type, channel, "viewerId", coalesce(device, '') AS device, value, coalesce("productId", '') AS "productId",
        "occurredAt", coalesce("orderId", '') AS "orderId", coalesce(lines, '') AS lines, position
      FROM ROWS FROM (unnest(${columns.id}::bytea[], ${columns.type}::smallint[], ${columns.channel}::smallint[],
        ${columns.viewerId}::bytea[], ${columns.device}::text[], ${columns.value}::numeric[], ${columns.productId}::text[],
        ${columns.occurredAt}::timestamptz[], ${columns.orderId}::text[], ${columns.lines}::text[]), generate_series(1, ${columns.count}::int))
        AS e(id, type, channel, "viewerId", device, value, "productId", "occurredAt", "orderId", lines, position),
        show WHERE show.status NOT IN ('SCHEDULED', 'ARCHIVED') AND show."hasLock" AND NOT show."isTooEarly"
          AND NOT show."isReplaced"),
    ${storedOf(show, batch)},
    ${viewersOf(show, hasOthers)},
    ${totalsOf(show, slot, hasOthers)}
    SELECT status, "hasLock", "isTooEarly", "createdAt", "isReplaced", (SELECT count(*) FROM fresh)::int AS accepted,
      ((SELECT count(*) FROM device) + (SELECT count(*) FROM minute) + (SELECT count(*) FROM product))::int AS "rowsToFold"
    FROM show`;
}

function nameOf({ hasOthers, duplicates }: EventBatch): Prisma.Sql {
  if (duplicates === "concurrent") return Prisma.empty; // rare
  return Prisma.raw(`/* record_events_${duplicates}${hasOthers ? "_others" : ""} */`);
}

/**
 * Stores the events that the show does not have. Looking for those that it has takes a tenth of the time of recording, and
 * ON CONFLICT would write each row to the log twice: as inserted, and as without conflict.
 */
function storedOf(show: ShowRow, { now, duplicates }: EventBatch): Prisma.Sql {
  const unknown = Prisma.sql`(
        SELECT DISTINCT ON (id) input.* FROM input LEFT JOIN LATERAL (
          SELECT true AS "isKnown" FROM "ShowEvent" AS k WHERE ${isOf(show, "k")} AND k.id = input.id OFFSET 0) AS k ON true
        WHERE "isKnown" IS NOT TRUE ORDER BY id, position)`;
  return Prisma.sql`
    fresh AS (
      INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, value, "productId", "occurredAt",
        "orderId", lines, "acceptedAt", position)
      SELECT l."storeId", l.number, e.id, type, channel, "viewerId", device, value, "productId", "occurredAt", "orderId", lines,
        ${now}::timestamptz, position
      FROM ${show.source}, ${duplicates === "unexpected" ? Prisma.sql`input` : unknown} AS e
      WHERE ${show.isShow} ORDER BY e.id
      ${duplicates === "concurrent" ? Prisma.sql`ON CONFLICT ("storeId", show, id) DO NOTHING` : Prisma.empty}
      RETURNING id, type, channel, "viewerId", device, value, "productId", "occurredAt", lines, "acceptedAt", position)`;
}
