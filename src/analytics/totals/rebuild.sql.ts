import { Prisma } from "../../generated/prisma/client.js";
import { addToSpans } from "./spans.sql.js";
import { keepDevices, keepProducts, type NameLimits, otherDevice, unknownDevice } from "../events/keptNames.js";

/** As after folding. */
const slot = -1;

/**
 * Makes all tables of a show agree with its events; to be run in order, with the show's exclusive lock. Names come
 * first, then distinct viewers, since totals count both. Viewers are many rows, so only wrong ones are written.
 */
export function rebuildStatements(storeId: string, lsId: string, limits: NameLimits): readonly Prisma.Sql[] {
  const show: ShowSql = {
    storeId,
    lsId,
    key: Prisma.sql`${storeId}::text, ${lsId}::text`,
    where: Prisma.sql`"storeId" = ${storeId} AND "liveStreamId" = ${lsId}`,
  };
  return [
    ...names(show, limits),
    ...viewers(show),
    ...viewersOfAny(show),
    ...cartViewers(show),
    ...presence(show),
    ...totals(show),
    ...devices(show),
    ...minutes(show),
    ...spans(show),
    ...products(show),
  ];
}

interface ShowSql {
  readonly storeId: string;
  readonly lsId: string;
  readonly key: Prisma.Sql;
  readonly where: Prisma.Sql;
}

const minute = Prisma.sql`date_trunc('minute', "occurredAt", 'UTC')`;

/** Kept names stay; free places go to the first names among the events. Names are rows of slot -1. */
function names({ storeId, lsId, where }: ShowSql, limits: NameLimits): Prisma.Sql[] {
  const kept = (table: string) => Prisma.sql`${Prisma.raw(`"${table}"`)} AS k WHERE k."storeId" = ${storeId}
    AND k."liveStreamId" = ${lsId} AND k.slot = ${slot}`;
  const order = Prisma.sql`"acceptedAt", position, id`;
  return [
    Prisma.sql`DELETE FROM "LiveStreamDevice" WHERE ${where} AND slot <> ${slot}`,
    Prisma.sql`DELETE FROM "LiveStreamProduct" WHERE ${where} AND slot <> ${slot}`,
    keepDevices(
      storeId,
      lsId,
      Prisma.sql`(
        SELECT channel, device, row_number() OVER (ORDER BY ${order}) AS position FROM (
          SELECT DISTINCT ON (channel, device) channel, device, ${order} FROM (
            SELECT channel, coalesce(device, ${unknownDevice}) AS device, ${order} FROM "ShopperEvent"
            WHERE ${where} AND type <> 'ORDER') AS e
          WHERE device <> ${otherDevice}
            AND NOT EXISTS (SELECT FROM ${kept("LiveStreamDevice")} AND k.channel = e.channel AND k.device = e.device)
          ORDER BY channel, device, ${order}) AS firsts) AS n`,
      limits.devices,
    ),
    keepProducts(
      storeId,
      lsId,
      Prisma.sql`(
        SELECT "productId", row_number() OVER (ORDER BY ${order}) AS position FROM (
          SELECT DISTINCT ON ("productId") "productId", ${order} FROM "ShopperEvent" AS e
          WHERE ${where} AND type = 'ADD_TO_CART' AND "productId" IS NOT NULL
            AND NOT EXISTS (SELECT FROM ${kept("LiveStreamProduct")} AND k."productId" = e."productId")
          ORDER BY "productId", ${order}) AS firsts) AS n`,
      limits.products,
    ),
  ];
}

/** Existing rows keep their device: the events do not tell which of two concurrent batches was accepted first. */
function viewers({ storeId, lsId, key, where }: ShowSql): Prisma.Sql[] {
  const seen = Prisma.sql`(
    SELECT channel, "viewerId", coalesce(device, ${unknownDevice}) AS device, "acceptedAt", position, id FROM "ShopperEvent" WHERE ${where} AND type <> 'ORDER')`;
  return [
    Prisma.sql`
      DELETE FROM "LiveStreamViewer" AS v WHERE ${where} AND channel <> 'ANY'
        AND NOT EXISTS (SELECT 1 FROM ${seen} AS s WHERE s.channel = v.channel AND s."viewerId" = v."viewerId")`,
    Prisma.sql`
      INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
      SELECT ${key}, first.channel, first."viewerId", coalesce(k.device, ${otherDevice}) FROM (
        SELECT DISTINCT ON (channel, "viewerId") channel, "viewerId", device FROM ${seen} AS s
        WHERE NOT EXISTS (SELECT 1 FROM "LiveStreamViewer" AS v
          WHERE ${where} AND v.channel = s.channel AND v."viewerId" = s."viewerId")
        ORDER BY channel, "viewerId", "acceptedAt", position, id) AS first
      LEFT JOIN "LiveStreamDevice" AS k ON k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
        AND k.channel = first.channel AND k.device = first.device AND k.slot = ${slot}`,
  ];
}

function viewersOfAny({ key, where }: ShowSql): Prisma.Sql[] {
  const seen = Prisma.sql`(SELECT "viewerId" FROM "LiveStreamViewer" WHERE ${where} AND channel <> 'ANY')`;
  return [
    Prisma.sql`
      DELETE FROM "LiveStreamViewer" AS v WHERE ${where} AND channel = 'ANY'
        AND NOT EXISTS (SELECT 1 FROM ${seen} AS s WHERE s."viewerId" = v."viewerId")`,
    Prisma.sql`
      INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
      SELECT DISTINCT ${key}, 'ANY', "viewerId", 'unknown' FROM ${seen} AS s
      WHERE NOT EXISTS (SELECT 1 FROM "LiveStreamViewer" AS v
        WHERE ${where} AND v.channel = 'ANY' AND v."viewerId" = s."viewerId")`,
  ];
}

