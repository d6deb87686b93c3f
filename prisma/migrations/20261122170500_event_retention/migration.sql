-- AlterTable
ALTER TABLE "LiveStream" ADD COLUMN "prunedBefore" TIMESTAMPTZ(3),
ADD COLUMN "pruningAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "ShowBase" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "show" INTEGER NOT NULL,
    "channel" SMALLINT NOT NULL,
    "minute" INTEGER NOT NULL,
    "productId" TEXT COLLATE "C" NOT NULL,
    "sales" NUMERIC NOT NULL,
    "orders" BIGINT NOT NULL,
    "carts" BIGINT NOT NULL,
    "seconds" NUMERIC NOT NULL,

    CONSTRAINT "ShowBase_pkey" PRIMARY KEY ("storeId","show","channel","minute","productId")
) WITH (fillfactor = 75);
