// Frozen with their tables, so they use nothing of the features. All return rows and cast parameters, as partitions.ts asks.

/** An id as bytes, as in the migration. */
export const bytes = (id: string) => `CASE
  WHEN ${id} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN decode(replace(${id}, '-', ''), 'hex')
  WHEN octet_length(${id}) = 16 THEN convert_to(${id}, 'UTF8') || '\\x00'::bytea ELSE convert_to(${id}, 'UTF8') END`;

/** Whether events of show `s` are moved. */
const isMoved = `s."number" IS NOT NULL AND s."prunedAt" IS NULL`;

/**
 * Gives up to 500 shows, the oldest first, a number, and a row in EventMove in the state $1. The number of a deleted show
 * is not reused while its copies exist. No index has the new column yet, so that recording does not wait.
 */
export const numberShows = `
  WITH numbered AS (
    UPDATE "LiveStream" AS s SET "number" = n."number" FROM (
      SELECT l."storeId", l."id", coalesce((SELECT max(m."show") FROM "EventMove" AS m WHERE m."storeId" = l."storeId"), 0)
        + row_number() OVER (PARTITION BY l."storeId" ORDER BY l."startedAt", l."id") AS "number"
      FROM (SELECT "storeId", "id", "startedAt" FROM "LiveStream" WHERE "number" IS NULL
        ORDER BY "storeId", "startedAt", "id" LIMIT 500) AS l) AS n
    WHERE s."storeId" = n."storeId" AND s."id" = n."id" AND s."number" IS NULL RETURNING s."storeId", s."number")
  INSERT INTO "EventMove" ("storeId", "show", "state", "after", "events")
  SELECT "storeId", "number", $1::text, '', 0 FROM numbered RETURNING 1 AS one`;

/** Shows that were deleted or pruned since they were copied. */
export const discardShows = `
  UPDATE "EventMove" AS m SET "state" = 'discarded'
  WHERE m."state" NOT IN ('discarded', 'left') AND NOT EXISTS (
    SELECT FROM "LiveStream" AS s WHERE s."storeId" = m."storeId" AND s."number" = m."show" AND ${isMoved}) RETURNING 1 AS one`;

/** A row where the show with number $2 of store $1 was neither deleted nor pruned. */
export const isStillMoved = `SELECT 1 AS one FROM "LiveStream" AS s WHERE s."storeId" = $1 AND s."number" = $2::integer AND ${isMoved}`;

export const copiedTables = ["ShowEvent", "ShowViewer", "ShowPresence"] as const;

/** Removes up to $3 rows of show $2 of store $1, and tells how many. */
export function removeCopies(table: (typeof copiedTables)[number]): string {
  return `
    WITH removed AS (
      DELETE FROM "${table}" WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM "${table}" WHERE "storeId" = $1 AND "show" = $2::integer LIMIT $3::integer))
      RETURNING 1 AS one)
    SELECT count(*)::int AS "rows" FROM removed`;
}

export const forgetShow = `DELETE FROM "EventMove" AS m WHERE m."storeId" = $1 AND m."show" = $2::integer AND NOT EXISTS (
  SELECT FROM "LiveStream" AS s WHERE s."storeId" = m."storeId" AND s."number" = m."show") RETURNING 1 AS one`;

export const beginAgain = `
  UPDATE "EventMove" AS m SET "after" = '', "events" = 0, "state" = CASE WHEN EXISTS (
    SELECT FROM "LiveStream" AS s WHERE s."storeId" = m."storeId" AND s."number" = m."show" AND ${isMoved})
    THEN 'copying' ELSE 'left' END
  WHERE m."storeId" = $1 AND m."show" = $2::integer RETURNING 1 AS one`;

export const rescanShows = `
  UPDATE "EventMove" SET "state" = 'copying', "after" = '', "events" = 0 WHERE "state" IN ('copying', 'copied', 'verified')
  RETURNING 1 AS one`;

/** The next show in state $1, with its id unless it is gone. */
export const nextShow = `
  SELECT m."storeId", m."show", m."after", s."id" FROM (
    SELECT * FROM "EventMove" WHERE "state" = $1 ORDER BY "storeId", "show" LIMIT 1) AS m
  LEFT JOIN "LiveStream" AS s ON s."storeId" = m."storeId" AND s."number" = m."show"`;

