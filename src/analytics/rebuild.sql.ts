import { Prisma } from "../generated/prisma/client.js";

/** All rebuilt rows of totals stand in this slot. */
const slot = 0;

/**
 * The statements that bring all tables of a show in line with its events, to be run one after the other by who holds the
 * show's lock alone. Distinct viewers come first: totals count them. They are the many rows, of which only those are
 * written that are wrong; totals are few, and all written anew.
 */
export function rebuildStatements(storeId: string, lsId: string): readonly Prisma.Sql[] {
  const show: ShowSql = {
    key: Prisma.sql`${storeId}::text, ${lsId}::text`,
    where: Prisma.sql`"storeId" = ${storeId} AND "liveStreamId" = ${lsId}`,
  };
  return [
    ...viewers(show),
    ...viewersOfAny(show),
    ...cartViewers(show),
    ...presence(show),
    ...totals(show),
    ...devices(show),
    ...minutes(show),
    ...products(show),
  ];
}

interface ShowSql {
  /** Its two columns, to select. */
  readonly key: Prisma.Sql;
  /** True for rows of the show, in a query on one table. */
  readonly where: Prisma.Sql;
}

const minute = Prisma.sql`date_trunc('minute', "occurredAt", 'UTC')`;

/**
 * A row that is there keeps its device: it was written when the viewer's first event was accepted, of which the events
 * tell less, since two batches may have been accepted at the same time. Rows that are missing take it from the events.
 */
function viewers({ key, where }: ShowSql): Prisma.Sql[] {
  const seen = Prisma.sql`(
    SELECT channel, "viewerId", device, "acceptedAt", position, id FROM "ShopperEvent" WHERE ${where} AND type <> 'ORDER')`;
  return [
    Prisma.sql`
      DELETE FROM "LiveStreamViewer" AS v WHERE ${where} AND channel <> 'ANY'
        AND NOT EXISTS (SELECT 1 FROM ${seen} AS s WHERE s.channel = v.channel AND s."viewerId" = v."viewerId")`,
    Prisma.sql`
      INSERT INTO "LiveStreamViewer" ("storeId", "liveStreamId", channel, "viewerId", device)
      SELECT DISTINCT ON (channel, "viewerId") ${key}, channel, "viewerId", coalesce(device, 'unknown') FROM ${seen} AS s
      WHERE NOT EXISTS (SELECT 1 FROM "LiveStreamViewer" AS v
        WHERE ${where} AND v.channel = s.channel AND v."viewerId" = s."viewerId")
      ORDER BY channel, "viewerId", "acceptedAt", position, id`,
  ];
}

/** Who is a viewer of some channel is one of the show, where the device does not matter. */
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

function cartViewers({ key, where }: ShowSql): Prisma.Sql[] {
  const seen = Prisma.sql`(SELECT channel, "viewerId" FROM "ShopperEvent" WHERE ${where} AND type = 'ADD_TO_CART')`;
  return [
    Prisma.sql`
      DELETE FROM "LiveStreamCartViewer" AS v WHERE ${where}
        AND NOT EXISTS (SELECT 1 FROM ${seen} AS s WHERE s.channel = v.channel AND s."viewerId" = v."viewerId")`,
    Prisma.sql`
      INSERT INTO "LiveStreamCartViewer" ("storeId", "liveStreamId", channel, "viewerId")
      SELECT DISTINCT ${key}, channel, "viewerId" FROM ${seen} AS s
      WHERE NOT EXISTS (SELECT 1 FROM "LiveStreamCartViewer" AS v
        WHERE ${where} AND v.channel = s.channel AND v."viewerId" = s."viewerId")`,
  ];
}

function presence({ key, where }: ShowSql): Prisma.Sql[] {
  const seen = Prisma.sql`(SELECT ${minute} AS minute, "viewerId" FROM "ShopperEvent" WHERE ${where} AND type <> 'ORDER')`;
  return [
    Prisma.sql`
      DELETE FROM "LiveStreamPresence" AS p WHERE ${where}
        AND NOT EXISTS (SELECT 1 FROM ${seen} AS s WHERE s.minute = p.minute AND s."viewerId" = p."viewerId")`,
    Prisma.sql`
      INSERT INTO "LiveStreamPresence" ("storeId", "liveStreamId", minute, "viewerId")
      SELECT DISTINCT ${key}, minute, "viewerId" FROM ${seen} AS s
      WHERE NOT EXISTS (SELECT 1 FROM "LiveStreamPresence" AS p
        WHERE ${where} AND p.minute = s.minute AND p."viewerId" = s."viewerId")`,
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
    Prisma.sql`DELETE FROM "LiveStreamDevice" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamDevice" ("storeId", "liveStreamId", channel, device, slot, viewers)
      SELECT ${key}, channel, device, ${slot}::int, count(*) FROM "LiveStreamViewer"
      WHERE ${where} AND channel <> 'ANY' GROUP BY channel, device`,
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

function products({ key, where }: ShowSql): Prisma.Sql[] {
  return [
    Prisma.sql`DELETE FROM "LiveStreamProduct" WHERE ${where}`,
    Prisma.sql`
      INSERT INTO "LiveStreamProduct" ("storeId", "liveStreamId", "productId", slot, carts)
      SELECT ${key}, "productId", ${slot}::int, count(*) FROM "ShopperEvent"
      WHERE ${where} AND type = 'ADD_TO_CART' AND "productId" IS NOT NULL GROUP BY "productId"`,
  ];
}
