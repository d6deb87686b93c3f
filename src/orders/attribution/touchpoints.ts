import type { Database } from "../../database/client.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { Prisma } from "../../generated/prisma/client.js";
import { secondsMax } from "../../events/events.input.js";
import { idArrayLiteral } from "../../events/record/eventValues.sql.js";
import type { AttributedOrder, Evidence, Evidences, AttributedPart } from "./attribution.js";
import type { Attribution } from "./settings.js";

/** Less means that a page was opened and left. */
const watchedSecondsMin = 3;

interface EvidenceRow {
  /** The order's position, from 1. */
  readonly place: number;
  readonly productId: string;
  readonly show: number;
  readonly channel: number;
  readonly at: Date;
  readonly seconds: number;
}

/**
 * What the viewers did, by which orders are attributed, for each order: one statement for all of them.
 *
 * @param partsOf the parts that orders have already by the same viewer: they keep what was pruned from a show since
 */
export async function readEvidences(
  db: Database,
  storeId: string,
  orders: readonly AttributedOrder[],
  attribution: Attribution,
  partsOf: (order: AttributedOrder) => readonly AttributedPart[],
): Promise<Evidences[]> {
  const found = await findEvidences(db, storeId, orders, attribution);
  const removed = orders.map((order) => partsOf(order).filter((part) => isWithin(part, order, attribution)));
  const numbers = [...new Set(removed.flat().map(({ show }) => show))];
  if (numbers.length === 0) return found;
  const pruned = await db.liveStream.findMany({
    where: { storeId, number: { in: numbers }, prunedBefore: { not: null } },
    select: { number: true, prunedBefore: true },
  });
  const until = new Map(pruned.map(({ number, prunedBefore }) => [number, prunedBefore]));
  return found.map((evidences, index) => {
    const from = windowStartOf(orders[index]?.placedAt, attribution);
    return (removed[index] ?? [])
      .filter(({ show }) => Number(until.get(show) ?? 0) > from)
      .reduce(withEarlier, evidences);
  });
}

function windowStartOf(placedAt: Date | undefined, { windowHours }: Attribution): number {
  return Number(placedAt) - windowHours * 3_600_000;
}

/** Whether a part follows this rule, for an event within the window. */
function isWithin(
  { rule, show, at }: AttributedPart,
  { placedAt }: AttributedOrder,
  attribution: Attribution,
): boolean {
  if (rule === "AS_SENT" || rule !== attribution.rule) return false;
  return show !== 0 && at <= placedAt && Number(at) >= windowStartOf(placedAt, attribution);
}

function withEarlier(found: Evidences, { show, channel, at, seconds, reason, lines }: AttributedPart): Evidences {
  const earlier = { show, channel, at, seconds };
  const later = (other: Evidence | undefined) => (other === undefined || other.at < at ? earlier : other);
  if (reason === "WATCHED") return { ...found, watched: later(found.watched) };
  if (reason !== "CARTED") return found;
  const carts = lines.map(({ productId }) => [productId, later(found.carts.get(productId))] as const);
  return { ...found, carts: new Map([...found.carts, ...carts]) };
}

async function findEvidences(
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

/**
 * Events of an order `o`'s viewer within a time, as `v`. OFFSET 0 makes PostgreSQL look them up for each order: for a join, the planner
 * might read all events of the store.
 */
function eventsOf(storeId: string, which: Prisma.Sql, until: Prisma.Sql, windowHours: number): Prisma.Sql {
  return Prisma.sql`
    LATERAL (
      SELECT v.show, v.channel, v."productId", v."occurredAt", v.value FROM "ShowEvent" AS v
      WHERE v."storeId" = ${storeId} AND v."viewerId" = o."viewerId" AND ${which}
        AND v."occurredAt" BETWEEN ${windowStart(windowHours)} AND ${until} OFFSET 0) AS v`;
}

function windowStart(windowHours: number): Prisma.Sql {
  return Prisma.sql`o."placedAt" - ${windowHours}::int * interval '1 hour'`;
}

/** The channel of the last of several rows. */
const lastChannel = Prisma.sql`(array_agg(channel::int ORDER BY "occurredAt" DESC, channel))[1]`;

/**
 * The show that the viewer of each order watched last. A VIEW spans its seconds before it occurred. The spans of a show are cut to the
 * window before the order, and overlaps count once.
 *
 * @param orders as ordersFrom
 */
function watchedBy(storeId: string, orders: Prisma.Sql, windowHours: number): Prisma.Sql {
  const latest = Prisma.sql`o."placedAt" + ${secondsMax}::int * interval '1 second'`;
  const views = eventsOf(storeId, Prisma.sql`v.type = 1 AND v.value > 0`, latest, windowHours);
  return Prisma.sql`
    SELECT DISTINCT ON (e.place) e.place, '' AS "productId", e.show, e.channel, e.at, e.seconds::float8 AS seconds
    FROM (
      SELECT place, show, max("to") AS at, ${lastChannel} AS channel, sum(seconds) AS seconds FROM (
        SELECT *, greatest(0, extract(epoch FROM "to" - greatest("from", max("to") OVER before))) AS seconds FROM (
          SELECT o.place, v.show, v.channel, v."occurredAt", least(v."occurredAt", o."placedAt") AS "to",
            greatest(v."occurredAt" - v.value::float8 * interval '1 second', ${windowStart(windowHours)}) AS "from"
          FROM ${orders}, ${views}) AS span
        WHERE "from" < "to"
        WINDOW before AS (PARTITION BY place, show ORDER BY "from", "to", "occurredAt"
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS part
      GROUP BY place, show HAVING sum(seconds) >= ${watchedSecondsMin}::int) AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY e.place, e.at DESC, s."startedAt" DESC, s.id`;
}

function cartsOf(storeId: string, orders: Prisma.Sql, windowHours: number): Prisma.Sql {
  const which = Prisma.sql`v.type = 2 AND v."productId" <> ''`;
  const carts = eventsOf(storeId, which, Prisma.sql`o."placedAt"`, windowHours);
  return Prisma.sql`
    SELECT DISTINCT ON (e.place, e."productId") e.place, e."productId", e.show, e.channel, e.at, 0::float8 AS seconds
    FROM (
      SELECT place, show, "productId", max("occurredAt") AS at, ${lastChannel} AS channel
      FROM ${orders}, ${carts} GROUP BY place, show, "productId") AS e, "LiveStream" AS s
    WHERE s."storeId" = ${storeId} AND s.number = e.show
    ORDER BY e.place, e."productId", e.at DESC, s."startedAt" DESC, s.id`;
}
