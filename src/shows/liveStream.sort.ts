import type { Database } from "../database/client.js";
import { directionSql, isBeyond, type SortDirection, type SortKey, type SortPosition } from "../database/sql/keyset.js";
import { type LiveStream, Prisma } from "../generated/prisma/client.js";
import { type LiveStreamFilter, searchedHost, searchedWords } from "./liveStream.list.js";

export type LiveStreamOrder = "STARTED_AT" | "NAME" | "SALES" | "ORDERS" | "VIEWERS";

/** A show with the value that orders it, as in its cursor. */
export type OrderedShow = LiveStream & { readonly sortValue: string };

/** Its SQL refers to a show as `s` and to its totals as `t`. */
interface Sort extends SortKey {
  /** A sum over the totals `t` of a show. */
  readonly score?: Prisma.Sql;
}

const decimal = /^\d{1,60}(\.\d{1,100})?$/u;
const milliseconds = /^-?\d{1,15}$/u;

/** Cut to 100 decimals, so that a cursor can hold it. */
function byScore(score: Prisma.Sql): Sort {
  return {
    value: Prisma.sql`coalesce(trim_scale(round(t.score, 100)), 0)`,
    given: (value) => Prisma.sql`${value}::numeric`,
    isValue: (value) => decimal.test(value),
    score,
  };
}

/** Names are compared by their first 200 characters, ignoring the case of A to Z, alike in every database. */
const sorts: Readonly<Record<LiveStreamOrder, Sort>> = {
  STARTED_AT: {
    value: Prisma.sql`(extract(epoch FROM s."startedAt") * 1000)::bigint`,
    given: (value) => Prisma.sql`${value}::bigint`,
    isValue: (value) => milliseconds.test(value),
  },
  NAME: {
    value: Prisma.sql`left(lower(s.name COLLATE "C"), 200)`,
    given: (value) => Prisma.sql`${value}::text`,
    isValue: () => true,
  },
  SALES: byScore(Prisma.sql`sum(sales)`),
  ORDERS: byScore(Prisma.sql`sum(orders)`),
  VIEWERS: byScore(Prisma.sql`sum(viewers) FILTER (WHERE channel IN ('LIVE', 'REPLAY'))`),
};

/** Whether the order reads totals, so that the list counts as an analytics read. */
export function isByTotals(orderBy: LiveStreamOrder): boolean {
  return sorts[orderBy].score !== undefined;
}

export function isSortValue(orderBy: LiveStreamOrder): (value: string) => boolean {
  return sorts[orderBy].isValue;
}

interface OrderedPage extends LiveStreamFilter {
  readonly first: number;
  readonly after: SortPosition | undefined;
  readonly orderBy: LiveStreamOrder;
  readonly direction: SortDirection;
}

/**
 * Ties are ordered by id, in the same direction. Scheduled shows are not separated here.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export async function listOrderedLiveStreams(
  db: Database,
  storeId: string,
  { first, after, orderBy, direction, ...filter }: OrderedPage,
): Promise<{ nodes: readonly OrderedShow[]; hasNextPage: boolean }> {
  const { value, score } = sorts[orderBy];
  const way = directionSql(direction);
  const totals =
    score === undefined
      ? Prisma.empty
      : Prisma.sql`LEFT JOIN (
          SELECT "liveStreamId", ${score} AS score FROM "LiveStreamTotal" WHERE "storeId" = ${storeId}
          GROUP BY "liveStreamId") AS t ON t."liveStreamId" = s.id`;
  const isAfter =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`AND ${isBeyond(sorts[orderBy], Prisma.sql`s.id`, direction, after)}`;
  const rows = await db.$queryRaw<OrderedShow[]>`
    SELECT s.*, ${value}::text AS "sortValue" FROM "LiveStream" AS s ${totals}
    WHERE s."storeId" = ${storeId} ${matching(filter)} ${isAfter}
    ORDER BY ${value} ${way}, s.id ${way} LIMIT ${first + 1}::int`;
  return { nodes: rows.slice(0, first), hasNextPage: rows.length > first };
}

function matching({ status, search, host: givenHost, from, until }: LiveStreamFilter): Prisma.Sql {
  const words = searchedWords(search);
  const host = searchedHost(givenHost);
  const parts = [
    ...(words === undefined || host === undefined ? [Prisma.sql`false`] : []),
    ...(host ? [Prisma.sql`(s."hostName" ILIKE ${host} OR s."hostEmail" ILIKE ${host})`] : []),
    ...(words ?? []).map((word) => Prisma.sql`(s.name ILIKE ${`%${word}%`} OR s.id ILIKE ${`%${word}%`})`),
    ...(status ? [Prisma.sql`s.status = ${status}`] : []),
    ...(from ? [Prisma.sql`s."startedAt" >= ${from.toISOString()}::timestamptz`] : []),
    ...(until ? [Prisma.sql`s."startedAt" < ${until.toISOString()}::timestamptz`] : []),
  ];
  return Prisma.join([Prisma.empty, ...parts], " AND ");
}
