import { Prisma } from "../../generated/prisma/client.js";
import { beginningOfView, hourOf, isOfViewer, minuteOf, seenBy } from "./eventValues.sql.js";
import { otherName, unknownName } from "./countedNames.sql.js";
import { idOfShow, type StoreRow } from "./showRow.js";

const [type, channel, occurredAt] = [Prisma.sql`type`, Prisma.sql`channel`, Prisma.sql`"occurredAt"`];
const [viewerId, value] = [Prisma.sql`"viewerId"`, Prisma.sql`value`];

/**
 * Distinct viewers of each channel, engaged, with a product in the cart, with an order, and in each minute. Rows keep what the last change
 * added (newSeen, newMinutes), because RETURNING only gives new values: so concurrent batches count each viewer once. Viewers without
 * news are not written. Each is looked up by the whole key (OFFSET 0), because a join might read all viewers of a show with old
 * statistics. If a concurrent batch just stored a viewer with another first hour, the minutes of that hour become null, which the
 * table refuses, and the statement is sent again.
 */
export function viewersOf(store: StoreRow, hasOthers: boolean): Prisma.Sql {
  return Prisma.sql`
    heard AS MATERIALIZED (
      SELECT show, type, channel, "viewerId", coalesce(nullif(device, ''), ${unknownName}) AS device,
        coalesce(nullif(source, ''), ${unknownName}) AS source, position,
        ${seenBy(type, channel, value)} AS seen, ${hourOf(occurredAt)} AS hour, ${minuteOf(occurredAt)} AS minute,
        CASE WHEN type = 1 THEN ${beginningOfView(occurredAt, value)} ELSE 'infinity' END AS "firstViewAt"
      FROM fresh WHERE ${isOfViewer(type, viewerId)}),
    hours AS MATERIALIZED (
      SELECT show, "viewerId", hour, bit_or(1::bigint << minute) AS minutes FROM heard WHERE type < 3
      GROUP BY show, "viewerId", hour),
    met AS MATERIALIZED (
      SELECT m.*, v.hour AS "knownHour", v.seen AS "knownSeen", v.minutes AS "knownMinutes", v.source AS "knownSource",
        v."firstViewAt" AS "knownFirstViewAt"
      FROM (
        SELECT show, "viewerId", bit_or(seen) AS seen, min("firstViewAt") AS "firstViewAt", (min(ARRAY[position, hour]))[2] AS hour,
          ${firstDevice(1)} AS "liveDevice", ${firstDevice(2)} AS "replayDevice", ${firstOf(Prisma.sql`source`)} AS source
        FROM heard GROUP BY show, "viewerId" ORDER BY show, "viewerId") AS m
      LEFT JOIN LATERAL (
        SELECT hour, seen, minutes, source, "firstViewAt" FROM "ShowViewer" AS v
        WHERE v."storeId" = ${store.storeId} AND v.show = m.show AND v."viewerId" = m."viewerId" OFFSET 0) AS v
        ON true),
    ${changesOf(store, hasOthers)},
    ${presenceOf(store)}`;
}

/** The device of the first event on a channel. */
function firstDevice(code: 1 | 2): Prisma.Sql {
  return Prisma.sql`coalesce(${firstOf(Prisma.sql`device`, Prisma.sql`FILTER (WHERE channel = ${code} AND type < 3)`)}, '')`;
}

/** The text of the first event, faster than by an ordered aggregate. */
function firstOf(text: Prisma.Sql, filter = Prisma.empty): Prisma.Sql {
  return Prisma.sql`substr(min(lpad(position::text, 5, '0') || ${text}) ${filter}, 6)`;
}

/**
 * An UPDATE if all viewers are known, because ON CONFLICT writes each row's lock to the log too. Never both, so that there is one lock
 * order. The planner keeps it, looking up rows one by one, if it expects few, as for a CASE.
 */
function changesOf(store: StoreRow, hasOthers: boolean): Prisma.Sql {
  const kept = (kind: "LIVE" | "REPLAY" | "SOURCE", name: Prisma.Sql) =>
    hasOthers ? countedName(store, kind, name) : name;
  const changed = Prisma.sql`
    SELECT m.show, m."viewerId", coalesce("knownHour", m.hour) AS hour, coalesce(h.minutes, 0) AS minutes,
      "firstViewAt", seen, ${kept("LIVE", Prisma.sql`"liveDevice"`)} AS "liveDevice", ${kept("REPLAY", Prisma.sql`"replayDevice"`)} AS "replayDevice",
      ${kept("SOURCE", Prisma.sql`m.source`)} AS source
    FROM met AS m LEFT JOIN hours AS h ON ${isSameShow("h", "m")} AND h."viewerId" = m."viewerId" AND h.hour = coalesce("knownHour", m.hour)
    WHERE CASE WHEN "knownHour" IS NULL OR (seen & ~"knownSeen"::int) <> 0 OR (coalesce(h.minutes, 0) & ~"knownMinutes") <> 0
      OR "firstViewAt" < "knownFirstViewAt" THEN 1 ELSE 0 END = 1`;
  const returned = Prisma.sql`RETURNING t.show, t."viewerId", t.hour, t.seen, t."newSeen", t."newMinutes", t."liveDevice", t."replayDevice", t.source`;
  return Prisma.sql`
    known AS MATERIALIZED (SELECT bool_and("knownHour" IS NOT NULL) AS "areAll" FROM met),
    updated AS (
      UPDATE "ShowViewer" AS t ${mergeOf(Prisma.sql`n`)}
      FROM (${changed} AND (SELECT "areAll" FROM known) ORDER BY show, "viewerId") AS n
      WHERE t."storeId" = ${store.storeId} AND t.show = n.show AND t."viewerId" = n."viewerId" ${returned}),
    inserted AS (
      INSERT INTO "ShowViewer" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes", "firstViewAt", seen, "newSeen",
        "liveDevice", "replayDevice", source)
      SELECT o.id, n.show, "viewerId", hour, minutes, minutes, "firstViewAt", seen, seen, "liveDevice", "replayDevice", n.source
      FROM ${store.source}, (${changed} AND NOT (SELECT "areAll" FROM known)) AS n
      WHERE ${store.isStore} ORDER BY n.show, "viewerId"
      ON CONFLICT ("storeId", show, "viewerId") DO UPDATE ${mergeOf(Prisma.sql`EXCLUDED`)} ${returned}),
    viewer AS NOT MATERIALIZED (SELECT * FROM updated UNION ALL SELECT * FROM inserted)`;
}

