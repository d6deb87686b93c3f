-- Events, viewers and presence move into tables whose rows are a third as large: shows by their number, ids as bytes, codes for
-- types and channels, one row for each viewer, presence by the hour. As in the first migration, text that identifies compares
-- byte by byte. Rows of viewers and presence are updated while a show runs, and find room on their own page (fillfactor).
-- Totals stay as they are. Others may read meanwhile, and those that record wait.

-- AlterTable
ALTER TABLE "LiveStream" ADD COLUMN "number" INTEGER;

UPDATE "LiveStream" AS s SET "number" = n."number" FROM (
  SELECT "storeId", "id", row_number() OVER (PARTITION BY "storeId" ORDER BY "startedAt", "id")::integer AS "number"
  FROM "LiveStream") AS n
WHERE s."storeId" = n."storeId" AND s."id" = n."id";

ALTER TABLE "LiveStream" ALTER COLUMN "number" SET NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "LiveStream_storeId_number_key" ON "LiveStream"("storeId", "number");

-- CreateTable
CREATE TABLE "ShowEvent" (
    "acceptedAt" TIMESTAMPTZ(3) NOT NULL,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,
    "show" INTEGER NOT NULL,
    "position" SMALLINT NOT NULL,
    "type" SMALLINT NOT NULL,
    "channel" SMALLINT NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" BYTEA NOT NULL,
    "viewerId" BYTEA NOT NULL,
    "device" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "value" NUMERIC NOT NULL,

    CONSTRAINT "ShowEvent_pkey" PRIMARY KEY ("storeId","show","id"),
    CONSTRAINT "ShowEvent_type_check" CHECK ("type" BETWEEN 1 AND 3),
    CONSTRAINT "ShowEvent_channel_check" CHECK ("channel" BETWEEN 1 AND 3)
);

-- CreateTable
CREATE TABLE "ShowViewer" (
    "minutes" BIGINT NOT NULL,
    "newMinutes" BIGINT NOT NULL,
    "show" INTEGER NOT NULL,
    "hour" INTEGER NOT NULL,
    "seen" SMALLINT NOT NULL,
    "newSeen" SMALLINT NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "viewerId" BYTEA NOT NULL,
    "liveDevice" TEXT COLLATE "C" NOT NULL,
    "replayDevice" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ShowViewer_pkey" PRIMARY KEY ("storeId","show","viewerId")
) WITH (fillfactor = 75);

-- CreateTable
CREATE TABLE "ShowPresence" (
    "minutes" BIGINT NOT NULL,
    "newMinutes" BIGINT NOT NULL,
    "show" INTEGER NOT NULL,
    "hour" INTEGER NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "viewerId" BYTEA NOT NULL,

    CONSTRAINT "ShowPresence_pkey" PRIMARY KEY ("storeId","show","viewerId","hour")
) WITH (fillfactor = 75);

LOCK TABLE "ShopperEvent", "LiveStreamViewer", "LiveStreamCartViewer", "LiveStreamPresence" IN SHARE ROW EXCLUSIVE MODE;

-- Events, ids as in analytics/events/storage/idBytes.ts
INSERT INTO "ShowEvent" ("acceptedAt", "occurredAt", "show", "position", "type", "channel", "storeId", "id", "viewerId", "device",
  "productId", "value")
SELECT e."acceptedAt", e."occurredAt", s."number", e."position", array_position(ARRAY['VIEW', 'ADD_TO_CART', 'ORDER'], e."type"),
  array_position(ARRAY['LIVE', 'REPLAY', 'REFERRAL'], e."channel"), e."storeId",
  CASE WHEN e."id" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN decode(replace(e."id", '-', ''), 'hex')
    WHEN octet_length(e."id") = 16 THEN convert_to(e."id", 'UTF8') || '\x00'::bytea ELSE convert_to(e."id", 'UTF8') END,
  CASE WHEN e."viewerId" IS NULL THEN ''::bytea
    WHEN e."viewerId" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN decode(replace(e."viewerId", '-', ''), 'hex')
    WHEN octet_length(e."viewerId") = 16 THEN convert_to(e."viewerId", 'UTF8') || '\x00'::bytea
    ELSE convert_to(e."viewerId", 'UTF8') END,
  coalesce(e."device", ''), coalesce(e."productId", ''),
  coalesce(CASE e."type" WHEN 'ORDER' THEN e."amount" WHEN 'VIEW' THEN e."seconds" END, 0)
