import { Prisma } from "../../generated/prisma/client.js";
import { showRow } from "../events/storage/showRow.js";
import { hourOf, isOfViewer, minuteOf, seenBy } from "../events/storage/codes.js";
import { otherName, unknownName } from "../events/storage/keptNames.sql.js";

export interface RebuiltShow {
  readonly storeId: string;
  readonly lsId: string;
  readonly number: number;
  /** Whether events before a cutoff were removed. Then viewers, and when they were there, are only added to. */
  readonly isPartial: boolean;
}

const [type, channel, occurredAt] = [Prisma.sql`e.type`, Prisma.sql`e.channel`, Prisma.sql`e."occurredAt"`];
const [viewerId, value] = [Prisma.sql`e."viewerId"`, Prisma.sql`e.value`];
/** 1 and 2 for LIVE and REPLAY, whose first event has the device there; 3 for orders, which have none. */
const place = Prisma.sql`CASE WHEN e.type > 2 THEN 3 ELSE e.channel END`;

/**
 * Makes the viewers of a show, and when they were there, agree with its events. Names of devices come before. A viewer
 * who is known keeps the device and the first hour: the events do not tell which of two concurrent batches was accepted
 * first. There are many rows, so only wrong ones are written. They are joined with the show's row last: a transaction that
 * rebuilds avoids nested loops, which this join needs.
 */
export function rebuildViewers(show: RebuiltShow): Prisma.Sql[] {
  return [withoutEvents(show), viewers(show), minutes(show)];
}

function termsOf({ storeId, lsId, number, isPartial }: RebuiltShow) {
  const of = (row: string) =>
    Prisma.sql`${Prisma.raw(row)}."storeId" = ${storeId} AND ${Prisma.raw(row)}.show = ${number}`;
  return {
    of,
    isKept: isPartial ? Prisma.sql`AND false` : Prisma.empty,
    kept: (column: string) => (isPartial ? Prisma.sql`coalesce(${Prisma.raw(column)}, 0)` : Prisma.sql`0`),
    heard: Prisma.sql`"ShowEvent" AS e WHERE ${of("e")} AND ${isOfViewer(type, viewerId)}`,
    ...showRow(storeId, lsId),
  };
}

function withoutEvents(show: RebuiltShow): Prisma.Sql {
  const { of, isKept, heard } = termsOf(show);
  return Prisma.sql`
      DELETE FROM "ShowViewer" AS v WHERE ${of("v")} ${isKept}
        AND NOT EXISTS (SELECT FROM ${heard} AND e."viewerId" = v."viewerId")`;
}

/** WITH is within the SELECT: see storeStatements.ts. */
function viewers(show: RebuiltShow): Prisma.Sql {
  const { of, kept, heard, source, isShow } = termsOf(show);
  return Prisma.sql`
      INSERT INTO "ShowViewer" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes", seen, "newSeen", "liveDevice",
        "replayDevice", source)
      WITH wrong AS MATERIALIZED (
        SELECT s."viewerId", s.seen | ${kept("v.seen")} AS seen, v.hour
        FROM (SELECT e."viewerId", bit_or(${seenBy(type, channel, value)}) AS seen FROM ${heard} GROUP BY e."viewerId") AS s
        LEFT JOIN "ShowViewer" AS v ON ${of("v")} AND v."viewerId" = s."viewerId"
        WHERE v.seen IS DISTINCT FROM s.seen | ${kept("v.seen")}),
      "firstBatches" AS MATERIALIZED (
        SELECT e."viewerId", ${place} AS place, min(e."acceptedAt") AS "acceptedAt"
        FROM ${heard} AND e."viewerId" IN (SELECT "viewerId" FROM wrong) GROUP BY 1, 2),
      firsts AS MATERIALIZED (
        SELECT DISTINCT ON (e."viewerId", b.place) e."viewerId", b.place, ${hourOf(occurredAt)} AS hour,
          coalesce(nullif(e.device, ''), ${unknownName}) AS device, coalesce(nullif(e.source, ''), ${unknownName}) AS source,
          e."acceptedAt", position, id
        FROM "firstBatches" AS b, ${heard}
          AND b."viewerId" = e."viewerId" AND b.place = ${place} AND b."acceptedAt" = e."acceptedAt"
        ORDER BY e."viewerId", b.place, e."acceptedAt", position, id),
      corrected AS MATERIALIZED (
        SELECT w."viewerId", coalesce(w.hour, f.hour) AS hour, w.seen, ${keptName(1)} AS "liveDevice", ${keptName(2)} AS "replayDevice",
          coalesce(k3.name, ${otherName}) AS source
        FROM wrong AS w
        JOIN (SELECT DISTINCT ON ("viewerId") "viewerId", hour, source FROM firsts ORDER BY "viewerId", "acceptedAt", position, id) AS f
          ON f."viewerId" = w."viewerId"
        LEFT JOIN firsts AS f1 ON f1."viewerId" = w."viewerId" AND f1.place = 1
        LEFT JOIN firsts AS f2 ON f2."viewerId" = w."viewerId" AND f2.place = 2
        ${keptNames(show, "LIVE", "k1", "f1.device")} ${keptNames(show, "REPLAY", "k2", "f2.device")}
        ${keptNames(show, "SOURCE", "k3", "f.source")})
      SELECT l."storeId", l.number, r."viewerId", r.hour, 0, 0, r.seen, 0, r."liveDevice", r."replayDevice", r.source
      FROM ${source}, corrected AS r WHERE ${isShow}
      ON CONFLICT ("storeId", show, "viewerId") DO UPDATE SET seen = EXCLUDED.seen,
        "liveDevice" = CASE WHEN t.seen & EXCLUDED.seen & 1 = 0 THEN EXCLUDED."liveDevice" ELSE t."liveDevice" END,
        "replayDevice" = CASE WHEN t.seen & EXCLUDED.seen & 2 = 0 THEN EXCLUDED."replayDevice" ELSE t."replayDevice" END`;
}

