import { Prisma } from "../../generated/prisma/client.js";
import { changes, timestampOf } from "../../events/record/eventValues.sql.js";
import { epoch } from "../../events/record/spans.sql.js";
import { linesOf, productParts } from "../../events/record/events.totals.sql.js";
import type { Parts, Range } from "./parts.js";

/** The show whose figures are read. */
export interface ShowOfIntervals {
  readonly storeId: string;
  readonly id: string;
  readonly number: number;
}

/** Sums of a part. Sums of decimals are text, to stay exact. */
export interface SumsRow {
  /** From 1. */
  readonly part: number;
  /** Undefined for the sums over all products. */
  readonly productId?: string | null;
  readonly carts: number;
  readonly orders: number;
  readonly sales: string;
  /** Only of stored events, like `quantity`. */
  readonly refunds?: string;
  readonly quantity?: number;
}

const [type, value, firstViewAt] = [Prisma.sql`type`, Prisma.sql`value`, Prisma.sql`"firstViewAt"`];
const minute = Prisma.sql`date_bin('1 minute', "occurredAt", ${epoch})`;

/**
 * Carts, orders and sales of each part: from the minutes that are wholly in it, and from the stored events of the minutes that parts
 * divide.
 */
export function minuteSums({ storeId, id, number }: ShowOfIntervals, parts: Parts): Prisma.Sql {
  const isWhole = (start: Prisma.Sql) =>
    Prisma.sql`${partOf(start, parts)} = ${partOf(Prisma.sql`${start} + interval '59.999 seconds'`, parts)}`;
  const divided = parts.dividedMinutes();
  const ofEvents =
    divided.length === 0
      ? Prisma.empty
      : Prisma.sql`
        UNION ALL SELECT ${partOf(Prisma.sql`"occurredAt"`, parts)}, CASE WHEN type = 2 THEN 1 ELSE 0 END, ${changes.orders(type)},
          ${changes.sales(type, value)}
        FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = ${number} AND type IN (2, 3, 5) AND ${occurredIn(divided)}
          AND NOT (${isWhole(minute)})`;
  return Prisma.sql`
    SELECT part, sum(carts)::float8 AS carts, sum(orders)::float8 AS orders, sum(sales)::text AS sales FROM (
      SELECT ${partOf(Prisma.sql`minute`, parts)} AS part, carts, orders, sales FROM "LiveStreamMinute"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${id} AND ${during(Prisma.sql`minute`, parts)} AND ${isWhole(Prisma.sql`minute`)}
      ${ofEvents}) AS sums
    WHERE part BETWEEN 1 AND ${parts.bounds.length - 1} -- a divided minute may begin before the first part, and end after the last one
    GROUP BY part`;
}

/** All sums of each part, from stored events, and those of the given products in it. An order without lines has a quantity of one. */
export function eventSums(
  { storeId, number }: ShowOfIntervals,
  parts: Parts,
  products: readonly (readonly [part: number, productId: string])[],
): Prisma.Sql {
  const quantity = Prisma.sql`
    CASE WHEN lines = '' THEN 1 ELSE (SELECT coalesce(sum(x.quantity), 0) FROM ${linesOf}) END`;
  const ofProducts =
    products.length === 0
      ? Prisma.empty
      : Prisma.sql`
        UNION ALL SELECT part, "productId", sum(carts)::float8, sum(orders)::float8, sum(sales)::text, sum(refunds)::text,
          sum(quantity)::float8
        FROM (${productParts({ events: Prisma.sql`happened`, columns: Prisma.sql`e.part`, key: Prisma.sql`e.part, e.id` })}) AS p
        WHERE (part, "productId") IN (SELECT * FROM unnest(${products.map(([part]) => part)}::int[], ${products.map(([, id]) => id)}::text[]))
        GROUP BY part, "productId"`;
  return Prisma.sql`
    WITH happened AS MATERIALIZED (
      SELECT ${partOf(Prisma.sql`"occurredAt"`, parts)} AS part, id, type, value, "productId", lines
      FROM "ShowEvent" AS e
      WHERE e."storeId" = ${storeId} AND e.show = ${number} AND type > 1 AND ${occurredIn(parts.runs())})
    SELECT part, NULL AS "productId", (count(*) FILTER (WHERE type = 2))::float8 AS carts, sum(${changes.orders(type)})::float8 AS orders,
      sum(${changes.sales(type, value)})::text AS sales, sum(${changes.refunds(type, value)})::text AS refunds,
      coalesce(sum(${changes.orders(type)} * (${quantity})) FILTER (WHERE ${changes.isSold(type)}), 0)::float8 AS quantity
    FROM happened AS e GROUP BY part
    ${ofProducts}`;
}