function cartViewers(show: ShowSql): Prisma.Sql[] {
  const events = Prisma.sql`SELECT channel, "viewerId" FROM "ShopperEvent" WHERE ${show.where} AND type = 'ADD_TO_CART'`;
  return correctViewers(show, "LiveStreamCartViewer", "channel", events);
}

function presence(show: ShowSql): Prisma.Sql[] {
  const events = Prisma.sql`SELECT ${minute} AS minute, "viewerId" FROM "ShopperEvent" WHERE ${show.where} AND type <> 'ORDER'`;
  return correctViewers(show, "LiveStreamPresence", "minute", events);
}

/** Deletes the distinct viewers of a `group` that no event has, and inserts missing ones. */
function correctViewers({ key, where }: ShowSql, table: string, group: string, events: Prisma.Sql): Prisma.Sql[] {
  const [rows, column] = [Prisma.raw(`"${table}" AS r`), Prisma.raw(group)];
  const isSame = Prisma.sql`r.${column} = e.${column} AND r."viewerId" = e."viewerId"`;
  return [
    Prisma.sql`DELETE FROM ${rows} WHERE ${where} AND NOT EXISTS (SELECT FROM (${events}) AS e WHERE ${isSame})`,
    Prisma.sql`
      INSERT INTO ${Prisma.raw(`"${table}"`)} ("storeId", "liveStreamId", ${column}, "viewerId")
      SELECT DISTINCT ${key}, ${column}, "viewerId" FROM (${events}) AS e
      WHERE NOT EXISTS (SELECT FROM ${rows} WHERE ${where} AND ${isSame})`,
  ];
}

function totals({ key, where }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`DELETE FROM "LiveStreamTotal" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamTotal" ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds")
      SELECT ${key}, channel, ${slot}::int, sum(sales), sum(orders), sum(viewers), sum("cartViewers"), sum(seconds) FROM (
        SELECT channel, coalesce(sum(amount) FILTER (WHERE type = 'ORDER'), 0) AS sales,
          count(*) FILTER (WHERE type = 'ORDER') AS orders, 0 AS viewers, 0 AS "cartViewers",
          coalesce(sum(seconds) FILTER (WHERE type = 'VIEW'), 0) AS seconds
        FROM "ShopperEvent" WHERE ${where} GROUP BY channel
        UNION ALL SELECT channel, 0, 0, count(*), 0, 0 FROM "LiveStreamViewer" WHERE ${where} GROUP BY channel
        UNION ALL SELECT channel, 0, 0, 0, count(*), 0 FROM "LiveStreamCartViewer" WHERE ${where} GROUP BY channel) AS parts
      GROUP BY channel`,
  ];
}

function devices({ key, where }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`UPDATE "LiveStreamDevice" SET viewers = 0 WHERE ${where} AND viewers <> 0`,
    Prisma.sql`
      INSERT INTO "LiveStreamDevice" ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT ${key}, channel, device, ${slot}::int, count(*) FROM "LiveStreamViewer"
      WHERE ${where} AND channel <> 'ANY' GROUP BY channel, device
      ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = EXCLUDED.viewers`,
  ];
}

function minutes({ key, where }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`DELETE FROM "LiveStreamMinute" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamMinute" ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT ${key}, minute, ${slot}::int, sum(viewers), sum(carts), sum(orders), sum(sales) FROM (
        SELECT ${minute} AS minute, 0 AS viewers, count(*) FILTER (WHERE type = 'ADD_TO_CART') AS carts,
          count(*) FILTER (WHERE type = 'ORDER') AS orders,
          coalesce(sum(amount) FILTER (WHERE type = 'ORDER'), 0) AS sales
        FROM "ShopperEvent" WHERE ${where} GROUP BY 1
        UNION ALL SELECT minute, count(*), 0, 0, 0 FROM "LiveStreamPresence" WHERE ${where} GROUP BY minute) AS parts
      GROUP BY minute`,
  ];
}

function spans({ key, where }: ShowSql): Prisma.Sql[] {
  const minutesOf = (columns: string) =>
    Prisma.sql`(SELECT minute, ${Prisma.raw(columns)} FROM "LiveStreamMinute" WHERE ${where})`;
  return [
    Prisma.sql`DELETE FROM "LiveStreamSpan" WHERE ${where}`,
    addToSpans({ key, added: minutesOf("carts, orders, sales"), totals: minutesOf("viewers") }),
  ];
}

function products({ storeId, lsId, where }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`UPDATE "LiveStreamProduct" SET carts = 0 WHERE ${where} AND carts <> 0`,
    Prisma.sql`
      UPDATE "LiveStreamProduct" AS p SET carts = counted.carts FROM (
        SELECT "productId", count(*) AS carts FROM "ShopperEvent"
        WHERE ${where} AND type = 'ADD_TO_CART' AND "productId" IS NOT NULL GROUP BY "productId") AS counted
      WHERE p."storeId" = ${storeId} AND p."liveStreamId" = ${lsId} AND p."productId" = counted."productId" AND p.slot = ${slot}`,
  ];
}
