import { Prisma } from "../../generated/prisma/client.js";
import { channelName, momentOf, startOfMinute } from "../events/storage/codes.js";
import { linesOf, productParts, productSums } from "../events/storage/products.sql.js";
import { type ShowRow, showRow } from "../events/storage/showRow.js";
import type { NameLimits } from "../events/keptNames.js";
import { keepDevices, keepProducts, otherDevice, unknownDevice } from "../events/storage/keptNames.sql.js";
import { addToProductSpans } from "./productSpans.sql.js";
import { type RebuiltShow, rebuildViewers } from "./rebuild.viewers.sql.js";
import { addToSpans, daySeconds } from "./spans.sql.js";

/** The slot of totals that are folded. */
const slot = -1;

/**
 * Makes all tables of a show agree with its events; to be run in order, with the show's exclusive lock. Names come
 * first, then distinct viewers, since totals count both. Viewers are many rows, so only wrong ones are written.
 */
export function rebuildStatements(stored: RebuiltShow, limits: NameLimits): readonly Prisma.Sql[] {
  const { storeId, lsId, number } = stored;
  const show: ShowSql = {
    ...showRow(storeId, lsId),
    where: Prisma.sql`"storeId" = ${storeId} AND "liveStreamId" = ${lsId}`,
    byNumber: Prisma.sql`"storeId" = ${storeId} AND show = ${number}`,
  };
  return [
    ...names(show, limits),
    ...rebuildViewers(stored),
    ...totals(show),
    ...devices(show),
    ...minutes(show),
    ...spans(show),
    ...products(show),
  ];
}

interface ShowSql extends ShowRow {
  readonly where: Prisma.Sql;
  /** The condition for the tables that name the show by its number. */
  readonly byNumber: Prisma.Sql;
}

const channel = Prisma.sql`channel`;
const order = Prisma.sql`"acceptedAt", position, id`;
const knownDevice = Prisma.sql`coalesce(nullif(device, ''), ${unknownDevice})`;

/** Kept names stay; free places go to the first names among the events. Names are rows of slot -1. */
function names(show: ShowSql, limits: NameLimits): Prisma.Sql[] {
  const { storeId, lsId, where, byNumber } = show;
  const kept = (table: string) => Prisma.sql`${Prisma.raw(`"${table}"`)} AS k WHERE k."storeId" = ${storeId}
    AND k."liveStreamId" = ${lsId} AND k.slot = ${slot}`;
  // Two passes that aggregate are faster than one that sorts all events.
  const unkept = Prisma.sql`
    SELECT * FROM (
      SELECT ${channelName(channel)} AS channel, ${knownDevice} AS device, ${order} FROM "ShowEvent"
      WHERE ${byNumber} AND type < 3) AS e
    WHERE device <> ${otherDevice}
      AND NOT EXISTS (SELECT FROM ${kept("LiveStreamDevice")} AND k.channel = e.channel AND k.device = e.device)`;
  return [
    Prisma.sql`DELETE FROM "LiveStreamDevice" WHERE ${where} AND slot <> ${slot}`,
    Prisma.sql`DELETE FROM "LiveStreamProduct" WHERE ${where} AND slot <> ${slot}`,
    keepDevices(
      show,
      Prisma.sql`(
        SELECT channel, device, row_number() OVER (ORDER BY ${order}) AS position FROM (
          SELECT DISTINCT ON (channel, device) channel, device, ${order} FROM (${unkept}) AS e
          JOIN (SELECT channel, device, min("acceptedAt") AS "acceptedAt" FROM (${unkept}) AS e GROUP BY channel, device) AS f
            USING (channel, device, "acceptedAt")
          ORDER BY channel, device, ${order}) AS firsts) AS n`,
      limits.devices,
    ),
    keepProducts(
      show,
      Prisma.sql`(
        SELECT "productId", row_number() OVER (ORDER BY ${order}) AS position FROM (
          SELECT DISTINCT ON ("productId") "productId", ${order} FROM (
            SELECT "productId", ${order} FROM "ShowEvent"
            WHERE ${byNumber} AND type > 1 AND lines = '' AND "productId" <> ''
            UNION ALL SELECT x."productId", ${order} FROM "ShowEvent" AS e, ${linesOf}
            WHERE ${byNumber} AND type > 2 AND lines <> '') AS e
          WHERE NOT EXISTS (SELECT FROM ${kept("LiveStreamProduct")} AND k."productId" = e."productId")
          ORDER BY "productId", ${order}) AS firsts) AS n`,
      limits.products,
    ),
  ];
}

function totals({ source, isShow, where, byNumber }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`DELETE FROM "LiveStreamTotal" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamTotal" ("storeId", "liveStreamId", channel, slot, sales, orders, viewers, "cartViewers", "viewSeconds",
        refunds)
      SELECT l."storeId", l.id, a.channel, ${slot}::int, a.sales, a.orders, a.viewers, a."cartViewers", a.seconds, a.refunds
      FROM ${source}, (SELECT channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers,
        sum("cartViewers") AS "cartViewers", sum(seconds) AS seconds, sum(refunds) AS refunds FROM (
        SELECT ${channelName(channel)} AS channel, coalesce(sum(value) FILTER (WHERE type = 3), 0) AS sales,
          count(*) FILTER (WHERE type = 3) AS orders, 0 AS viewers, 0 AS "cartViewers",
          coalesce(sum(value) FILTER (WHERE type = 1), 0) AS seconds, coalesce(sum(value) FILTER (WHERE type = 4), 0) AS refunds
        FROM "ShowEvent" WHERE ${byNumber} GROUP BY channel
        UNION ALL SELECT ${channelName(channel)}, sales, orders, 0, 0, seconds, refunds FROM "ShowBase" WHERE ${byNumber} AND channel <> 0
        UNION ALL SELECT c.channel, 0, 0, count(*) FILTER (WHERE seen & c.bit <> 0),
          count(*) FILTER (WHERE seen & c."cartBit" <> 0), 0, 0
        FROM "ShowViewer", (VALUES ('LIVE', 1, 4), ('REPLAY', 2, 8), ('ANY', 3, 0)) AS c(channel, bit, "cartBit")
        WHERE ${byNumber} AND seen & c.bit <> 0 GROUP BY c.channel) AS parts
      GROUP BY channel) AS a WHERE ${isShow}`,
  ];
}

