-- Amounts of products and refunds are NUMERIC without bounds, as all money. Orders that are stored already count as one of their
-- product, for at most 10,000 products of a show.

-- AlterTable
ALTER TABLE "Store" ADD COLUMN "currency" TEXT;

-- AlterTable
ALTER TABLE "ShowEvent" ADD COLUMN "orderId" TEXT COLLATE "C" NOT NULL DEFAULT '',
ADD COLUMN "lines" TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE "ShowEvent" DROP CONSTRAINT "ShowEvent_type_check";

ALTER TABLE "ShowEvent" ADD CONSTRAINT "ShowEvent_type_check" CHECK ("type" BETWEEN 1 AND 4);

-- AlterTable
ALTER TABLE "ShowBase" ADD COLUMN "refunds" NUMERIC NOT NULL DEFAULT 0,
ADD COLUMN "quantity" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "LiveStreamTotal" ADD COLUMN "refunds" NUMERIC NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "LiveStreamProduct" ADD COLUMN "orders" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "quantity" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "sales" NUMERIC NOT NULL DEFAULT 0;

INSERT INTO "LiveStreamProduct" AS t ("storeId", "liveStreamId", "productId", "slot", "carts", "orders", "quantity", "sales")
SELECT "storeId", "liveStreamId", "productId", -1, 0, "orders", "orders", "sales" FROM (
  SELECT e."storeId", s."id" AS "liveStreamId", e."productId", count(*) AS "orders", sum(e."value") AS "sales",
    row_number() OVER (PARTITION BY e."storeId", s."id" ORDER BY max(p."carts") DESC NULLS LAST, e."productId") AS place
  FROM "ShowEvent" AS e
  JOIN "LiveStream" AS s ON s."storeId" = e."storeId" AND s."number" = e."show"
  LEFT JOIN "LiveStreamProduct" AS p ON p."storeId" = e."storeId" AND p."liveStreamId" = s."id" AND p."productId" = e."productId"
    AND p."slot" = -1
  WHERE e."type" = 3 AND e."productId" <> '' GROUP BY e."storeId", s."id", e."productId") AS o
WHERE place <= 10000
ON CONFLICT ("storeId", "liveStreamId", "productId", "slot") DO UPDATE SET "orders" = EXCLUDED."orders",
  "quantity" = EXCLUDED."quantity", "sales" = EXCLUDED."sales";
