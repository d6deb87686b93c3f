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
    const rows = await db.$queryRaw<EvidenceRow[]>(statement(storeId, orders, windowHours));
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

/** Orders as `o`, with their place, viewer, time, and the beginning of the window before it. */
function ordersFrom(orders: readonly AttributedOrder[], windowHours: number): Prisma.Sql {
  const viewers = idArrayLiteral(orders.map(({ viewer }) => viewer ?? ""));
  const times = textArrayLiteral(orders.map(({ placedAt }) => placedAt.toISOString()));
  return Prisma.sql`(
    SELECT place, "viewerId", "placedAt", "placedAt" - ${windowHours}::int * interval '1 hour' AS "since"
    FROM ROWS FROM (unnest(${viewers}::bytea[], ${times}::timestamptz[])) WITH ORDINALITY AS t("viewerId", "placedAt", place)
    WHERE "viewerId" <> '') AS o`;
}

/** Whether the show `s` ran when something happened. */
const isLive = Prisma.sql`
  (s.status <> 'SCHEDULED' AND s."startedAt" <= e.at AND (s.status = 'LIVE' OR e.at < s."startedAt" + s."durationSeconds" * interval '1 second'))`;

function watchedBy(storeId: string, orders: readonly AttributedOrder[], windowHours: number): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT ON (o.place) o.place::int, '' AS "productId", e.show, ${isLive} AS "isLive", e.at, e.seconds::float8 AS seconds
    FROM ${ordersFrom(orders, windowHours)}, LATERAL (
      SELECT v.show, max(v."occurredAt") AS at, sum(v.value) AS seconds FROM "ShowEvent" AS v
      WHERE v."storeId" = ${storeId} AND v."viewerId" = o."viewerId" AND v.type = 1
        AND v.value >= ${watchedSecondsMin}::int AND v."occurredAt" BETWEEN o."since" AND o."placedAt"
      GROUP BY v.show) AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY o.place, e.at DESC, s."startedAt" DESC, s.id`;
}

function cartsOf(storeId: string, orders: readonly AttributedOrder[], windowHours: number): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT ON (o.place, e."productId") o.place::int, e."productId", e.show, ${isLive} AS "isLive", e.at, 0::float8 AS seconds
    FROM ${ordersFrom(orders, windowHours)}, LATERAL (
      SELECT v.show, v."productId", max(v."occurredAt") AS at FROM "ShowEvent" AS v
      WHERE v."storeId" = ${storeId} AND v."viewerId" = o."viewerId" AND v.type = 2 AND v."productId" <> ''
        AND v."occurredAt" BETWEEN o."since" AND o."placedAt"
      GROUP BY v.show, v."productId") AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY o.place, e."productId", e.at DESC, s."startedAt" DESC, s.id`;
}
