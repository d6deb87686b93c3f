import { Prisma } from "../../../generated/prisma/client.js";
import { hourOf, minuteOf, seenBy } from "./codes.js";
import { otherDevice, unknownDevice } from "../keptNames.js";
import type { ShowRow } from "./showRow.js";

const [type, channel, occurredAt] = [Prisma.sql`type`, Prisma.sql`channel`, Prisma.sql`"occurredAt"`];

/**
 * Distinct viewers of each channel, with a product in the cart, and in each minute. What a change has added is kept in the
 * row itself (newSeen, newMinutes), since RETURNING gives new values alone: so concurrent batches count each viewer once.
 * Viewers of whom the snapshot knows all of it already are left alone; what is known is never taken back.
 *
 * Of a viewer whom a concurrent batch has just stored with another first hour, the minutes of that hour have no place: they
 * become null, which the table refuses, and the whole statement is sent again.
 */
export function viewersOf(show: ShowRow, hasOthers: boolean): Prisma.Sql {
  const { source, isShow } = show;
  const firstDevice = (code: number) =>
    Prisma.sql`coalesce((array_agg(device ORDER BY position) FILTER (WHERE channel = ${code}))[1], '')`;
  const kept = (channelOf: "LIVE" | "REPLAY", device: Prisma.Sql) =>
    hasOthers ? keptDevice(show, channelOf, device) : device;
  const [live, replay] = [Prisma.sql`"liveDevice"`, Prisma.sql`"replayDevice"`];
  return Prisma.sql`
    heard AS MATERIALIZED (
      SELECT type, channel, "viewerId", coalesce(nullif(device, ''), ${unknownDevice}) AS device, position,
        ${seenBy(type, channel)} AS seen, ${hourOf(occurredAt)} AS hour, ${minuteOf(occurredAt)} AS minute
      FROM fresh WHERE type < 3),
    hours AS MATERIALIZED (
      SELECT "viewerId", hour, bit_or(1::bigint << minute) AS minutes FROM heard GROUP BY "viewerId", hour),
    met AS MATERIALIZED (
      SELECT m.*, v.hour AS "knownHour", v.seen AS "knownSeen", v.minutes AS "knownMinutes"
      FROM (
        SELECT "viewerId", bit_or(seen) AS seen, (array_agg(hour ORDER BY position))[1] AS hour,
          ${firstDevice(1)} AS "liveDevice", ${firstDevice(2)} AS "replayDevice"
        FROM heard GROUP BY "viewerId") AS m
      LEFT JOIN "ShowViewer" AS v ON ${isOf(show, "v")} AND v."viewerId" = m."viewerId"),
    viewer AS (
      INSERT INTO "ShowViewer" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes", seen, "newSeen", "liveDevice",
        "replayDevice")
      SELECT l."storeId", l.number, "viewerId", hour, minutes, minutes, seen, seen, "liveDevice", "replayDevice"
      FROM ${source}, (
        SELECT m."viewerId", coalesce("knownHour", m.hour) AS hour, coalesce(h.minutes, 0) AS minutes, seen,
          ${kept("LIVE", live)} AS "liveDevice", ${kept("REPLAY", replay)} AS "replayDevice"
        FROM met AS m LEFT JOIN hours AS h ON h."viewerId" = m."viewerId" AND h.hour = coalesce("knownHour", m.hour)
        WHERE "knownHour" IS NULL OR (seen & ~"knownSeen"::int) <> 0 OR (coalesce(h.minutes, 0) & ~"knownMinutes") <> 0) AS n
      WHERE ${isShow} ORDER BY "viewerId"
      ON CONFLICT ("storeId", show, "viewerId") DO UPDATE SET seen = t.seen | EXCLUDED.seen,
        "newSeen" = EXCLUDED.seen & ~t.seen,
        minutes = CASE WHEN t.hour = EXCLUDED.hour THEN t.minutes | EXCLUDED.minutes ELSE t.minutes END,
        "newMinutes" = CASE WHEN t.hour = EXCLUDED.hour THEN EXCLUDED.minutes & ~t.minutes ELSE 0 END,
        "liveDevice" = CASE WHEN t.seen & 1 = 0 THEN EXCLUDED."liveDevice" ELSE t."liveDevice" END,
        "replayDevice" = CASE WHEN t.seen & 2 = 0 THEN EXCLUDED."replayDevice" ELSE t."replayDevice" END
      RETURNING "viewerId", hour, seen, "newSeen", "newMinutes", "liveDevice", "replayDevice"),
    ${presenceOf(show)}`;
}

/** The minutes of further hours, and how many viewers each minute has got. */
function presenceOf(show: ShowRow): Prisma.Sql {
  return Prisma.sql`
    later AS MATERIALIZED (
      SELECT "viewerId", h.hour, CASE WHEN h.hour = v.hour THEN NULL ELSE h.minutes END AS minutes
      FROM hours AS h JOIN met USING ("viewerId") LEFT JOIN viewer AS v USING ("viewerId")
      WHERE h.hour <> coalesce(v.hour, met."knownHour") OR v.hour <> coalesce(met."knownHour", met.hour)),
    presence AS (
      INSERT INTO "ShowPresence" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes")
      SELECT l."storeId", l.number, "viewerId", hour, minutes, minutes
      FROM ${show.source}, (
        SELECT h.* FROM later AS h LEFT JOIN "ShowPresence" AS p ON ${isOf(show, "p")} AND p."viewerId" = h."viewerId"
          AND p.hour = h.hour
        WHERE p.hour IS NULL OR (h.minutes & ~p.minutes) <> 0) AS n
      WHERE ${show.isShow} ORDER BY "viewerId", hour
      ON CONFLICT ("storeId", show, "viewerId", hour) DO UPDATE SET minutes = t.minutes | EXCLUDED.minutes,
        "newMinutes" = EXCLUDED.minutes & ~t.minutes
      RETURNING hour, "newMinutes"),
    present AS MATERIALIZED (
      SELECT hour, minute, count(*) AS viewers
      FROM (SELECT hour, "newMinutes" FROM viewer UNION ALL SELECT hour, "newMinutes" FROM presence) AS n
      JOIN (SELECT DISTINCT hour, minute FROM heard) AS m USING (hour)
      WHERE ("newMinutes" >> minute) & 1 = 1 GROUP BY hour, minute)`;
}

/** Which rows of a table that names shows by their number. */
function isOf({ storeId }: ShowRow, row: string): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(row)}."storeId" = ${storeId} AND ${Prisma.raw(row)}.show = (SELECT number FROM show)`;
}

/** The device itself where the show keeps its name, otherwise `other`; empty for a viewer who was not on the channel. */
function keptDevice({ storeId, lsId }: ShowRow, channelOf: "LIVE" | "REPLAY", device: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    CASE WHEN ${device} = '' THEN '' ELSE coalesce((SELECT k.device FROM "LiveStreamDevice" AS k
      WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${lsId} AND k.channel = ${channelOf} AND k.device = ${device}
        AND k.slot = -1), ${otherDevice}) END`;
}
