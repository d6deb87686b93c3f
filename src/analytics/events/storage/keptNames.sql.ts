import { Prisma } from "../../../generated/prisma/client.js";
import type { ShowRow } from "./showRow.js";

/** Stands for all devices beyond the limit of a show. */
export const otherDevice = "other";
/** Stands for a device that an event does not name. */
export const unknownDevice = "unknown";

/** @param rows a source `n` of distinct channel, device and their position: the first ones are kept */
export function keepDevices({ storeId, lsId, source, isShow }: ShowRow, rows: Prisma.Sql, max: number): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "LiveStreamDevice" ("storeId", "liveStreamId", channel, device, slot, viewers)
    SELECT l."storeId", l.id, fresh.channel, fresh.device, -1, 0 FROM ${source} CROSS JOIN (
      SELECT n.channel, n.device, row_number() OVER (PARTITION BY n.channel ORDER BY n.position) AS place FROM ${rows}
      WHERE (SELECT true FROM "LiveStreamDevice" AS d WHERE d."storeId" = ${storeId} AND d."liveStreamId" = ${lsId}
        AND d.channel = n.channel AND d.device = n.device AND d.slot = -1) IS NULL) AS fresh
    LEFT JOIN (SELECT channel, count(*) AS names FROM "LiveStreamDevice"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1 AND device <> ${otherDevice}
      GROUP BY channel) AS kept ON kept.channel = fresh.channel
    WHERE ${isShow} AND fresh.place <= ${max}::int - coalesce(kept.names, 0)
    ON CONFLICT ("storeId", "liveStreamId", channel, device, slot) DO NOTHING`;
}

/** @param rows a source `n` of distinct productId and position */
export function keepProducts({ storeId, lsId, source, isShow }: ShowRow, rows: Prisma.Sql, max: number): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "LiveStreamProduct" ("storeId", "liveStreamId", "productId", slot, carts, orders, quantity, sales)
    SELECT l."storeId", l.id, fresh."productId", -1, 0, 0, 0, 0 FROM ${source}, (
      SELECT n."productId", row_number() OVER (ORDER BY n.position) AS place FROM ${rows}
      WHERE (SELECT true FROM "LiveStreamProduct" AS p WHERE p."storeId" = ${storeId} AND p."liveStreamId" = ${lsId}
        AND p."productId" = n."productId" AND p.slot = -1) IS NULL) AS fresh
    WHERE ${isShow} AND fresh.place <= ${max}::int - (SELECT count(*) FROM "LiveStreamProduct" AS p
      WHERE p."storeId" = ${storeId} AND p."liveStreamId" = ${lsId} AND p.slot = -1)
    ON CONFLICT ("storeId", "liveStreamId", "productId", slot) DO NOTHING`;
}
