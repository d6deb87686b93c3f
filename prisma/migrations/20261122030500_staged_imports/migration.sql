-- As in the first migration: text that identifies compares byte by byte, and NUMERIC has no bounds.
-- Not UNLOGGED: after a kill, an import that counts already is completed from these rows.

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

    CONSTRAINT "StagedProduct_pkey" PRIMARY KEY ("storeId","importId","line")
);
