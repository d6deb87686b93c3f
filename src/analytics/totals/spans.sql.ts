import { Prisma } from "../../generated/prisma/client.js";

/**
 * What is kept over minutes, by its length in seconds: quarters of an hour, since zones differ from UTC by multiples of
 * these; days; and the show as a whole, whose most viewers of a minute are its peak.
 */
export const quarterSeconds = 900;
export const daySeconds = 86_400;
export const wholeShowSeconds = 0;

/** Where spans are counted from, and the whole show begins. */
export const epoch = Prisma.sql`'1970-01-01T00:00:00Z'::timestamptz`;

/** The start of the span of `seconds` that a minute lies in. */
const startsAt = Prisma.sql`
  CASE seconds WHEN ${wholeShowSeconds}::int THEN ${epoch} ELSE date_bin(seconds * interval '1 second', minute, ${epoch}) END`;

/** Queries on what happened in some minutes of a show. */
interface SpanSources {
  /** The columns of the show's key, to select. */
  readonly key: Prisma.Sql;
  /** A name or subquery with minute, carts, orders, sales to add. */
  readonly added: Prisma.Sql;
  /** A name or subquery with minute and its viewers in all. */
  readonly totals: Prisma.Sql;
}

/** Adds minutes to the spans that they lie in. Viewers of a minute never become fewer, so the most of them is kept exactly. */
export function addToSpans({ key, added, totals }: SpanSources): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "LiveStreamSpan" AS t ("storeId", "liveStreamId", seconds, "startsAt", viewers, carts, orders, sales)
    SELECT ${key}, seconds, "startsAt", max(viewers), sum(carts), sum(orders), sum(sales) FROM (
      SELECT seconds, ${startsAt} AS "startsAt", viewers, carts, orders, sales
      FROM (
          SELECT minute, viewers, 0 AS carts, 0 AS orders, 0 AS sales FROM ${totals} AS m
          UNION ALL SELECT minute, 0, carts, orders, sales FROM ${added} AS a) AS minutes,
        unnest(ARRAY[${wholeShowSeconds}::int, ${quarterSeconds}::int, ${daySeconds}::int]) AS seconds) AS parts
    GROUP BY seconds, "startsAt" ORDER BY seconds, "startsAt"
    ON CONFLICT ("storeId", "liveStreamId", seconds, "startsAt") DO UPDATE SET viewers = greatest(t.viewers, EXCLUDED.viewers),
      carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales`;
}
