-- AlterTable
ALTER TABLE "StagedProduct" ADD COLUMN     "present" INTEGER;