FROM "ShopperEvent" AS e JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."id" = e."liveStreamId";

-- Presence by the hour. The first hour of a viewer moves to their own row
INSERT INTO "ShowPresence" ("minutes", "newMinutes", "show", "hour", "storeId", "viewerId")
SELECT bit_or(1::bigint << p."minute"), 0, s."number", p."hour", p."storeId",
  CASE WHEN p."viewerId" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN decode(replace(p."viewerId", '-', ''), 'hex')
    WHEN octet_length(p."viewerId") = 16 THEN convert_to(p."viewerId", 'UTF8') || '\x00'::bytea
    ELSE convert_to(p."viewerId", 'UTF8') END
FROM (
  SELECT "storeId", "liveStreamId", "viewerId", floor(extract(epoch FROM "minute") / 3600)::integer AS "hour",
    (floor(extract(epoch FROM "minute") / 60)::bigint % 60)::integer AS "minute" FROM "LiveStreamPresence") AS p
JOIN "LiveStream" AS s ON s."storeId" = p."storeId" AND s."id" = p."liveStreamId"
GROUP BY s."number", p."hour", p."storeId", p."viewerId";

INSERT INTO "ShowViewer" ("minutes", "newMinutes", "show", "hour", "seen", "newSeen", "storeId", "viewerId", "liveDevice",
  "replayDevice")
SELECT DISTINCT ON (v."storeId", v."show", v."viewerId") coalesce(p."minutes", 0), 0, v."show", coalesce(p."hour", 0), v."seen", 0,
  v."storeId", v."viewerId", v."liveDevice", v."replayDevice"
FROM (
  SELECT s."storeId", s."number" AS "show",
    CASE WHEN r."viewerId" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN decode(replace(r."viewerId", '-', ''), 'hex')
      WHEN octet_length(r."viewerId") = 16 THEN convert_to(r."viewerId", 'UTF8') || '\x00'::bytea
      ELSE convert_to(r."viewerId", 'UTF8') END AS "viewerId",
    bit_or(r."seen") AS "seen", max(r."liveDevice") AS "liveDevice", max(r."replayDevice") AS "replayDevice"
  FROM (
    SELECT "storeId", "liveStreamId", "viewerId", CASE "channel" WHEN 'LIVE' THEN 1 ELSE 2 END::smallint AS "seen",
      CASE "channel" WHEN 'LIVE' THEN "device" ELSE '' END AS "liveDevice",
      CASE "channel" WHEN 'LIVE' THEN '' ELSE "device" END AS "replayDevice"
    FROM "LiveStreamViewer" WHERE "channel" <> 'ANY'
    UNION ALL
    SELECT "storeId", "liveStreamId", "viewerId", CASE "channel" WHEN 'LIVE' THEN 4 ELSE 8 END::smallint, '', ''
    FROM "LiveStreamCartViewer") AS r
  JOIN "LiveStream" AS s ON s."storeId" = r."storeId" AND s."id" = r."liveStreamId"
  GROUP BY s."storeId", s."number", r."viewerId") AS v
LEFT JOIN "ShowPresence" AS p ON p."storeId" = v."storeId" AND p."show" = v."show" AND p."viewerId" = v."viewerId"
ORDER BY v."storeId", v."show", v."viewerId", p."hour";

DELETE FROM "ShowPresence" AS p USING "ShowViewer" AS v
WHERE v."storeId" = p."storeId" AND v."show" = p."show" AND v."viewerId" = p."viewerId" AND v."hour" = p."hour";

-- DropTable
DROP TABLE "ShopperEvent";

-- DropTable
DROP TABLE "LiveStreamViewer";

-- DropTable
DROP TABLE "LiveStreamCartViewer";

-- DropTable
DROP TABLE "LiveStreamPresence";
