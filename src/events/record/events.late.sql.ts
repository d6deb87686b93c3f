import { Prisma } from "../../generated/prisma/client.js";
import type { ShopperEvent } from "../events.input.js";
import { typeCodes } from "../../database/codes.js";
import type { StoreRow } from "./showRow.js";

/** Orders are attributed again five minutes after they were placed: of those placed since, nothing is missed. */
const lateMs = 240_000;

/** Whether an event began so long ago that an order of its viewer may not be attributed again: a VIEW or a cart. */
export function isLate({ type, occurredAt, seconds }: ShopperEvent, now: number): boolean {
  if (type !== "VIEW" && type !== "ADD_TO_CART") return false;
  return (occurredAt?.getTime() ?? now) - (seconds ?? 0) * 1_000 < now - lateMs;
}

/** Late events began before. */
export function lateTime(now: number): Date {
  return new Date(now - lateMs);
}

/** When an event `e` began, as it is stored. */
export function beginningOf(e: string): Prisma.Sql {
  const column = (name: string) => Prisma.raw(`${e}."${name}"`);
  const seconds = Prisma.sql`CASE WHEN ${column("type")} = ${typeCodes.VIEW}::int THEN ${column("value")} ELSE 0 END`;
  return Prisma.sql`(${column("occurredAt")} - (${seconds})::float8 * interval '1 second')`;
}

/**
 * Notes late events, under rules of what was watched: the sweep marks the orders of their viewers (orders/attribution/pendingAttribution.ts). Nothing but
 * inserts, since an update of orders here would wait for those who record them.
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
