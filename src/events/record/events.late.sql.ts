import { Prisma } from "../../generated/prisma/client.js";
import type { ShopperEvent } from "../events.input.js";
import { typeCodes } from "../../database/codes.js";
import type { StoreRow } from "./showRow.js";

/** Orders are attributed again five minutes after they were placed, so an event that began after this is not missed. */
const lateMs = 240_000;

/** Whether a VIEW or a cart began so long ago that orders of its viewer may not be attributed again by themselves. */
export function isLate({ type, occurredAt, seconds }: ShopperEvent, now: number): boolean {
  if (type !== "VIEW" && type !== "ADD_TO_CART") return false;
  return (occurredAt?.getTime() ?? now) - (seconds ?? 0) * 1_000 < now - lateMs;
}

/** Events that began before this are late. */
export function lateTime(now: number): Date {
  return new Date(now - lateMs);
}

/** When a stored event `e` began. */
export function beginningOf(e: string): Prisma.Sql {
  const column = (name: string) => Prisma.raw(`${e}."${name}"`);
  const seconds = Prisma.sql`CASE WHEN ${column("type")} = ${typeCodes.VIEW}::int THEN ${column("value")} ELSE 0 END`;
  return Prisma.sql`(${column("occurredAt")} - (${seconds})::float8 * interval '1 second')`;
}

/**
 * Notes late events, under rules that count views and carts. The sweep then marks the orders of their viewers as due
 * (orders/attribution/pendingAttribution.ts). It only inserts here, because updates of orders would wait for whoever records them.
 */
export function lateOf({ source, isStore }: StoreRow, before: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    late AS (
      INSERT INTO "LateEvent" ("storeId", show, id)
      SELECT o.id, e.show, e.id FROM ${source}, fresh AS e
      WHERE ${isStore} AND o."attributionRule" <> 'AS_SENT' AND e.type < 3
        AND ${beginningOf("e")} < ${before}::timestamptz ORDER BY e.show, e.id
      ON CONFLICT ("storeId", show, id) DO NOTHING)`;
}
