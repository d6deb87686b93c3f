import { Prisma } from "../../generated/prisma/client.js";
import type { ShowRow } from "./showRow.js";

/** Stands for all devices, and for all sources, beyond the limit of a show. */
export const otherName = "other";
/** Stands for a device, or a source, that an event does not name. */
export const unknownName = "unknown";

/** @param rows a source `n` of distinct kinds and names with their position: the first ones are kept */
export function keepGroups(
  { storeId, lsId, source, isShow }: ShowRow,
  rows: Prisma.Sql,
  { devices, sources }: { readonly devices: number; readonly sources: number },
): Prisma.Sql {
  const max = Prisma.sql`CASE WHEN fresh.kind = 'SOURCE' THEN ${sources}::int ELSE ${devices}::int END`;
  return Prisma.sql`
    INSERT INTO "LiveStreamGroup" ("storeId", "liveStreamId", kind, name, slot, viewers, orders, sales)
    SELECT l."storeId", l.id, fresh.kind, fresh.name, -1, 0, 0, 0 FROM ${source} CROSS JOIN (
      SELECT n.kind, n.name, row_number() OVER (PARTITION BY n.kind ORDER BY n.position) AS place FROM ${rows}
      WHERE (SELECT true FROM "LiveStreamGroup" AS g WHERE g."storeId" = ${storeId} AND g."liveStreamId" = ${lsId}
        AND g.kind = n.kind AND g.name = n.name AND g.slot = -1) IS NULL) AS fresh
    LEFT JOIN (SELECT kind, count(*) AS names FROM "LiveStreamGroup"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1 AND name <> ${otherName}
      GROUP BY kind) AS kept ON kept.kind = fresh.kind
    WHERE ${isShow} AND fresh.place <= ${max} - coalesce(kept.names, 0)
    ON CONFLICT ("storeId", "liveStreamId", kind, name, slot) DO NOTHING`;
}

/** @param rows a source `n` of distinct productIds with their position */
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
