-- As in the first migration: text that identifies compares byte by byte.

-- AlterTable
ALTER TABLE "AccessToken" ADD COLUMN     "replacedBy" TEXT COLLATE "C";
