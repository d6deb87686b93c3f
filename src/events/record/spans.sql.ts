import type { ShowRow } from "./showRow.js";
import { Prisma } from "../../generated/prisma/client.js";

/** The lengths of spans: quarters of an hour, by which time zones differ; days; and the whole show, for its peak. */
export const quarterSeconds = 900;
export const daySeconds = 86_400;
export const wholeShowSeconds = 0;

export const epoch = Prisma.sql`'1970-01-01T00:00:00Z'::timestamptz`;

const startsAt = Prisma.sql`
  CASE WHEN seconds = ${wholeShowSeconds}::int THEN ${epoch} ELSE date_bin(seconds * interval '1 second', minute, ${epoch}) END`;

interface SpanSources {
  readonly show: ShowRow;
  /** A name or subquery with minute, carts, orders, sales to add. */
  readonly added: Prisma.Sql;
  /** A name or subquery with minute, and all viewers of that minute. */
  readonly totals: Prisma.Sql;
}

/** A minute's viewers only increase, so their maximum stays exact. */
export function addToSpans({ show, added, totals }: SpanSources): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "LiveStreamSpan" AS t ("storeId", "liveStreamId", seconds, "startsAt", viewers, carts, orders, sales)
    SELECT l."storeId", l.id, s.seconds, s."startsAt", s.viewers, s.carts, s.orders, s.sales
    FROM ${show.source}, (
      SELECT seconds, "startsAt", max(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales FROM (
        SELECT seconds, ${startsAt} AS "startsAt", viewers, carts, orders, sales
        FROM (
            SELECT minute, viewers, 0 AS carts, 0 AS orders, 0 AS sales FROM ${totals} AS m
            UNION ALL SELECT minute, 0, carts, orders, sales FROM ${added} AS a) AS minutes,
          unnest(ARRAY[${wholeShowSeconds}::int, ${quarterSeconds}::int, ${daySeconds}::int]) AS seconds) AS parts
      GROUP BY seconds, "startsAt") AS s
    WHERE ${show.isShow} ORDER BY s.seconds, s."startsAt"
    ON CONFLICT ("storeId", "liveStreamId", seconds, "startsAt") DO UPDATE SET viewers = greatest(t.viewers, EXCLUDED.viewers),
      carts = t.carts + EXCLUDED.carts, orders = t.orders + EXCLUDED.orders, sales = t.sales + EXCLUDED.sales`;
}
