-- As in the first migration: text that identifies compares byte by byte.

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

-- CreateIndex
CREATE UNIQUE INDEX "PublicKey_key_key" ON "PublicKey"("key");

-- CreateIndex
CREATE INDEX "PublicKey_storeId_idx" ON "PublicKey"("storeId");