function minutes(show: RebuiltShow): Prisma.Sql {
  const { of, isKept, kept, heard, source, isShow } = termsOf(show);
  return Prisma.sql`
      WITH hours AS MATERIALIZED (
        SELECT "viewerId", hour, bit_or(1::bigint << minute) AS minutes
        FROM (SELECT e."viewerId", ${hourOf(occurredAt)} AS hour, ${minuteOf(occurredAt)} AS minute FROM ${heard} AND e.type < 3) AS m
        GROUP BY "viewerId", hour),
      later AS MATERIALIZED (
        SELECT h.* FROM hours AS h JOIN "ShowViewer" AS v ON ${of("v")} AND v."viewerId" = h."viewerId"
        WHERE h.hour <> v.hour),
      "firstHours" AS MATERIALIZED (
        SELECT v."viewerId", v.hour, coalesce(h.minutes, 0) | ${kept("v.minutes")} AS minutes, v.seen, v."liveDevice", v."replayDevice", v.source
        FROM "ShowViewer" AS v LEFT JOIN hours AS h ON h."viewerId" = v."viewerId" AND h.hour = v.hour
        WHERE ${of("v")} AND v.minutes <> coalesce(h.minutes, 0) | ${kept("v.minutes")}),
      "laterHours" AS MATERIALIZED (
        SELECT h."viewerId", h.hour, h.minutes | ${kept("p.minutes")} AS minutes FROM later AS h
        LEFT JOIN "ShowPresence" AS p ON ${of("p")} AND p."viewerId" = h."viewerId" AND p.hour = h.hour
        WHERE p.minutes IS DISTINCT FROM h.minutes | ${kept("p.minutes")}),
      corrected AS (
        INSERT INTO "ShowViewer" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes", seen, "newSeen", "liveDevice",
          "replayDevice", source)
        SELECT l."storeId", l.number, f."viewerId", f.hour, f.minutes, 0, f.seen, 0, f."liveDevice", f."replayDevice", f.source
        FROM ${source}, "firstHours" AS f WHERE ${isShow}
        ON CONFLICT ("storeId", show, "viewerId") DO UPDATE SET minutes = EXCLUDED.minutes),
      removed AS (
        DELETE FROM "ShowPresence" AS p WHERE ${of("p")} ${isKept}
          AND NOT EXISTS (SELECT FROM later AS h WHERE h."viewerId" = p."viewerId" AND h.hour = p.hour)),
      added AS (
        INSERT INTO "ShowPresence" ("storeId", show, "viewerId", hour, minutes, "newMinutes")
        SELECT l."storeId", l.number, h."viewerId", h.hour, h.minutes, 0 FROM ${source}, "laterHours" AS h WHERE ${isShow}
        ON CONFLICT ("storeId", show, "viewerId", hour) DO UPDATE SET minutes = EXCLUDED.minutes)
      SELECT 1`;
}

/** The device of the first event on a channel, by name or as `other`; empty without any event there. */
function keptName(code: 1 | 2): Prisma.Sql {
  const [first, kept] = [Prisma.raw(`f${code}`), Prisma.raw(`k${code}`)];
  return Prisma.sql`CASE WHEN ${first}.device IS NULL THEN '' ELSE coalesce(${kept}.name, ${otherName}) END`;
}

function keptNames({ storeId, lsId }: RebuiltShow, kind: string, row: string, column: string): Prisma.Sql {
  const kept = Prisma.raw(row);
  return Prisma.sql`
    LEFT JOIN "LiveStreamGroup" AS ${kept} ON ${kept}."storeId" = ${storeId} AND ${kept}."liveStreamId" = ${lsId}
      AND ${kept}.kind = ${kind} AND ${kept}.name = ${Prisma.raw(column)} AND ${kept}.slot = -1`;
}