function devices({ source, isShow, where, byNumber }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`UPDATE "LiveStreamDevice" SET viewers = 0 WHERE ${where} AND viewers <> 0`,
    Prisma.sql`
      INSERT INTO "LiveStreamDevice" ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT l."storeId", l.id, a.channel, a.device, ${slot}::int, a.viewers FROM ${source}, (
        SELECT c.channel, CASE WHEN c.bit = 1 THEN "liveDevice" ELSE "replayDevice" END AS device, count(*) AS viewers
        FROM "ShowViewer", (VALUES ('LIVE', 1), ('REPLAY', 2)) AS c(channel, bit)
        WHERE ${byNumber} AND seen & c.bit <> 0 GROUP BY 1, 2) AS a
      WHERE ${isShow}
      ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO UPDATE SET viewers = EXCLUDED.viewers`,
  ];
}

function minutes({ source, isShow, where, byNumber }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`DELETE FROM "LiveStreamMinute" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamMinute" ("storeId", "liveStreamId", minute, slot, viewers, carts, orders, sales)
      SELECT l."storeId", l.id, a.minute, ${slot}::int, a.viewers, a.carts, a.orders, a.sales FROM ${source}, (
       SELECT minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales FROM (
        SELECT ${startOfMinute(Prisma.sql`"occurredAt"`)} AS minute, 0 AS viewers, count(*) FILTER (WHERE type = 2) AS carts,
          count(*) FILTER (WHERE type = 3) AS orders, coalesce(sum(value) FILTER (WHERE type = 3), 0) AS sales
        FROM "ShowEvent" WHERE ${byNumber} AND type < 4 GROUP BY 1
        UNION ALL SELECT to_timestamp(minute::float8 * 60), 0, carts, orders, sales FROM "ShowBase"
        WHERE ${byNumber} AND minute <> -1 AND "productId" = '' AND carts + orders > 0
        UNION ALL SELECT ${momentOf(Prisma.sql`hour`, Prisma.sql`m.minute`)}, sum(viewers), 0, 0, 0
        FROM (SELECT hour, minutes, count(*) AS viewers FROM (
            SELECT hour, minutes FROM "ShowViewer" WHERE ${byNumber}
            UNION ALL SELECT hour, minutes FROM "ShowPresence" WHERE ${byNumber}) AS h
          GROUP BY hour, minutes) AS p, generate_series(0, 59) AS m(minute)
        WHERE (minutes >> m.minute) & 1 = 1 GROUP BY hour, m.minute) AS parts
       GROUP BY minute) AS a WHERE ${isShow}`,
  ];
}

function spans(show: ShowSql): Prisma.Sql[] {
  const { where } = show;
  const minutesOf = (columns: string) =>
    Prisma.sql`(SELECT minute, ${Prisma.raw(columns)} FROM "LiveStreamMinute" WHERE ${where})`;
  return [
    Prisma.sql`DELETE FROM "LiveStreamSpan" WHERE ${where}`,
    addToSpans({ show, added: minutesOf("carts, orders, sales"), totals: minutesOf("viewers") }),
  ];
}

/** Counts products by quarters of an hour and by days, and from these in all. */
function products(show: ShowSql): Prisma.Sql[] {
  const { storeId, lsId, where, byNumber } = show;
  const counted = Prisma.sql`(
    SELECT * FROM (
      ${productParts(Prisma.sql`"ShowEvent"`, byNumber)}
      UNION ALL SELECT show, "productId", to_timestamp(minute::float8 * 60), carts, orders, quantity, sales, refunds FROM "ShowBase"
      WHERE ${byNumber} AND "productId" <> '') AS parts
    WHERE EXISTS (SELECT FROM "LiveStreamProduct" AS k WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId}
      AND k."productId" = parts."productId" AND k.slot = ${slot}))`;
  return [
    Prisma.sql`DELETE FROM "ShowProductSlot" WHERE ${byNumber}`,
    Prisma.sql`DELETE FROM "ShowProductSpan" WHERE ${byNumber}`,
    addToProductSpans({ show, added: counted }),
    Prisma.sql`
      UPDATE "LiveStreamProduct" SET carts = 0, orders = 0, quantity = 0, sales = 0
      WHERE ${where} AND (carts, orders, quantity, sales) <> (0, 0, 0, 0)`,
    Prisma.sql`
      UPDATE "LiveStreamProduct" AS p
      SET carts = counted.carts, orders = counted.orders, quantity = counted.quantity, sales = counted.sales
      FROM (
        SELECT "productId", ${productSums} FROM "ShowProductSpan" WHERE ${byNumber} AND seconds = ${daySeconds}::int
        GROUP BY "productId") AS counted
      WHERE p."storeId" = ${storeId} AND p."liveStreamId" = ${lsId} AND p."productId" = counted."productId" AND p.slot = ${slot}`,
  ];
}
