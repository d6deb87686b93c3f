-- Words for the search carry a mark of their store, so that a search reads what the index holds of its own store alone,
-- and are kept as the tsvector that they were turned into for each row looked at. The mark is storeMark of
-- catalog/product.search.ts.
-- Every search reads the pending list of the index besides the index, whoever's rows are on it. It may grow to 16 MB while
-- an import goes on, and is merged after it (catalog/product.searchMerge.ts).
-- Prisma would drop the column and add it again, without what it held.

-- DropIndex
DROP INDEX "Product_search_idx";

-- AlterTable
ALTER TABLE "Product" ALTER COLUMN "searchWords" TYPE TSVECTOR USING replace(
    rtrim(' ' || array_to_string("searchWords", ' ')), ' ',
    ' ' || left(encode(sha256(convert_to("storeId", 'UTF8')), 'hex'), 6))::tsvector;

-- CreateIndex
CREATE INDEX "Product_search_idx" ON "Product" USING GIN ("searchWords") WITH (gin_pending_list_limit = 16384);