/** Adds what was seen of a viewer to row `t`. */
function mergeOf(seen: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SET "firstViewAt" = least(t."firstViewAt", ${seen}."firstViewAt"), seen = t.seen | ${seen}.seen, "newSeen" = ${seen}.seen & ~t.seen,
      minutes = CASE WHEN t.hour = ${seen}.hour THEN t.minutes | ${seen}.minutes ELSE t.minutes END,
      "newMinutes" = CASE WHEN t.hour = ${seen}.hour THEN ${seen}.minutes & ~t.minutes ELSE 0 END,
      "liveDevice" = CASE WHEN t.seen & 1 = 0 THEN ${seen}."liveDevice" ELSE t."liveDevice" END,
      "replayDevice" = CASE WHEN t.seen & 2 = 0 THEN ${seen}."replayDevice" ELSE t."replayDevice" END`;
}

/** The minutes of further hours, and how many viewers each minute gained. */
function presenceOf(store: StoreRow): Prisma.Sql {
  return Prisma.sql`
    later AS MATERIALIZED (
      SELECT h.show, h."viewerId", h.hour, CASE WHEN h.hour = v.hour THEN NULL ELSE h.minutes END AS minutes
      FROM hours AS h JOIN met ON met."viewerId" = h."viewerId" AND ${isSameShow("met", "h")}
        LEFT JOIN viewer AS v ON v."viewerId" = h."viewerId" AND ${isSameShow("v", "h")}
      WHERE h.hour <> coalesce(v.hour, met."knownHour") OR v.hour <> coalesce(met."knownHour", met.hour)),
    presence AS (
      INSERT INTO "ShowPresence" AS t ("storeId", show, "viewerId", hour, minutes, "newMinutes")
      SELECT o.id, n.show, "viewerId", hour, minutes, minutes
      FROM ${store.source}, (
        SELECT h.* FROM later AS h LEFT JOIN LATERAL (
          SELECT hour, minutes FROM "ShowPresence" AS p WHERE p."storeId" = ${store.storeId} AND p.show = h.show
            AND p."viewerId" = h."viewerId" AND p.hour = h.hour OFFSET 0) AS p ON true
        WHERE p.hour IS NULL OR (h.minutes & ~p.minutes) <> 0) AS n
      WHERE ${store.isStore} ORDER BY n.show, "viewerId", hour
      ON CONFLICT ("storeId", show, "viewerId", hour) DO UPDATE SET minutes = t.minutes | EXCLUDED.minutes,
        "newMinutes" = EXCLUDED.minutes & ~t.minutes
      RETURNING show, hour, "newMinutes"),
    present AS MATERIALIZED (
      SELECT m.show, hour, minute, count(*) AS viewers
      FROM (SELECT show, hour, "newMinutes" FROM viewer UNION ALL SELECT show, hour, "newMinutes" FROM presence) AS n
      JOIN (SELECT DISTINCT show, hour, minute FROM heard) AS m USING (hour)
      WHERE ("newMinutes" >> minute) & 1 = 1 AND ${isSameShow("m", "n")} GROUP BY m.show, hour, minute)`;
}

/** In this form the planner expects half of the rows. With equal keys it would expect one row, and use a nested loop. */
export function isSameShow(one: string, other: string): Prisma.Sql {
  return Prisma.raw(`coalesce(${one}.show = ${other}.show, false)`);
}

/** The device or source if the show `m` keeps its name, else `other`; empty for the device of a viewer who was not on the channel. */
export function countedName({ storeId }: StoreRow, kind: "LIVE" | "REPLAY" | "SOURCE", name: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    CASE WHEN ${name} = '' THEN '' ELSE coalesce((SELECT k.name FROM "LiveStreamGroup" AS k
      WHERE k."storeId" = ${storeId} AND k."liveStreamId" = ${idOfShow("m")} AND k.kind = ${kind} AND k.name = ${name}
        AND k.slot = -1), ${otherName}) END`;
}
