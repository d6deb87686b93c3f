import { textArrayLiteral } from "../../../database/arrayLiteral.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { trySharedLock } from "../../shows/showLock.js";
import { channelCodes, typeCodes } from "./codes.js";
import type { OrderLineInput, ShopperEventInput } from "../events.input.js";
import { totalsOf } from "./events.totals.sql.js";
import { idBytes } from "./idBytes.js";
import { deviceName } from "../keptNames.js";
import { showRow } from "./showRow.js";
import { viewersOf } from "./viewers.sql.js";

/** Columns for `unnest`, each an array literal. */
type EventColumns = ReturnType<typeof eventColumns>;

/** @param now when events without `occurredAt` occurred */
export function eventColumns(events: readonly ShopperEventInput[], now: Date) {
  const column = (value: (event: ShopperEventInput) => string | number) =>
    textArrayLiteral(events.map((event) => String(value(event))));
  const nowText = now.toISOString();
  return {
    id: column(({ id }) => idBytes(id)),
    type: column(({ type }) => typeCodes[type]),
    channel: column(({ channel }) => channelCodes[channel]),
    viewerId: column(({ viewerId }) => idBytes(viewerId ?? "")),
    device: column(({ device }) => deviceName(device) ?? ""),
    value: column(valueOf),
    orderId: column(({ orderId }) => orderId ?? ""),
    lines: column(({ lines }) => linesText(lines ?? [])),
    productId: column(({ productId }) => productId ?? ""),
    occurredAt: column(({ occurredAt }) => occurredAt?.toISOString() ?? nowText),
  };
}

function valueOf({ type, seconds, amount }: ShopperEventInput): number {
  if (type === "VIEW") return seconds ?? 0;
  return type === "ADD_TO_CART" ? 0 : (amount ?? 0);
}

function linesText(lines: readonly OrderLineInput[]): string {
  if (lines.length === 0) return "";
  return JSON.stringify(lines.map(({ productId, quantity, amount }) => ({ productId, quantity, amount })));
}

interface EventBatch {
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
  readonly columns: EventColumns;
}

/**
 * The statement that records a batch. Each part uses the rows that the part before has inserted, so duplicates add
 * nothing. Nothing is stored without the show's lock, for a show that has replaced the known one, or where an event
 * occurred too early. Rows are inserted in the order of their keys: one lock order, so that batches cannot deadlock.
 *
 * FOR KEY SHARE: the snapshot may be older than the show's lock, which a deletion has just released.
 */
export function eventStatement(batch: EventBatch): Prisma.Sql {
  const { storeId, lsId, slot, now, earliest, createdAt, hasOthers, columns } = batch;
  const show = showRow(storeId, lsId);
  const isReplaced =
    createdAt === undefined ? Prisma.sql`false` : Prisma.sql`"createdAt" IS DISTINCT FROM ${createdAt}::timestamptz`;
  return Prisma.sql`
    WITH show AS MATERIALIZED (
      SELECT number, status, ${trySharedLock(storeId, lsId)} AS "hasLock",
        coalesce(${earliest}::timestamptz < greatest("startedAt" - interval '24 hours', "prunedBefore"), false) AS "isTooEarly",
        "createdAt", ${isReplaced} AS "isReplaced"
      FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} FOR KEY SHARE),
    input AS MATERIALIZED (
      SELECT e.* FROM unnest(${columns.id}::bytea[], ${columns.type}::smallint[], ${columns.channel}::smallint[],
        ${columns.viewerId}::bytea[], ${columns.device}::text[], ${columns.value}::numeric[],
        ${columns.productId}::text[], ${columns.occurredAt}::timestamptz[], ${columns.orderId}::text[], ${columns.lines}::text[])
        WITH ORDINALITY AS e(id, type, channel, "viewerId", device, value, "productId", "occurredAt", "orderId", lines, position),
        show WHERE show.status NOT IN ('SCHEDULED', 'ARCHIVED') AND show."hasLock" AND NOT show."isTooEarly"
          AND NOT show."isReplaced"),
    fresh AS (
      INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, value, "productId", "occurredAt",
        "orderId", lines, "acceptedAt", position)
      SELECT l."storeId", l.number, e.id, type, channel, "viewerId", device, value, "productId", "occurredAt", "orderId", lines,
        ${now}::timestamptz, position
      FROM ${show.source}, input AS e WHERE ${show.isShow} ORDER BY e.id, position
      ON CONFLICT ("storeId", show, id) DO NOTHING
      RETURNING id, type, channel, "viewerId", device, value, "productId", "occurredAt", lines, "acceptedAt", position),
    ${viewersOf(show, hasOthers)},
    ${totalsOf(show, slot, hasOthers)}
    SELECT status, "hasLock", "isTooEarly", "createdAt", "isReplaced", (SELECT count(*) FROM fresh)::int AS accepted,
      ((SELECT count(*) FROM device) + (SELECT count(*) FROM minute) + (SELECT count(*) FROM product))::int AS "rowsToFold"
    FROM show`;
}
