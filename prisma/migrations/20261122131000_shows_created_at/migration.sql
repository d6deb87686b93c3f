-- AlterTable
ALTER TABLE "LiveStream" ADD COLUMN     "createdAt" TIMESTAMPTZ(3);