export interface ViewersRow {
  /** From 1. */
  readonly part: number;
  readonly atStart: number;
  readonly peak: number;
  /** The sum over its seconds of the viewers of each. */
  readonly viewerSeconds: number;
  readonly newViewers: number;
}

/** Times are microseconds, and the difference of two floating-point numbers may be a little less than a whole second. */
const halfMicrosecond = Prisma.sql`0.0000005`;

/**
 * Viewers of each part, by the second. A VIEW covers the seconds that it touches: from the one in which it began to the one in which it
 * occurred, and at least one. Ranges of one viewer are joined first, so that they count once in each second.
 */
export function viewersOfParts(show: ShowOfIntervals, parts: Parts): Prisma.Sql {
  const { from, until, bounds } = parts;
  const seconds = Prisma.sql`${bounds.map((bound) => bound - from)}::int[]`;
  return Prisma.sql`
    WITH runs AS MATERIALIZED (
      SELECT unnest(range_agg(seconds) * int4multirange(int4range(0, ${until - from}))) AS r
      FROM (
        SELECT "viewerId", int4range(starts, greatest(ceil(ended)::int, starts + 1)) AS seconds
        FROM (
          SELECT "viewerId", ended, floor(ended - value::float8 + ${halfMicrosecond})::int AS starts
          FROM (
            SELECT "viewerId", value, date_part('epoch', "occurredAt") - ${String(from)}::float8 AS ended FROM "ShowEvent" AS e
            WHERE e."storeId" = ${show.storeId} AND e.show = ${show.number} AND type = 1 AND ${viewedIn(parts.runs())} OFFSET 0) AS viewed
          OFFSET 0) AS begun -- or these expressions would be computed each time they are used
        OFFSET 0) AS views
      GROUP BY "viewerId"),
    steps AS (
      SELECT second, sum(sum(change)::int) OVER (ORDER BY second) AS viewers, lead(second) OVER (ORDER BY second) - second AS seconds
      FROM (
        SELECT lower(r) AS second, 1 AS change FROM runs UNION ALL SELECT upper(r), -1 FROM runs
        UNION ALL SELECT unnest(${seconds}), 0) AS changes
      GROUP BY second)
    SELECT part, "atStart"::float8 AS "atStart", peak::float8 AS peak, "viewerSeconds"::float8 AS "viewerSeconds",
      coalesce("newViewers", 0)::float8 AS "newViewers"
    FROM (
      SELECT width_bucket(second, ${seconds}) AS part, (array_agg(viewers ORDER BY second))[1] AS "atStart", max(viewers) AS peak,
        sum(viewers * seconds) AS "viewerSeconds"
      FROM steps GROUP BY 1) AS watched
    LEFT JOIN (
      SELECT part, count(*) AS "newViewers" FROM (${firstViews(show, parts)}) AS v GROUP BY part) AS met USING (part)
    WHERE part BETWEEN 1 AND ${bounds.length - 1}`;
}

/** The part in which each viewer began to watch; no row for others. */
export function firstViews({ storeId, number }: ShowOfIntervals, parts: Parts): Prisma.Sql {
  return Prisma.sql`
    SELECT ${partOf(firstViewAt, parts)} AS part FROM "ShowViewer" AS v
    WHERE v."storeId" = ${storeId} AND v.show = ${number} AND ${during(firstViewAt, parts)}`;
}

