-- DropIndex
DROP INDEX "IdempotencyKey_createdAt_idx";

-- CreateIndex
CREATE INDEX "IdempotencyKey_storeId_createdAt_idx" ON "IdempotencyKey"("storeId", "createdAt");