export const setState = `UPDATE "EventMove" SET "state" = $3 WHERE "storeId" = $1 AND "show" = $2::integer RETURNING 1 AS one`;

export const setCopied = `
  UPDATE "EventMove" SET "after" = $3, "events" = "events" + $4::integer, "state" = $5
  WHERE "storeId" = $1 AND "show" = $2::integer RETURNING 1 AS one`;

const ofShow = `"ShopperEvent" AS e WHERE e."storeId" = $1 AND e."liveStreamId" = $2 AND e."id" > $4 AND EXISTS (
  SELECT FROM "LiveStream" AS s WHERE s."storeId" = $1 AND s."id" = $2 AND s."number" = $3::integer AND ${isMoved})`;

/** The $5-th event of show $2, which has the number $3, of store $1 after the id $4. */
export const lastOfBatch = `SELECT e."id" FROM ${ofShow} ORDER BY e."id" OFFSET $5::bigint - 1 LIMIT 1`;

/** Copies the events of show $2, which has the number $3, of store $1 after the id $4, up to $5 where it is not null. */
export const copyBatch = copyOf("", "$3::integer", `${ofShow} AND ($5::text IS NULL OR e."id" <= $5)`);

/**
 * Without statistics on new rows, the planner would choose quadratic nested loops, or scan a table for a batch; and what it
 * cannot avoid would look so expensive that it would be compiled, for seconds.
 */
export const planBatches: readonly string[] = [
  "SET LOCAL citus.propagate_set_commands = 'local'", // on Citus, the node plans
  "SET LOCAL enable_nestloop = off",
  "SET LOCAL enable_seqscan = off",
  "SET LOCAL jit = off",
];

/** Moves up to $1 events out of the queue. Those of a show without a number stay; those of a deleted or pruned one are dropped. */
export const copyQueue = copyOf(
  `taken AS (
    DELETE FROM "EventMoveQueue" WHERE ctid = ANY(ARRAY(
      SELECT q.ctid FROM "EventMoveQueue" AS q WHERE NOT EXISTS (
        SELECT FROM "LiveStream" AS s WHERE s."storeId" = q."storeId" AND s."id" = q."liveStreamId" AND s."number" IS NULL)
      LIMIT $1::integer))
    RETURNING "storeId", "liveStreamId", "id"),`,
  `s."number"`,
  // OFFSET 0: each is looked up by its key.
  `taken AS q JOIN "LiveStream" AS s ON s."storeId" = q."storeId" AND s."id" = q."liveStreamId" AND ${isMoved}
   JOIN LATERAL (SELECT * FROM "ShopperEvent" AS o WHERE o."storeId" = q."storeId" AND o."liveStreamId" = q."liveStreamId"
     AND o."id" = q."id" OFFSET 0) AS e ON true`,
  `(SELECT count(*) FROM taken)`,
);

/**
 * Copies events `e` that are not copied yet, and stores their viewers as the version of these tables does: with a viewer's
 * first hour in their own row. Devices are those that the previous version chose.
 */
