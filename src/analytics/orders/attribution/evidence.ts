import type { Database } from "../../../database/client.js";
import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { idArrayLiteral } from "../../events/storage/codes.js";
import type { AttributedOrder, Evidence, Evidences } from "./attribution.js";
import type { Attribution } from "./codes.js";

/** Less is a page that was opened and left. */
const watchedSecondsMin = 3;

interface EvidenceRow {
  /** The position of the order, from 1. */
  readonly place: number;
  readonly productId: string;
  readonly show: number;
  readonly isLive: boolean;
  readonly at: Date;
  readonly seconds: number;
}

/** What orders are attributed by, in their order: one statement for all of them. */
export async function readEvidences(
  db: Database,
  storeId: string,
  orders: readonly AttributedOrder[],
  { rule, windowHours }: Attribution,
): Promise<Evidences[]> {
  const carts = orders.map(() => new Map<string, Evidence>());
  if (rule === "AS_SENT") {
    const shows = await sentShows(db, storeId, orders);
    return orders.map(({ lsId }, index) => ({ sentShow: shows.get(lsId ?? ""), carts: carts[index] ?? new Map() }));
  }
  const watched = new Map<number, Evidence>();
  if (orders.some(({ viewer }) => viewer !== null)) {
    const statement = rule === "CART" ? cartsOf : watchedBy;
    const rows = await db.$queryRaw<EvidenceRow[]>(statement(storeId, ordersFrom(orders), windowHours));
    for (const { place, productId, ...evidence } of rows) {
      if (rule === "CART") carts[place - 1]?.set(productId, evidence);
      else watched.set(place - 1, evidence);
    }
  }
  return orders.map((_, index) => ({ watched: watched.get(index), carts: carts[index] ?? new Map() }));
}

async function sentShows(db: Database, storeId: string, orders: readonly AttributedOrder[]) {
  const ids = [...new Set(orders.flatMap(({ lsId }) => (lsId === null ? [] : [lsId])))];
  if (ids.length === 0) return new Map<string, number>();
  const shows = await db.liveStream.findMany({
    where: { storeId, id: { in: ids } },
    select: { id: true, number: true },
  });
  return new Map(shows.map(({ id, number }) => [id, number]));
}

/** Orders with a viewer as `o`, with their place, viewer and time. */
function ordersFrom(orders: readonly AttributedOrder[]): Prisma.Sql {
  const viewers = idArrayLiteral(orders.map(({ viewer }) => viewer ?? ""));
  const times = textArrayLiteral(orders.map(({ placedAt }) => placedAt.toISOString()));
  return Prisma.sql`(
    SELECT place::int, "viewerId", "placedAt"
    FROM ROWS FROM (unnest(${viewers}::bytea[], ${times}::timestamptz[])) WITH ORDINALITY AS t("viewerId", "placedAt", place)
    WHERE "viewerId" <> '') AS o`;
}

/** Whether the show `s` ran when something happened. */
const isLive = Prisma.sql`
  (s.status <> 'SCHEDULED' AND s."startedAt" <= e.at AND (s.status = 'LIVE' OR e.at < s."startedAt" + s."durationSeconds" * interval '1 second'))`;

/**
 * What the viewer of an order `o` did within the window before it, as `v`. OFFSET 0 has it looked up for each order: for a join, the
 * planner might read all events of the store.
 */
function eventsOf(storeId: string, windowHours: number, which: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    LATERAL (
      SELECT v.show, v."productId", v."occurredAt", v.value FROM "ShowEvent" AS v
      WHERE v."storeId" = ${storeId} AND v."viewerId" = o."viewerId" AND ${which}
        AND v."occurredAt" BETWEEN o."placedAt" - ${windowHours}::int * interval '1 hour' AND o."placedAt" OFFSET 0) AS v`;
}

/** The show that the viewer of each order watched last. @param orders as ordersFrom */
export function watchedBy(storeId: string, orders: Prisma.Sql, windowHours: number): Prisma.Sql {
  const views = eventsOf(storeId, windowHours, Prisma.sql`v.type = 1 AND v.value >= ${watchedSecondsMin}::int`);
  return Prisma.sql`
    SELECT DISTINCT ON (e.place) e.place, '' AS "productId", e.show, ${isLive} AS "isLive", e.at, e.seconds::float8 AS seconds
    FROM (
      SELECT o.place, v.show, max(v."occurredAt") AS at, sum(v.value) AS seconds FROM ${orders}, ${views}
      GROUP BY o.place, v.show) AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY e.place, e.at DESC, s."startedAt" DESC, s.id`;
}

function cartsOf(storeId: string, orders: Prisma.Sql, windowHours: number): Prisma.Sql {
  const carts = eventsOf(storeId, windowHours, Prisma.sql`v.type = 2 AND v."productId" <> ''`);
  return Prisma.sql`
    SELECT DISTINCT ON (e.place, e."productId") e.place, e."productId", e.show, ${isLive} AS "isLive", e.at, 0::float8 AS seconds
    FROM (
      SELECT o.place, v.show, v."productId", max(v."occurredAt") AS at FROM ${orders}, ${carts}
      GROUP BY o.place, v.show, v."productId") AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY e.place, e."productId", e.at DESC, s."startedAt" DESC, s.id`;
}
