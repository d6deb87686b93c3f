-- As in the first migration: text that identifies compares byte by byte.

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

-- CreateIndex
CREATE INDEX "IdempotencyKey_createdAt_idx" ON "IdempotencyKey"("createdAt");