function copyOf(first: string, number: string, from: string, count = `(SELECT count(*) FROM source)`): string {
  return `
    WITH ${first}
    source AS MATERIALIZED (
      SELECT e."storeId", ${number} AS "show", e."liveStreamId", ${bytes(`e."id"`)} AS "id", e."viewerId" AS "viewer",
        CASE WHEN e."viewerId" IS NULL THEN ''::bytea ELSE ${bytes(`e."viewerId"`)} END AS "viewerId",
        array_position(ARRAY['VIEW', 'ADD_TO_CART', 'ORDER'], e."type") AS "type",
        array_position(ARRAY['LIVE', 'REPLAY', 'REFERRAL'], e."channel") AS "channel", coalesce(e."device", '') AS "device",
        coalesce(e."productId", '') AS "productId", e."occurredAt", e."acceptedAt", e."position",
        coalesce(CASE WHEN e."type" = 'ORDER' THEN e."amount" WHEN e."type" = 'VIEW' THEN e."seconds" END, 0) AS "value"
      FROM ${from}),
    fresh AS (
      INSERT INTO "ShowEvent" ("acceptedAt", "occurredAt", "show", "position", "type", "channel", "storeId", "id", "viewerId",
        "device", "productId", "value")
      SELECT "acceptedAt", "occurredAt", "show", "position", "type", "channel", "storeId", "id", "viewerId", "device", "productId",
        "value" FROM source ORDER BY "storeId", "show", "id"
      ON CONFLICT ("storeId", "show", "id") DO NOTHING RETURNING "storeId", "show", "id"),
    seen AS MATERIALIZED (
      SELECT e."storeId", e."show", e."liveStreamId", e."viewer", e."viewerId",
        CASE WHEN "channel" = 1 THEN 1 ELSE 2 END | CASE WHEN "type" = 1 THEN 0 WHEN "channel" = 1 THEN 4 ELSE 8 END AS "seen",
        floor(extract(epoch FROM e."occurredAt") / 3600)::integer AS "hour",
        1::bigint << (floor(extract(epoch FROM e."occurredAt") / 60)::bigint % 60)::integer AS "minute"
      FROM source AS e JOIN fresh USING ("storeId", "show", "id") WHERE e."type" <> 3),
    hours AS MATERIALIZED (
      SELECT "storeId", "show", "viewerId", "hour", bit_or("minute") AS "minutes" FROM seen
      GROUP BY "storeId", "show", "viewerId", "hour"),
    viewer AS MATERIALIZED (
      SELECT v.*, coalesce((SELECT k."hour" FROM "ShowViewer" AS k
        WHERE k."storeId" = v."storeId" AND k."show" = v."show" AND k."viewerId" = v."viewerId"), v."firstHour") AS "hour"
      FROM (
        SELECT "storeId", "show", "liveStreamId", "viewer", "viewerId", bit_or("seen")::smallint AS "seen",
          min("hour") AS "firstHour" FROM seen GROUP BY "storeId", "show", "liveStreamId", "viewer", "viewerId") AS v),
    "viewerRow" AS (
      INSERT INTO "ShowViewer" AS t ("minutes", "newMinutes", "show", "hour", "seen", "newSeen", "storeId", "viewerId",
        "liveDevice", "replayDevice")
      SELECT coalesce(h."minutes", 0), 0, v."show", v."hour", v."seen", 0, v."storeId", v."viewerId",
        ${deviceOn("LIVE")}, ${deviceOn("REPLAY")}
      FROM viewer AS v LEFT JOIN hours AS h USING ("storeId", "show", "viewerId", "hour")
      ORDER BY v."storeId", v."show", v."viewerId"
      ON CONFLICT ("storeId", "show", "viewerId") DO UPDATE SET "minutes" = t."minutes" | EXCLUDED."minutes",
        "seen" = t."seen" | EXCLUDED."seen", "liveDevice" = EXCLUDED."liveDevice", "replayDevice" = EXCLUDED."replayDevice"),
    "presenceRow" AS (
      INSERT INTO "ShowPresence" AS t ("minutes", "newMinutes", "show", "hour", "storeId", "viewerId")
      SELECT h."minutes", 0, h."show", h."hour", h."storeId", h."viewerId"
      FROM hours AS h JOIN viewer AS v USING ("storeId", "show", "viewerId") WHERE v."hour" <> h."hour"
      ORDER BY h."storeId", h."show", h."viewerId", h."hour"
      ON CONFLICT ("storeId", "show", "viewerId", "hour") DO UPDATE SET "minutes" = t."minutes" | EXCLUDED."minutes")
    SELECT ${count}::int AS "read"`;
}

function deviceOn(channel: string): string {
  return `coalesce((SELECT d."device" FROM "LiveStreamViewer" AS d WHERE d."storeId" = v."storeId"
    AND d."liveStreamId" = v."liveStreamId" AND d."channel" = '${channel}' AND d."viewerId" = v."viewer"), '')`;
}

export const countMoved = `
  SELECT (SELECT coalesce(sum("events"), 0) FROM "EventMove") AS moved,
    (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '"ShopperEvent"'::regclass) AS all`;

/** The length of the queue, at most $1. */
export const queueLength = `SELECT count(*)::int AS "queued" FROM (SELECT FROM "EventMoveQueue" LIMIT $1::integer) AS q`;

/** What cannot be switched yet: shows that are not verified, or were deleted or pruned since. */
export const unfinishedShows = `
  SELECT count(*)::int AS "unfinished" FROM "EventMove" AS m
  WHERE m."state" <> 'left' AND (m."state" <> 'verified' OR NOT EXISTS (
    SELECT FROM "LiveStream" AS s WHERE s."storeId" = m."storeId" AND s."number" = m."show" AND ${isMoved}))`;
