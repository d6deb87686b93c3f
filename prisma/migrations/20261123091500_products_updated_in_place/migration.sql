-- Half of each page of products stays free for the next versions of its rows. A catalog that is imported again is then
-- updated in place (PostgreSQL: heap-only tuples): its indexes are left alone, where each import would add entries for all
-- products. Pages that exist are used up first.

ALTER TABLE "Product" SET (fillfactor = 50);
