import { textArrayLiteral } from "../../database/arrayLiteral.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { ShopperEventInput } from "./events.input.js";
import { deviceName, otherDevice, unknownDevice } from "./keptNames.js";
import { trySharedLock } from "../shows/showLock.js";

/** Columns for `unnest`, each an array literal. */
type EventColumns = ReturnType<typeof eventColumns>;

export function eventColumns(events: readonly ShopperEventInput[]) {
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
    device: column(({ device }) => deviceName(device)),
    seconds: column(({ seconds }) => seconds),
    amount: column(({ amount }) => amount),
    productId: column(({ productId }) => productId),
    occurredAt: column(({ occurredAt }) => occurredAt?.toISOString()),
  };
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
  const show = Prisma.sql`${storeId}::text, ${lsId}::text`;
  const isReplaced =
    createdAt === undefined ? Prisma.sql`false` : Prisma.sql`"createdAt" IS DISTINCT FROM ${createdAt}::timestamptz`;
  return Prisma.sql`
    WITH show AS MATERIALIZED (
      SELECT status, ${trySharedLock(storeId, lsId)} AS "hasLock",
        coalesce(${earliest}::timestamptz < "startedAt" - interval '24 hours', false) AS "isTooEarly",
        "createdAt", ${isReplaced} AS "isReplaced"
      FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} FOR KEY SHARE),
    input AS MATERIALIZED (
      SELECT e.* FROM unnest(${columns.id}::text[], ${columns.type}::text[], ${columns.channel}::text[],
        ${columns.viewerId}::text[], ${columns.device}::text[], ${columns.seconds}::numeric[], ${columns.amount}::numeric[],
        ${columns.productId}::text[], ${columns.occurredAt}::timestamptz[])
        WITH ORDINALITY AS e(id, type, channel, "viewerId", device, seconds, amount, "productId", "occurredAt", position),
        show WHERE show.status NOT IN ('SCHEDULED', 'ARCHIVED') AND show."hasLock" AND NOT show."isTooEarly"
          AND NOT show."isReplaced"),
    fresh AS (
      INSERT INTO "ShopperEvent" ("storeId", "liveStreamId", id, type, channel, "viewerId", device, seconds, amount,
        "productId", "occurredAt", "acceptedAt", position)
      SELECT ${show}, id, type, channel, "viewerId", device, seconds, amount, "productId", coalesce("occurredAt", ${now}),
        ${now}, position FROM input ORDER BY id, position
      ON CONFLICT ("storeId", "liveStreamId", id) DO NOTHING
      RETURNING type, channel, "viewerId", device, seconds, amount, "productId", "occurredAt", position),
    ${membersOf(show, hasOthers ? keptDevice(storeId, lsId) : Prisma.sql`device`)},
    ${totalsOf(show, slot, hasOthers ? ofKeptProducts(storeId, lsId) : Prisma.empty)}
    SELECT show.*, (SELECT count(*) FROM fresh)::int AS accepted,
      ((SELECT count(*) FROM device) + (SELECT count(*) FROM minute) + (SELECT count(*) FROM product))::int AS "rowsToFold"
    FROM show`;
}

function keptDevice(storeId: string, lsId: string): Prisma.Sql {
  return Prisma.sql`
    coalesce((SELECT k.device FROM "LiveStreamDevice" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
      AND k.channel = first.channel AND k.device = first.device AND k.slot = -1), ${otherDevice})`;
}

function ofKeptProducts(storeId: string, lsId: string): Prisma.Sql {
  return Prisma.sql`
    WHERE (SELECT true FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
      AND k."productId" = added."productId" AND k.slot = -1)`;
}

