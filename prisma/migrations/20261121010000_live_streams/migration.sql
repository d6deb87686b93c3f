-- As in the first migration: bytewise text keys, and NUMERIC without bounds, so that sums of money and seconds are exact.
-- Rows of totals are updated all the time, and find room for their next version on their own page (fillfactor).

-- CreateTable
CREATE TABLE "LiveStream" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "durationSeconds" INTEGER,
    "hostName" TEXT,
    "hostEmail" TEXT,

    CONSTRAINT "LiveStream_pkey" PRIMARY KEY ("storeId","id"),
    CONSTRAINT "LiveStream_status_check" CHECK ("status" IN ('LIVE', 'ENDED', 'ARCHIVED'))
);

-- CreateTable
CREATE TABLE "ShopperEvent" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "viewerId" TEXT COLLATE "C",
    "device" TEXT COLLATE "C",
    "seconds" NUMERIC,
    "amount" NUMERIC,
    "productId" TEXT COLLATE "C",
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,
    "acceptedAt" TIMESTAMPTZ(6) NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "ShopperEvent_pkey" PRIMARY KEY ("storeId","liveStreamId","id"),
    CONSTRAINT "ShopperEvent_type_check" CHECK ("type" IN ('VIEW', 'ADD_TO_CART', 'ORDER')),
    CONSTRAINT "ShopperEvent_channel_check" CHECK ("channel" IN ('LIVE', 'REPLAY', 'REFERRAL'))
);

-- CreateTable
CREATE TABLE "LiveStreamViewer" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "viewerId" TEXT COLLATE "C" NOT NULL,
    "device" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "LiveStreamViewer_pkey" PRIMARY KEY ("storeId","liveStreamId","channel","viewerId")
);

-- CreateTable
CREATE TABLE "LiveStreamCartViewer" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "viewerId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "LiveStreamCartViewer_pkey" PRIMARY KEY ("storeId","liveStreamId","channel","viewerId")
);

-- CreateTable
CREATE TABLE "LiveStreamPresence" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "viewerId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "LiveStreamPresence_pkey" PRIMARY KEY ("storeId","liveStreamId","minute","viewerId")
);

-- CreateTable
CREATE TABLE "LiveStreamTotal" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "sales" NUMERIC NOT NULL,
    "orders" BIGINT NOT NULL,
    "viewers" BIGINT NOT NULL,
    "cartViewers" BIGINT NOT NULL,
    "viewSeconds" NUMERIC NOT NULL,

    CONSTRAINT "LiveStreamTotal_pkey" PRIMARY KEY ("storeId","liveStreamId","channel","slot")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "LiveStreamDevice" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "device" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "viewers" BIGINT NOT NULL,

    CONSTRAINT "LiveStreamDevice_pkey" PRIMARY KEY ("storeId","liveStreamId","channel","device","slot")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "LiveStreamMinute" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "slot" INTEGER NOT NULL,
    "viewers" BIGINT NOT NULL,
    "carts" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "sales" NUMERIC NOT NULL,

    CONSTRAINT "LiveStreamMinute_pkey" PRIMARY KEY ("storeId","liveStreamId","minute","slot")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "LiveStreamProduct" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "carts" BIGINT NOT NULL,

    CONSTRAINT "LiveStreamProduct_pkey" PRIMARY KEY ("storeId","liveStreamId","productId","slot")
) WITH (fillfactor = 50);

-- CreateIndex
CREATE INDEX "LiveStream_storeId_startedAt_id_idx" ON "LiveStream"("storeId", "startedAt" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "LiveStream" ADD CONSTRAINT "LiveStream_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
