-- Written by `npm run migration`, then changed where schema.prisma cannot say what is meant:
--   * ids and skus compare byte by byte (COLLATE "C"), which is the same order on every server and cheaper than a locale's
--   * prices are NUMERIC without bounds, so that every finite number a caller sends is kept exactly
--   * the sku constraint is deferrable, so that one statement may exchange the skus of two products
--   * the search index finds prefixes of words, and its pending list may grow to 16 MB before an import has to merge it
-- No semicolon may stand in a comment: scripts are split there.

-- CreateTable
CREATE TABLE "Store" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Store_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AccessToken" (
    "id" TEXT COLLATE "C" NOT NULL,
    "storeId" TEXT COLLATE "C" NOT NULL,
    "label" TEXT,
    "hash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "AccessToken_pkey" PRIMARY KEY ("id")
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
    "searchWords" TEXT[] NOT NULL,
    "createdAt" TIMESTAMPTZ(6) NOT NULL,
    "updatedAt" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "Product_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ProductSite" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "siteId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "ProductSite_pkey" PRIMARY KEY ("storeId","productId","siteId")
);

-- CreateIndex
CREATE UNIQUE INDEX "AccessToken_hash_key" ON "AccessToken"("hash");

-- CreateIndex
CREATE INDEX "AccessToken_storeId_idx" ON "AccessToken"("storeId");

-- CreateIndex
ALTER TABLE "Product" ADD CONSTRAINT "Product_storeId_sku_key" UNIQUE ("storeId", "sku") DEFERRABLE INITIALLY IMMEDIATE;

-- CreateIndex
CREATE INDEX "Product_search_idx" ON "Product" USING GIN (array_to_tsvector("searchWords")) WITH (gin_pending_list_limit = 16384);

-- CreateIndex
CREATE INDEX "ProductSite_storeId_siteId_idx" ON "ProductSite"("storeId", "siteId");

-- AddForeignKey
ALTER TABLE "Site" ADD CONSTRAINT "Site_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ProductSite" ADD CONSTRAINT "ProductSite_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "ProductSite" ADD CONSTRAINT "ProductSite_storeId_siteId_fkey" FOREIGN KEY ("storeId", "siteId") REFERENCES "Site"("storeId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
