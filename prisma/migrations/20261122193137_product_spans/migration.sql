-- What happened with products by quarters of an hour and days, for figures over shows, from the events that are stored. What
-- removed events had added is known by product alone: it counts at the start of its show. As in the first migration, text that
-- identifies compares byte by byte. Others may read meanwhile, and those that record wait.

-- CreateTable
CREATE TABLE "ShowProductSlot" (
    "startsAt" TIMESTAMPTZ(3) NOT NULL,
    "carts" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "quantity" BIGINT NOT NULL,
    "show" INTEGER NOT NULL,
    "slot" INTEGER NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "sales" NUMERIC NOT NULL,
    "refunds" NUMERIC NOT NULL,

    CONSTRAINT "ShowProductSlot_pkey" PRIMARY KEY ("storeId","show","productId","startsAt","slot")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "ShowProductSpan" (
    "startsAt" TIMESTAMPTZ(3) NOT NULL,
    "carts" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "quantity" BIGINT NOT NULL,
    "show" INTEGER NOT NULL,
    "seconds" INTEGER NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "sales" NUMERIC NOT NULL,
    "refunds" NUMERIC NOT NULL,

    CONSTRAINT "ShowProductSpan_pkey" PRIMARY KEY ("storeId","seconds","startsAt","show","productId")
) WITH (fillfactor = 75);

-- CreateIndex
CREATE INDEX "ShowProductSpan_storeId_show_idx" ON "ShowProductSpan"("storeId", "show");

LOCK TABLE "ShowEvent", "ShowBase", "LiveStreamProduct" IN SHARE ROW EXCLUSIVE MODE;

-- Slots are in a table of their own from now on
INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", "slot", "carts", "orders", "quantity", "sales")
SELECT "storeId", "liveStreamId", "productId", -1, sum("carts"), sum("orders"), sum("quantity"), sum("sales")
FROM "LiveStreamProduct" WHERE "slot" >= 0 GROUP BY "storeId", "liveStreamId", "productId"
ON CONFLICT ("storeId", "liveStreamId", "productId", "slot") DO UPDATE SET "carts" = t."carts" + EXCLUDED."carts",
  "orders" = t."orders" + EXCLUDED."orders", "quantity" = t."quantity" + EXCLUDED."quantity", "sales" = t."sales" + EXCLUDED."sales";

DELETE FROM "LiveStreamProduct" WHERE "slot" >= 0;

-- DropIndex
DROP INDEX "LiveStreamProduct_slots_idx";

-- Events that are stored. An ORDER or a REFUND counts by its lines, or, without any, as one of its product
INSERT INTO "ShowProductSpan" ("storeId", "show", "seconds", "startsAt", "productId", "carts", "orders", "quantity", "sales", "refunds")
SELECT e."storeId", e."show", 900, date_bin('15 minutes', e."occurredAt", '1970-01-01T00:00:00Z'::timestamptz) AS starts,
  e."productId", count(*) FILTER (WHERE e."type" = 2), count(*) FILTER (WHERE e."type" = 3),
  coalesce(sum(e."quantity") FILTER (WHERE e."type" = 3), 0), coalesce(sum(e."amount") FILTER (WHERE e."type" = 3), 0),
  coalesce(sum(e."amount") FILTER (WHERE e."type" = 4), 0)
FROM (
  SELECT "storeId", "show", "occurredAt", "type", "productId", 1 AS "quantity", "value" AS "amount" FROM "ShowEvent"
  WHERE "type" > 1 AND "lines" = '' AND "productId" <> ''
  UNION ALL
  SELECT v."storeId", v."show", v."occurredAt", v."type", x."productId", sum(x."quantity"), sum(x."amount")
  FROM "ShowEvent" AS v, jsonb_to_recordset((CASE v."lines" WHEN '' THEN '[]' ELSE v."lines" END)::jsonb)
    AS x("productId" text, "quantity" bigint, "amount" numeric)
  WHERE v."type" > 2 AND v."lines" <> ''
  GROUP BY v."storeId", v."show", v."id", v."occurredAt", v."type", x."productId") AS e
JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."number" = e."show"
JOIN "LiveStreamProduct" AS p ON p."storeId" = s."storeId" AND p."liveStreamId" = s."id" AND p."productId" = e."productId"
GROUP BY e."storeId", e."show", starts, e."productId";

-- Events that were removed
INSERT INTO "ShowProductSpan" AS t ("storeId", "show", "seconds", "startsAt", "productId", "carts", "orders", "quantity", "sales",
  "refunds")
SELECT s."storeId", s."number", 900, date_bin('15 minutes', s."startedAt", '1970-01-01T00:00:00Z'::timestamptz), p."productId",
  p."carts" - coalesce(c."carts", 0), p."orders" - coalesce(c."orders", 0), p."quantity" - coalesce(c."quantity", 0),
  p."sales" - coalesce(c."sales", 0), 0
FROM "LiveStreamProduct" AS p
JOIN "LiveStream" AS s ON s."storeId" = p."storeId" AND s."id" = p."liveStreamId"
LEFT JOIN (
  SELECT "storeId", "show", "productId", sum("carts") AS "carts", sum("orders") AS "orders", sum("quantity") AS "quantity",
    sum("sales") AS "sales"
  FROM "ShowProductSpan" GROUP BY "storeId", "show", "productId") AS c
  ON c."storeId" = s."storeId" AND c."show" = s."number" AND c."productId" = p."productId"
WHERE (p."carts", p."orders", p."quantity", p."sales")
  <> (coalesce(c."carts", 0), coalesce(c."orders", 0), coalesce(c."quantity", 0), coalesce(c."sales", 0))
ON CONFLICT ("storeId", "seconds", "startsAt", "show", "productId") DO UPDATE SET "carts" = t."carts" + EXCLUDED."carts",
  "orders" = t."orders" + EXCLUDED."orders", "quantity" = t."quantity" + EXCLUDED."quantity", "sales" = t."sales" + EXCLUDED."sales";

UPDATE "ShowBase" AS b SET "minute" = (floor(date_part('epoch', s."startedAt" AT TIME ZONE 'UTC') / 900) * 15)::integer
FROM "LiveStream" AS s WHERE s."storeId" = b."storeId" AND s."number" = b."show" AND b."productId" <> '';

INSERT INTO "ShowProductSpan" ("storeId", "show", "seconds", "startsAt", "productId", "carts", "orders", "quantity", "sales", "refunds")
SELECT "storeId", "show", 86400, date_bin('1 day', "startsAt", '1970-01-01T00:00:00Z'::timestamptz) AS starts, "productId",
  sum("carts"), sum("orders"), sum("quantity"), sum("sales"), sum("refunds")
FROM "ShowProductSpan" GROUP BY "storeId", "show", starts, "productId";
