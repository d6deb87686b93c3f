-- AlterTable
ALTER TABLE "ShowViewer" ADD COLUMN     "firstViewAt" TIMESTAMPTZ(6) NOT NULL DEFAULT 'infinity';

-- Completed by hand: from the events that are left. A VIEW occurs at its end.
UPDATE "ShowViewer" AS v SET "firstViewAt" = e."firstViewAt" FROM (
  SELECT "storeId", show, "viewerId", min("occurredAt" - value::float8 * interval '1 second') AS "firstViewAt"
  FROM "ShowEvent" WHERE type = 1 GROUP BY "storeId", show, "viewerId") AS e
WHERE v."storeId" = e."storeId" AND v.show = e.show AND v."viewerId" = e."viewerId";

ALTER TABLE "ShowViewer" ALTER COLUMN "firstViewAt" DROP DEFAULT;

-- CreateTable
CREATE TABLE "ShowMoment" (
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "show" INTEGER NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C",
    "hostName" TEXT,
    "hostEmail" TEXT,
    "title" TEXT,

    CONSTRAINT "ShowMoment_pkey" PRIMARY KEY ("storeId","show","id"),
    CONSTRAINT "ShowMoment_kind_check" CHECK ("kind" IN ('PIN', 'HOST', 'SEGMENT', 'MARKER'))
);

-- CreateIndex
-- Events by when they occurred, and VIEWs by when they began, which is not the order of their acceptance: a few times for each 32 pages. It
-- adds a fifth of a percent to what events take. Other types have a value that is no time.
CREATE INDEX "ShowEvent_times_idx" ON "ShowEvent" USING BRIN ("occurredAt" timestamptz_minmax_multi_ops, (CASE WHEN "type" = 1 THEN ("occurredAt" AT TIME ZONE 'UTC') - "value"::float8 * interval '1 second' ELSE "occurredAt" AT TIME ZONE 'UTC' END) timestamp_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
