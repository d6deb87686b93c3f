-- Written by `npm run migration`, then changed where schema.prisma cannot say what is meant:
--   * Ids and other text that identifies compare byte by byte (COLLATE "C"): the same order on every server, and cheaper than
--     that of a locale.
--   * Numbers are NUMERIC without bounds, so that every finite price that a caller sends, and every sum, is kept exactly.
--   * CHECK constraints stand for enums, which Citus does not take.
--   * The constraint of skus is deferrable, so that one statement may exchange the skus of two products.
--   * The index for the search may collect 16 MB before an import has to merge it (catalog/product.searchMerge.ts merges it
--     after each import, since every search reads what is collected).
--   * Rows that are updated all the time find room for their next version on their own page (fillfactor). A catalog that is
--     imported again is updated in place, where each import would otherwise add entries to all of its indexes.
--   * Rows of slots, of which a show has few, have partial indexes, so that those of slot -1 need not be gone through.
-- No semicolon may stand in a comment, since scripts are split there.

-- CreateTable
CREATE TABLE "Store" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "currency" TEXT,
    "timeZone" TEXT NOT NULL DEFAULT 'UTC',
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attributionRule" TEXT NOT NULL DEFAULT 'AS_SENT',
    "attributionHours" INTEGER NOT NULL DEFAULT 168,
    "recountOrders" INTEGER,
    "recountDone" INTEGER NOT NULL DEFAULT 0,
    "recountBefore" TIMESTAMPTZ(3),
    "recountId" TEXT COLLATE "C" NOT NULL DEFAULT '',

    CONSTRAINT "Store_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Store_attributionRule_check" CHECK ("attributionRule" IN ('AS_SENT', 'LAST_SHOW', 'CART'))
);

-- CreateTable
CREATE TABLE "AccessToken" (
    "id" TEXT COLLATE "C" NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "label" TEXT,
    "hash" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "replacedBy" TEXT COLLATE "C",

    CONSTRAINT "AccessToken_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "AccessToken_scopes_check" CHECK (cardinality("scopes") > 0 AND "scopes" <@ ARRAY['catalog:read', 'catalog:write', 'shows:write', 'events:write', 'analytics:read']::TEXT[])
);

-- CreateTable
CREATE TABLE "PublicKey" (
    "id" TEXT COLLATE "C" NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "label" TEXT,
    "origins" TEXT[] NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "PublicKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Revocation" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "revokedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Revocation_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Site" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT NOT NULL,

    CONSTRAINT "Site_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Product" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "sku" TEXT COLLATE "C" NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "price" NUMERIC,
    "priceMin" NUMERIC,
    "priceMax" NUMERIC,
    "available" BOOLEAN NOT NULL,
    "images" TEXT[] NOT NULL,
    "featuredImage" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "searchWords" TSVECTOR NOT NULL,
    "createdAt" TIMESTAMPTZ(6) NOT NULL,
    "updatedAt" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "Product_pkey" PRIMARY KEY ("storeId","id")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "ProductSite" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "siteId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ProductSite_pkey" PRIMARY KEY ("storeId","productId","siteId")
);

-- CreateTable
CREATE TABLE "IdempotencyKey" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "field" TEXT COLLATE "C" NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("storeId","key","field")
);

-- CreateTable
CREATE TABLE "StagedImport" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "siteId" TEXT COLLATE "C",
    "startedAt" TIMESTAMPTZ(6) NOT NULL,
    "decidedAt" TIMESTAMPTZ(6),
    "appliedLine" INTEGER NOT NULL DEFAULT -1,

    CONSTRAINT "StagedImport_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "StagedProduct" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "importId" TEXT COLLATE "C" NOT NULL,
    "line" INTEGER NOT NULL,
    "id" TEXT COLLATE "C",
    "sku" TEXT COLLATE "C",
    "title" TEXT,
    "description" TEXT,
    "price" NUMERIC,
    "priceMin" NUMERIC,
    "priceMax" NUMERIC,
    "available" BOOLEAN,
    "images" TEXT[],
    "featuredImage" TEXT,
    "url" TEXT,
    "searchWords" TEXT,
    "present" INTEGER,
    "failed" BOOLEAN NOT NULL DEFAULT false,
    "fault" TEXT,
    "holder" TEXT COLLATE "C",
    "blocker" TEXT COLLATE "C",

    CONSTRAINT "StagedProduct_pkey" PRIMARY KEY ("storeId","importId","line")
);

