import { Prisma } from "../../generated/prisma/client.js";
import { changes, channelBits, channelName, groupBits, momentOf, startOfMinute } from "../events/storage/codes.js";
import { salesBySource } from "../events/storage/groups.sql.js";
import { linesOf, productParts, productSums } from "../events/storage/events.totals.sql.js";
import { type ShowRow, showRow } from "../events/storage/showRow.js";
import type { NameLimits } from "../events/keptNames.js";
import { keepGroups, keepProducts, otherName, unknownName } from "../events/storage/keptNames.sql.js";
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
    ofEvents: Prisma.sql`e."storeId" = ${storeId} AND e.show = ${number}`,
  };
  return [
    ...names(show, limits),
    ...rebuildViewers(stored),
    ...totals(show),
    ...groups(show),
    ...minutes(show),
    ...spans(show),
    ...products(show),
  ];
}

interface ShowSql extends ShowRow {
  readonly where: Prisma.Sql;
  /** The condition for the tables that name the show by its number. */
  readonly byNumber: Prisma.Sql;
  /** As byNumber, of `e`. */
  readonly ofEvents: Prisma.Sql;
}

const channel = Prisma.sql`channel`;
const [type, value] = [Prisma.sql`type`, Prisma.sql`value`];
const [orders, sales, refunds] = [changes.orders(type), changes.sales(type, value), changes.refunds(type, value)];
const order = Prisma.sql`"acceptedAt", position, id`;
const known = (name: string) => Prisma.sql`coalesce(nullif(${Prisma.raw(name)}, ''), ${unknownName})`;

