-- AlterTable
ALTER TABLE "ShopOrder" ADD COLUMN     "alsoClaimedBy" BYTEA NOT NULL DEFAULT '\x';

-- AlterTable
ALTER TABLE "OrderClaim" ADD COLUMN     "formerId" BYTEA NOT NULL DEFAULT '\x';

-- CreateIndex
CREATE INDEX "ShopOrder_alsoClaimedBy_idx" ON "ShopOrder" ("storeId", "alsoClaimedBy", "placedAt") WHERE "alsoClaimedBy" <> '';