-- CreateTable
CREATE TABLE "LiveStream" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "number" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "durationSeconds" INTEGER,
    "hostName" TEXT,
    "hostEmail" TEXT,
    "prunedAt" TIMESTAMPTZ(3),
    "prunedBefore" TIMESTAMPTZ(3),
    "pruningAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "LiveStream_pkey" PRIMARY KEY ("storeId","id"),
    CONSTRAINT "LiveStream_status_check" CHECK ("status" IN ('SCHEDULED', 'LIVE', 'ENDED', 'ARCHIVED'))
);

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
    "source" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "value" NUMERIC NOT NULL,
    "orderId" TEXT COLLATE "C" NOT NULL,
    "lines" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ShowEvent_pkey" PRIMARY KEY ("storeId","show","id"),
    CONSTRAINT "ShowEvent_type_check" CHECK ("type" BETWEEN 1 AND 6),
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
    "source" TEXT COLLATE "C" NOT NULL,

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
    "refunds" NUMERIC NOT NULL,
    "buyers" BIGINT NOT NULL,
    "engagedViewers" BIGINT NOT NULL,
    "ordersWithoutViewer" BIGINT NOT NULL,

    CONSTRAINT "LiveStreamTotal_pkey" PRIMARY KEY ("storeId","liveStreamId","channel","slot")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "LiveStreamGroup" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "viewers" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "sales" NUMERIC NOT NULL,

    CONSTRAINT "LiveStreamGroup_pkey" PRIMARY KEY ("storeId","liveStreamId","kind","name","slot")
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

-- CreateTable
CREATE TABLE "LiveStreamProduct" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "liveStreamId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "slot" INTEGER NOT NULL,
    "carts" BIGINT NOT NULL,
    "orders" BIGINT NOT NULL,
    "quantity" BIGINT NOT NULL,
    "sales" NUMERIC NOT NULL,

    CONSTRAINT "LiveStreamProduct_pkey" PRIMARY KEY ("storeId","liveStreamId","productId","slot")
) WITH (fillfactor = 50);

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

-- CreateTable
CREATE TABLE "ShopOrder" (
    "placedAt" TIMESTAMPTZ(3) NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "viewerId" BYTEA NOT NULL,
    "claimedBy" BYTEA NOT NULL,
    "lsId" TEXT COLLATE "C" NOT NULL,
    "channel" SMALLINT NOT NULL,
    "isPaid" BOOLEAN NOT NULL,
    "dueAt" TIMESTAMPTZ(3),
    "state" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ShopOrder_pkey" PRIMARY KEY ("storeId","id"),
    CONSTRAINT "ShopOrder_channel_check" CHECK ("channel" BETWEEN 0 AND 3)
) WITH (fillfactor = 75);

-- CreateTable
CREATE TABLE "OrderPart" (
    "placedAt" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "show" INTEGER NOT NULL,
    "place" SMALLINT NOT NULL,
    "channel" SMALLINT NOT NULL,
    "rule" SMALLINT NOT NULL,
    "reason" SMALLINT NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "orderId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "amount" NUMERIC NOT NULL,
    "refunded" NUMERIC NOT NULL,
    "seconds" NUMERIC NOT NULL,
    "lines" TEXT COLLATE "C" NOT NULL,
    "refunds" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "OrderPart_pkey" PRIMARY KEY ("storeId","orderId","place")
) WITH (fillfactor = 75);

-- CreateTable
CREATE TABLE "LateEvent" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "show" INTEGER NOT NULL,
    "id" BYTEA NOT NULL,

    CONSTRAINT "LateEvent_pkey" PRIMARY KEY ("storeId","show","id")
);

-- CreateTable
CREATE TABLE "OrderClaim" (
    "claimedAt" TIMESTAMPTZ(3) NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "orderId" TEXT COLLATE "C" NOT NULL,
    "viewerId" BYTEA NOT NULL,

    CONSTRAINT "OrderClaim_pkey" PRIMARY KEY ("storeId","orderId")
);