/** Kept names stay; free places go to the first names among the events. Names are rows of slot -1. */
function names(show: ShowSql, limits: NameLimits): Prisma.Sql[] {
  const { storeId, lsId, where, byNumber } = show;
  const kept = (table: string) => Prisma.sql`${Prisma.raw(`"${table}"`)} AS k WHERE k."storeId" = ${storeId}
    AND k."liveStreamId" = ${lsId} AND k.slot = ${slot}`;
  // Two passes that aggregate are faster than one that sorts all events.
  const unkept = Prisma.sql`
    SELECT * FROM (
      SELECT ${channelName(channel)} AS kind, ${known("device")} AS name, ${order} FROM "ShowEvent"
      WHERE ${byNumber} AND type < 3
      UNION ALL SELECT 'SOURCE', ${known("source")}, ${order} FROM "ShowEvent" WHERE ${byNumber} AND type < 4) AS e
    WHERE name <> ${otherName}
      AND NOT EXISTS (SELECT FROM ${kept("LiveStreamGroup")} AND k.kind = e.kind AND k.name = e.name)`;
  return [
    Prisma.sql`DELETE FROM "LiveStreamGroup" WHERE ${where} AND slot <> ${slot}`,
    Prisma.sql`DELETE FROM "LiveStreamProduct" WHERE ${where} AND slot <> ${slot}`,
    keepGroups(
      show,
      Prisma.sql`(
        SELECT kind, name, row_number() OVER (ORDER BY ${order}) AS position FROM (
          SELECT DISTINCT ON (kind, name) kind, name, ${order} FROM (${unkept}) AS e
          JOIN (SELECT kind, name, min("acceptedAt") AS "acceptedAt" FROM (${unkept}) AS e GROUP BY kind, name) AS f
            USING (kind, name, "acceptedAt")
          ORDER BY kind, name, ${order}) AS firsts) AS n`,
      limits,
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
        refunds, buyers, "engagedViewers", "ordersWithoutViewer")
      SELECT l."storeId", l.id, a.channel, ${slot}::int, a.sales, a.orders, a.viewers, a.carts, a.seconds, a.refunds, a.buyers, a.engaged,
        a.nobodys
      FROM ${source}, (SELECT channel, sum(sales) AS sales, sum(orders) AS orders, sum(viewers) AS viewers, sum(carts) AS carts,
        sum(seconds) AS seconds, sum(refunds) AS refunds, sum(buyers) AS buyers, sum(engaged) AS engaged, sum(nobodys) AS nobodys FROM (
        SELECT ${channelName(channel)} AS channel, sum(${sales}) AS sales, sum(${orders}) AS orders, 0 AS viewers, 0 AS carts,
          coalesce(sum(value) FILTER (WHERE type = 1), 0) AS seconds, sum(${refunds}) AS refunds,
          0 AS buyers, 0 AS engaged, coalesce(sum(${orders}) FILTER (WHERE "viewerId" = ''), 0) AS nobodys
        FROM "ShowEvent" WHERE ${byNumber} GROUP BY channel
        UNION ALL SELECT ${channelName(channel)}, sales, orders, 0, 0, seconds, refunds, 0, 0, "ordersWithoutViewer"
        FROM "ShowBase" WHERE ${byNumber} AND channel <> 0
        UNION ALL SELECT c.channel, 0, 0, ${allOf("viewer")}, ${allOf("cart")}, 0, 0, ${allOf("buyer")}, ${allOf("engaged")}, 0
        FROM "ShowViewer", ${channelBits}
        WHERE ${byNumber} AND seen & (c.viewer | c.cart | c.engaged | c.buyer) <> 0 GROUP BY c.channel) AS parts
      GROUP BY channel) AS a WHERE ${isShow}`,
  ];
}

/** How many viewers have any of a kind's bits. */
function allOf(kind: string): Prisma.Sql {
  return Prisma.sql`count(*) FILTER (WHERE seen & ${Prisma.raw(`c.${kind}`)} <> 0)`;
}

/** Counts viewers by device and by source, and orders by source. */
function groups(show: ShowSql): Prisma.Sql[] {
  const { source, isShow, where, byNumber, ofEvents } = show;
  return [
    Prisma.sql`
      UPDATE "LiveStreamGroup" SET viewers = 0, orders = 0, sales = 0
      WHERE ${where} AND (viewers, orders, sales) <> (0, 0, 0)`,
    Prisma.sql`
      INSERT INTO "LiveStreamGroup" ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
      SELECT l."storeId", l.id, a.kind, a.name, ${slot}::int, a.viewers, a.orders, a.sales FROM ${source}, (
        SELECT kind, name, sum(viewers) AS viewers, sum(orders) AS orders, sum(sales) AS sales FROM (
          SELECT c.kind, CASE WHEN c.bits = 1 THEN "liveDevice" WHEN c.bits = 2 THEN "replayDevice" ELSE source END AS name, count(*) AS viewers,
            0 AS orders, 0 AS sales
          FROM "ShowViewer", ${groupBits} WHERE ${byNumber} AND seen & c.bits <> 0 GROUP BY 1, 2
          UNION ALL SELECT 'SOURCE', name, 0, orders, sales
          FROM (${salesBySource(show, Prisma.sql`"ShowEvent"`, ofEvents)}) AS o
          UNION ALL SELECT 'SOURCE', source, 0, orders, sales FROM "ShowBase" WHERE ${byNumber} AND source <> '') AS parts
        GROUP BY kind, name) AS a
      WHERE ${isShow}
      ON CONFLICT ("storeId", "liveStreamId", kind, name, slot) DO UPDATE SET viewers = EXCLUDED.viewers, orders = EXCLUDED.orders,
        sales = EXCLUDED.sales`,
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
          sum(${orders}) AS orders, sum(${sales}) AS sales
        FROM "ShowEvent" WHERE ${byNumber} AND NOT ${changes.isRefunded(type)} GROUP BY 1
        UNION ALL SELECT to_timestamp(minute::float8 * 60), 0, carts, orders, sales FROM "ShowBase"
        WHERE ${byNumber} AND minute <> -1 AND "productId" = '' AND (carts, orders, sales) <> (0, 0, 0)
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
