-- AlterTable
ALTER TABLE "LiveStream" ADD COLUMN     "prunedAt" TIMESTAMPTZ(3);