-- CreateTable
CREATE TABLE "Hook" (
    "id" TEXT COLLATE "C" NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "from" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Hook_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Hook_from_check" CHECK ("from" IN ('shopify', 'woocommerce'))
);

-- CreateTable
CREATE TABLE "HookFault" (
    "lastAt" TIMESTAMPTZ(3) NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "hookId" TEXT COLLATE "C" NOT NULL,
    "reason" TEXT COLLATE "C" NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "HookFault_pkey" PRIMARY KEY ("storeId","hookId","reason")
);

-- CreateIndex
CREATE UNIQUE INDEX "AccessToken_hash_key" ON "AccessToken"("hash");

-- CreateIndex
CREATE INDEX "AccessToken_storeId_idx" ON "AccessToken"("storeId");

-- CreateIndex
CREATE UNIQUE INDEX "PublicKey_key_key" ON "PublicKey"("key");

-- CreateIndex
CREATE INDEX "PublicKey_storeId_idx" ON "PublicKey"("storeId");

-- CreateIndex
ALTER TABLE "Product" ADD CONSTRAINT "Product_storeId_sku_key" UNIQUE ("storeId", "sku") DEFERRABLE INITIALLY IMMEDIATE;

-- CreateIndex
CREATE INDEX "Product_search_idx" ON "Product" USING GIN ("searchWords") WITH (gin_pending_list_limit = 16384);

-- CreateIndex
CREATE INDEX "ProductSite_storeId_siteId_idx" ON "ProductSite"("storeId", "siteId");

-- CreateIndex
CREATE INDEX "IdempotencyKey_storeId_createdAt_idx" ON "IdempotencyKey"("storeId", "createdAt");

-- CreateIndex
CREATE INDEX "LiveStream_storeId_startedAt_id_idx" ON "LiveStream"("storeId", "startedAt" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "LiveStream_storeId_number_key" ON "LiveStream"("storeId", "number");

-- CreateIndex
CREATE INDEX "LiveStreamSpan_storeId_seconds_startsAt_idx" ON "LiveStreamSpan"("storeId", "seconds", "startsAt");

-- CreateIndex
CREATE INDEX "ShowProductSpan_storeId_show_idx" ON "ShowProductSpan"("storeId", "show");

-- CreateIndex
CREATE INDEX "LiveStreamMinute_slots_idx" ON "LiveStreamMinute" ("storeId", "liveStreamId") WHERE "slot" >= 0;

-- CreateIndex
CREATE INDEX "LiveStreamGroup_slots_idx" ON "LiveStreamGroup" ("storeId", "liveStreamId") WHERE "slot" >= 0;

-- CreateIndex
CREATE INDEX "ShopOrder_storeId_placedAt_id_idx" ON "ShopOrder"("storeId", "placedAt", "id");

-- CreateIndex
CREATE INDEX "ShopOrder_due_idx" ON "ShopOrder" ("storeId", "dueAt") WHERE "dueAt" IS NOT NULL;

-- CreateIndex
CREATE INDEX "ShopOrder_viewer_idx" ON "ShopOrder" ("storeId", (CASE WHEN "viewerId" = '' THEN "claimedBy" ELSE "viewerId" END), "placedAt");

-- CreateIndex
CREATE INDEX "OrderPart_storeId_show_placedAt_orderId_idx" ON "OrderPart"("storeId", "show", "placedAt", "orderId");

-- CreateIndex
CREATE INDEX "OrderClaim_storeId_claimedAt_idx" ON "OrderClaim"("storeId", "claimedAt");

-- CreateIndex
CREATE INDEX "Hook_storeId_idx" ON "Hook"("storeId");

-- AddForeignKey
ALTER TABLE "Revocation" ADD CONSTRAINT "Revocation_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "Site" ADD CONSTRAINT "Site_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ProductSite" ADD CONSTRAINT "ProductSite_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ProductSite" ADD CONSTRAINT "ProductSite_storeId_siteId_fkey" FOREIGN KEY ("storeId", "siteId") REFERENCES "Site"("storeId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "LiveStream" ADD CONSTRAINT "LiveStream_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
