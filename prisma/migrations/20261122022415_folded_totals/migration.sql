-- As in the migration of live streams. The rows of slots are found by an index of their own, so that those of slot -1, of
-- which there may be many, need not be gone through. What was counted before is folded here, all at once: other programs
-- may read meanwhile, and those that record wait.

-- CreateTable
CREATE TABLE "LiveStreamSpan" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "seconds" INTEGER NOT NULL,
    "startsAt" TIMESTAMPTZ(3) NOT NULL,
    "viewers" BIGINT NOT NULL,
    "carts" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "sales" NUMERIC NOT NULL,

    CONSTRAINT "LiveStreamSpan_pkey" PRIMARY KEY ("storeId","liveStreamId","seconds","startsAt")
) WITH (fillfactor = 50);

LOCK TABLE "LiveStreamMinute", "LiveStreamDevice", "LiveStreamProduct" IN SHARE ROW EXCLUSIVE MODE;

-- Minutes, and the spans over them
INSERT INTO "LiveStreamMinute" ("storeId", "liveStreamId", "minute", "slot", "viewers", "carts", "orders", "sales")
SELECT "storeId", "liveStreamId", "minute", -1, sum("viewers"), sum("carts"), sum("orders"), sum("sales")
FROM "LiveStreamMinute" GROUP BY "storeId", "liveStreamId", "minute";

DELETE FROM "LiveStreamMinute" WHERE "slot" >= 0;

INSERT INTO "LiveStreamSpan" ("storeId", "liveStreamId", "seconds", "startsAt", "viewers", "carts", "orders", "sales")
SELECT "storeId", "liveStreamId", 0, '1970-01-01T00:00:00Z', max("viewers"), sum("carts"), sum("orders"), sum("sales")
FROM "LiveStreamMinute" GROUP BY "storeId", "liveStreamId";

INSERT INTO "LiveStreamSpan" ("storeId", "liveStreamId", "seconds", "startsAt", "viewers", "carts", "orders", "sales")
SELECT "storeId", "liveStreamId", 900, date_bin('15 minutes', "minute", '1970-01-01T00:00:00Z'), max("viewers"), sum("carts"),
  sum("orders"), sum("sales")
FROM "LiveStreamMinute" GROUP BY "storeId", "liveStreamId", 4;

INSERT INTO "LiveStreamSpan" ("storeId", "liveStreamId", "seconds", "startsAt", "viewers", "carts", "orders", "sales")
SELECT "storeId", "liveStreamId", 86400, date_bin('24 hours', "startsAt", '1970-01-01T00:00:00Z'), max("viewers"), sum("carts"),
  sum("orders"), sum("sales")
FROM "LiveStreamSpan" WHERE "seconds" = 900 GROUP BY "storeId", "liveStreamId", 4;

-- Devices: the 1,000 largest of each channel are told apart, the others are `other`
INSERT INTO "LiveStreamDevice" ("storeId", "liveStreamId", "channel", "device", "slot", "viewers")
SELECT "storeId", "liveStreamId", "channel", "device", -1, sum("viewers")
FROM "LiveStreamDevice" GROUP BY "storeId", "liveStreamId", "channel", "device";

DELETE FROM "LiveStreamDevice" WHERE "slot" >= 0;

UPDATE "LiveStreamViewer" AS v SET "device" = 'other' FROM (
  SELECT "storeId", "liveStreamId", "channel", "device", row_number() OVER (
    PARTITION BY "storeId", "liveStreamId", "channel" ORDER BY "viewers" DESC, "device") AS place
  FROM "LiveStreamDevice" WHERE "device" <> 'other') AS d
WHERE d.place > 1000 AND v."storeId" = d."storeId" AND v."liveStreamId" = d."liveStreamId" AND v."channel" = d."channel"
  AND v."device" = d."device";

INSERT INTO "LiveStreamDevice" AS t ("storeId", "liveStreamId", "channel", "device", "slot", "viewers")
SELECT "storeId", "liveStreamId", "channel", 'other', -1, sum("viewers") FROM (
  SELECT "storeId", "liveStreamId", "channel", "viewers", row_number() OVER (
    PARTITION BY "storeId", "liveStreamId", "channel" ORDER BY "viewers" DESC, "device") AS place
  FROM "LiveStreamDevice" WHERE "device" <> 'other') AS d
WHERE place > 1000 GROUP BY "storeId", "liveStreamId", "channel"
ON CONFLICT ("storeId", "liveStreamId", "channel", "device", "slot") DO UPDATE SET "viewers" = t."viewers" + EXCLUDED."viewers";

DELETE FROM "LiveStreamDevice" AS t USING (
  SELECT "storeId", "liveStreamId", "channel", "device", row_number() OVER (
    PARTITION BY "storeId", "liveStreamId", "channel" ORDER BY "viewers" DESC, "device") AS place
  FROM "LiveStreamDevice" WHERE "device" <> 'other') AS d
WHERE d.place > 1000 AND t."storeId" = d."storeId" AND t."liveStreamId" = d."liveStreamId" AND t."channel" = d."channel"
  AND t."device" = d."device";

-- Products: the 10,000 most often put into carts
INSERT INTO "LiveStreamProduct" ("storeId", "liveStreamId", "productId", "slot", "carts")
SELECT "storeId", "liveStreamId", "productId", -1, sum("carts")
FROM "LiveStreamProduct" GROUP BY "storeId", "liveStreamId", "productId";

DELETE FROM "LiveStreamProduct" WHERE "slot" >= 0;

DELETE FROM "LiveStreamProduct" AS t USING (
  SELECT "storeId", "liveStreamId", "productId", row_number() OVER (
    PARTITION BY "storeId", "liveStreamId" ORDER BY "carts" DESC, "productId") AS place
  FROM "LiveStreamProduct") AS p
WHERE p.place > 10000 AND t."storeId" = p."storeId" AND t."liveStreamId" = p."liveStreamId" AND t."productId" = p."productId";

-- CreateIndex
CREATE INDEX "LiveStreamMinute_slots_idx" ON "LiveStreamMinute" ("storeId", "liveStreamId") WHERE "slot" >= 0;

-- CreateIndex
CREATE INDEX "LiveStreamDevice_slots_idx" ON "LiveStreamDevice" ("storeId", "liveStreamId") WHERE "slot" >= 0;

-- CreateIndex
CREATE INDEX "LiveStreamProduct_slots_idx" ON "LiveStreamProduct" ("storeId", "liveStreamId") WHERE "slot" >= 0;
