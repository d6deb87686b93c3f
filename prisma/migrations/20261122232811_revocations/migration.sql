-- Revoked tokens and public keys, with the other rows of their store: on Citus, one node is enough to revoke. Those that
-- were revoked before stay so by their own rows. As in the first migration, text that identifies compares byte by byte.

-- CreateTable
CREATE TABLE "Revocation" (
    "storeId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "revokedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Revocation_pkey" PRIMARY KEY ("storeId","id")
);

-- AddForeignKey
ALTER TABLE "Revocation" ADD CONSTRAINT "Revocation_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
