import { Prisma } from "../../generated/prisma/client.js";
import { daySeconds, quarterSeconds } from "../../events/record/spans.sql.js";
import { timestampOf } from "../../events/record/eventValues.sql.js";

export const minuteSeconds = 60;
/** A day of minutes. */
export const bucketsMax = 1_500;

/** The whole show by default. Rounded outwards to whole minutes. */
export interface TimelineSpan {
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

/** Seconds since 1970; infinite without a bound. */
interface Bounds {
  readonly from: number;
  readonly until: number;
}

export function wholeMinutes({ from, until }: TimelineSpan): Bounds {
  const minutes = (date: Date) => date.getTime() / 1_000 / minuteSeconds;
  return {
    from: from ? Math.floor(minutes(from)) * minuteSeconds : -Infinity,
    until: until ? Math.ceil(minutes(until)) * minuteSeconds : Infinity,
  };
}

interface ShowKey {
  readonly storeId: string;
  readonly lsId: Prisma.Sql;
}

interface TimelineParts extends ShowKey, Bounds {
  readonly bucketSeconds: number;
}

/** Buckets of whole days or quarters of an hour are read from spans, with minutes only at the ends. */
export function partsOf({ storeId, lsId, bucketSeconds, from, until }: TimelineParts): Prisma.Sql {
  const unit = [daySeconds, quarterSeconds].find((seconds) => bucketSeconds % seconds === 0);
  const show = { storeId, lsId };
  if (unit === undefined) return minutesOf(show, from, until, (bucketsMax * bucketSeconds) / minuteSeconds);
  const firstSpan = Math.ceil(from / unit) * unit;
  const endOfSpans = Math.floor(until / unit) * unit;
  const afterSpans = Math.max(firstSpan, endOfSpans);
  const ends = [
    [from, Math.min(firstSpan, until)],
    [afterSpans, until],
  ] as const;
  const minutes = ends
    .filter(([start, end]) => start < end)
    .map(([start, end]) => Prisma.sql`UNION ALL (${foldedMinutesOf(show, start, end)})`);
  // More would be older than the latest buckets.
  const spansMax = (bucketsMax * bucketSeconds) / unit;
  return Prisma.sql`
    (SELECT "startsAt" AS starts, viewers, carts, orders, sales FROM "LiveStreamSpan"
      WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND seconds = ${unit}
        AND "startsAt" >= ${timestampOf(firstSpan)} AND "startsAt" < ${timestampOf(endOfSpans)}
      ORDER BY "startsAt" DESC LIMIT ${spansMax})
    ${Prisma.join([Prisma.empty, ...minutes], " ")}
    UNION ALL (SELECT minute, viewers, carts, orders, sales FROM (${slotsOf(show)}) AS slots
      WHERE minute >= ${timestampOf(from)} AND minute < ${timestampOf(until)})`;
}

function minutesOf({ storeId, lsId }: ShowKey, from: number, until: number, rowsMax: number): Prisma.Sql {
  return Prisma.sql`
    SELECT minute AS starts, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales
    FROM "LiveStreamMinute" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId}
      AND minute >= ${timestampOf(from)} AND minute < ${timestampOf(until)}
    GROUP BY minute ORDER BY minute DESC LIMIT ${rowsMax}`;
}

function foldedMinutesOf({ storeId, lsId }: ShowKey, from: number, until: number): Prisma.Sql {
  return Prisma.sql`
    SELECT minute, viewers, carts, orders, sales FROM "LiveStreamMinute"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1
      AND minute >= ${timestampOf(from)} AND minute < ${timestampOf(until)}`;
}

/** Slots by minute, with all viewers of that minute: few rows. */
export function slotsOf({ storeId, lsId }: ShowKey): Prisma.Sql {
  return Prisma.sql`
    SELECT minute, carts, orders, sales, viewers + coalesce((
      SELECT m.viewers FROM "LiveStreamMinute" AS m
      WHERE m."storeId" = ${storeId} AND m."liveStreamId" = ${lsId} AND m.minute = added.minute AND m.slot = -1), 0) AS viewers
    FROM (
      SELECT minute, sum(viewers) AS viewers, sum(carts) AS carts, sum(orders) AS orders, sum(sales) AS sales
      FROM "LiveStreamMinute" WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot >= 0
      GROUP BY minute) AS added`;
}