/** A product, and when it was put into carts. */
export interface CartsOf extends Range {
  readonly productId: string;
}

/**
 * How many orders each product had of viewers who put it into their cart at that time: at most so many minutes after they did.
 *
 * @param runs when these carts and orders occurred
 */
export function ordersAfterCarts(
  { storeId, number }: ShowOfIntervals,
  carts: readonly CartsOf[],
  {
    minutes,
    runs,
  }: {
    readonly minutes: number;
    readonly runs: { readonly carts: readonly Range[]; readonly orders: readonly Range[] };
  },
): Prisma.Sql {
  const sold = productParts({
    events: Prisma.sql`sold`,
    columns: Prisma.sql`e."viewerId", e."occurredAt"`,
    key: Prisma.sql`e."viewerId", e."occurredAt", e.id`,
  });
  const events = (types: Prisma.Sql, when: readonly Range[]) => Prisma.sql`
    SELECT * FROM "ShowEvent" AS e WHERE e."storeId" = ${storeId} AND e.show = ${number} AND ${types} AND e."viewerId" <> ''
      AND ${occurredIn(when)}`;
  return Prisma.sql`
    WITH put AS MATERIALIZED (
      SELECT p.place, e."productId", e."viewerId",
        range_agg(tstzrange(e."occurredAt", e."occurredAt" + ${minutes}::int * interval '1 minute', '[]')) AS wanted
      FROM (${events(Prisma.sql`type = 2`, runs.carts)}) AS e
      JOIN unnest(${carts.map(({ productId }) => productId)}::text[], ${timestamps(carts.map(({ from }) => from))}, ${timestamps(carts.map(({ until }) => until))})
        WITH ORDINALITY AS p("productId", "from", until, place)
        ON p."productId" = e."productId" AND e."occurredAt" >= p."from" AND e."occurredAt" < p.until
      GROUP BY p.place, e."productId", e."viewerId"),
    sold AS MATERIALIZED (${events(changes.isSold(type), runs.orders)})
    SELECT place::int, sum(orders)::float8 AS orders FROM (${sold}) AS s JOIN put USING ("productId", "viewerId")
    WHERE s."occurredAt" <@ wanted GROUP BY place`;
}

/** The part in which a time is, from 1. */
export function partOf(time: Prisma.Sql, { bounds }: Parts): Prisma.Sql {
  return Prisma.sql`width_bucket(${time}, ${timestamps(bounds)})`;
}

/** @param seconds since 1970 */
function timestamps(seconds: readonly number[]): Prisma.Sql {
  return Prisma.sql`${seconds.map((second) => new Date(second * 1_000).toISOString())}::timestamptz[]`;
}

/** Whether an event `e` occurred within one of the ranges: the index of times (prisma/migrations/) finds them. */
function occurredIn(ranges: readonly Range[]): Prisma.Sql {
  const each = ranges.map((range) => during(Prisma.sql`e."occurredAt"`, range));
  return Prisma.sql`(${Prisma.join(each, " OR ")})`;
}

/** Whether a time is within a range. */
export function during(time: Prisma.Sql, { from, until }: Range): Prisma.Sql {
  return Prisma.sql`(${time} >= ${timestampOf(from)} AND ${time} < ${timestampOf(until)})`;
}

/**
 * Whether a VIEW `e` covers a second of one of the ranges, or nearly does. Its beginning is written as the index has it, and computed only
 * for one that occurred later.
 */
function viewedIn(ranges: readonly Range[]): Prisma.Sql {
  const began = Prisma.sql`(CASE WHEN e.type = 1 THEN (e."occurredAt" AT TIME ZONE 'UTC') - e.value::float8 * interval '1 second'
    ELSE e."occurredAt" AT TIME ZONE 'UTC' END)`;
  const later = ranges.map(
    ({ until }) =>
      Prisma.sql`(e."occurredAt" >= ${timestampOf(until)} AND ${began} < ${timestampOf(until)} AT TIME ZONE 'UTC')`,
  );
  return Prisma.sql`(${occurredIn(ranges)} OR ${Prisma.join(later, " OR ")})`;
}