/** Distinct viewers of each channel, of the show, with a product in the cart, and in each minute. */
function membersOf(show: Prisma.Sql, device: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    seen AS MATERIALIZED (
      SELECT type, channel, "viewerId", coalesce(device, ${unknownDevice}) AS device, position,
        date_trunc('minute', "occurredAt", 'UTC') AS minute
      FROM fresh WHERE type <> 'ORDER'),
    viewer AS (
      INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
      SELECT ${show}, channel, "viewerId", ${device} FROM (
        SELECT DISTINCT ON (channel, "viewerId") channel, "viewerId", device FROM seen
        ORDER BY channel, "viewerId", position) AS first
      ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel, "viewerId", device),
    "viewerOfAny" AS (
      INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
      SELECT DISTINCT ${show}, 'ANY', "viewerId", ${unknownDevice} FROM viewer ORDER BY "viewerId"
      ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel),
    "cartViewer" AS (
      INSERT INTO "LiveStreamCartViewer" ("storeId", "liveStreamId", channel, "viewerId")
      SELECT DISTINCT ${show}, channel, "viewerId" FROM seen WHERE type = 'ADD_TO_CART' ORDER BY channel, "viewerId"
      ON CONFLICT ("storeId", "liveStreamId", channel, "viewerId") DO NOTHING RETURNING channel),
    present AS (
      INSERT INTO "LiveStreamPresence" ("storeId", "liveStreamId", minute, "viewerId")
      SELECT DISTINCT ${show}, minute, "viewerId" FROM seen ORDER BY minute, "viewerId"
      ON CONFLICT ("storeId", "liveStreamId", minute, "viewerId") DO NOTHING RETURNING minute)`;
}

function totalsOf(show: Prisma.Sql, slot: number, keptProducts: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    total AS (
      INSERT INTO "LiveStreamTotal" AS t ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds")
      SELECT ${show}, channel, ${slot}::int, sum(sales), sum(orders), sum(viewers), sum("cartViewers"), sum(seconds) FROM (
        SELECT channel, amount AS sales, 1 AS orders, 0 AS viewers, 0 AS "cartViewers", 0 AS seconds FROM fresh WHERE type = 'ORDER'
        UNION ALL SELECT channel, 0, 0, 0, 0, seconds FROM fresh WHERE type = 'VIEW' AND seconds IS NOT NULL
        UNION ALL SELECT channel, 0, 0, 1, 0, 0 FROM viewer
        UNION ALL SELECT channel, 0, 0, 1, 0, 0 FROM "viewerOfAny"
        UNION ALL SELECT channel, 0, 0, 0, 1, 0 FROM "cartViewer") AS added
      GROUP BY channel ORDER BY channel
      ON CONFLICT ("storeId", "liveStreamId", channel, slot) DO UPDATE SET sales = t.sales + EXCLUDED.sales,
        orders = t.orders + EXCLUDED.orders, viewers = t.viewers + EXCLUDED.viewers,
        "cartViewers" = t."cartViewers" + EXCLUDED."cartViewers", "viewSeconds" = t."viewSeconds" + EXCLUDED."viewSeconds"),
    device AS (
      INSERT INTO "LiveStreamDevice" AS t ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT ${show}, channel, device, ${slot}::int, count(*) FROM viewer
      GROUP BY channel, device ORDER BY channel, device
      ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers
      RETURNING slot),
    minute AS (
      INSERT INTO "LiveStreamMinute" AS t ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT ${show}, minute, ${slot}::int, sum(viewers), sum(carts), sum(orders), sum(sales) FROM (
        SELECT minute, 1 AS viewers, 0 AS carts, 0 AS orders, 0::numeric AS sales FROM present
        UNION ALL SELECT minute, 0, 1, 0, 0 FROM seen WHERE type = 'ADD_TO_CART'
        UNION ALL SELECT date_trunc('minute', "occurredAt", 'UTC'), 0, 0, 1, amount FROM fresh WHERE type = 'ORDER') AS added
      GROUP BY minute ORDER BY minute
      ON CONFLICT ("storeId", "liveStreamId", minute, slot) DO UPDATE SET viewers = t.viewers + EXCLUDED.viewers,
        carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales
      RETURNING slot),
    product AS (
      INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", slot, carts)
      SELECT ${show}, "productId", ${slot}::int, carts FROM (
        SELECT "productId", count(*) AS carts FROM fresh WHERE type = 'ADD_TO_CART' AND "productId" IS NOT NULL
        GROUP BY "productId") AS added
      ${keptProducts} ORDER BY "productId"
      ON CONFLICT ("storeId", "liveStreamId", "productId", slot) DO UPDATE SET carts = t.carts + EXCLUDED.carts
      RETURNING slot)`;
}
