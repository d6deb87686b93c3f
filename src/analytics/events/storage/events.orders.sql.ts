import { Prisma } from "../../../generated/prisma/client.js";
import { reasonCodes, ruleCodes } from "../../orders/attribution/codes.js";
import type { StoreRow } from "./showRow.js";

/**
 * The orders of a batch: an ORDER with an orderId is an order of the store, which counts once, in whichever show it comes
 * first. Later ones are left out of `input`. If an order was known without a show, this one is noted, and it is due to be
 * attributed. So is a new one where the store's rule is not that senders name the show.
 */
export function ordersOf({ storeId, source, isStore }: StoreRow, now: Prisma.Sql): Prisma.Sql {
  const lines = Prisma.sql`CASE WHEN lines <> '' THEN lines WHEN "productId" = '' THEN '[]'
    ELSE json_build_array(json_build_object('productId', "productId", 'quantity', 1, 'amount', value))::text END`;
  return Prisma.sql`
    firsts AS MATERIALIZED (
      SELECT DISTINCT ON ("orderId") * FROM sent
      WHERE type = 3 AND "orderId" <> '' AND NOT EXISTS (SELECT FROM "ShowEvent" AS k
        WHERE k."storeId" = ${storeId} AND k.show = sent.show AND k.id = sent.id)
      ORDER BY "orderId", position),
    ordered AS (
      INSERT INTO "ShopOrder" AS t ("storeId", id, "placedAt", "viewerId", "claimedBy", "lsId", channel, "isPaid", "dueAt", state)
      SELECT o.id, e."orderId", e."occurredAt", e."viewerId",
        coalesce((SELECT c."viewerId" FROM "OrderClaim" AS c WHERE c."storeId" = ${storeId} AND c."orderId" = e."orderId"), ''),
        (SELECT shows.id FROM shows WHERE shows.show = e.show), e.channel, true, CASE WHEN o."attributionRule" <> 'AS_SENT' THEN ${now}::timestamptz END,
        '{"gross":' || value || ',"newest":{"changedAt":0,"isPaid":true,"isCancelled":false,"amount":' || value || ',"remaining":' || value
          || ',"areTaxesIncluded":false,"lines":' || ${lines} || ',"isTimed":false,"listed":[]},"refunds":[]}'
      FROM ${source}, firsts AS e
      WHERE ${isStore} ORDER BY e."orderId"
      ON CONFLICT ("storeId", id) DO UPDATE SET "lsId" = EXCLUDED."lsId", channel = EXCLUDED.channel, "dueAt" = ${now}::timestamptz,
        "viewerId" = CASE WHEN t."viewerId" = '' THEN EXCLUDED."viewerId" ELSE t."viewerId" END
        WHERE t."lsId" = ''
      RETURNING id AS "orderId", xmax = 0 AS "isNew", "dueAt"),
    input AS (
      SELECT * FROM sent WHERE type <> 3 OR "orderId" = ''
      UNION ALL SELECT * FROM firsts AS e
      WHERE (SELECT n."isNew" FROM ordered AS n WHERE n."orderId" = e."orderId")),
    parts AS (
      INSERT INTO "OrderPart" ("storeId", "orderId", place, "placedAt", at, show, channel, rule, reason, "productId", amount, refunded,
        seconds, lines, refunds)
      SELECT o.id, e."orderId", 0, "occurredAt", "occurredAt", show, channel, ${ruleCodes.AS_SENT}::int, ${reasonCodes.SENT}::int, '',
        value, 0, 0, ${lines}, '[]'
      FROM ${source}, input AS e
      WHERE ${isStore} AND type = 3 AND "orderId" <> '')`;
}
