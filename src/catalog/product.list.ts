import { type Database } from "../database/client.js";
import { Prisma, type Product } from "../generated/prisma/client.js";
import { searchQuery } from "./product.search.js";

interface ProductFilter {
  readonly first: number;
  /** Only products whose id sorts after this one. */
  readonly afterId?: string | undefined;
  readonly search?: string | null | undefined;
  readonly available?: boolean | null | undefined;
}

/**
 * A page of a store's products in the order of their ids, which never changes under a reader.
 * A blank search is no search.
 */
export async function listProducts(db: Database, storeId: string, filter: ProductFilter) {
  const { first, afterId, search, available } = filter;
  const found = search?.trim() ? await searchIds(db, storeId, filter, search) : undefined;
  const products = await db.product.findMany({
    where: {
      storeId,
      ...(found !== undefined && { id: { in: found } }),
      ...(found === undefined && afterId !== undefined && { id: { gt: afterId } }),
      ...(found === undefined && typeof available === "boolean" && { available }),
    },
    orderBy: { id: "asc" },
    take: first + 1,
  });
  return page(products, first);
}

function page(products: readonly Product[], first: number) {
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

/** Ids from the search index, one more than the page holds. Prisma has no words for this condition. */
async function searchIds(
  db: Database,
  storeId: string,
  { first, afterId, available }: ProductFilter,
  search: string,
): Promise<string[]> {
  const query = searchQuery(search);
  if (query === undefined) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Product"
    WHERE "storeId" = ${storeId} AND array_to_tsvector("searchWords") @@ ${query}::tsquery
      ${afterId === undefined ? Prisma.empty : Prisma.sql`AND id > ${afterId}`}
      ${typeof available === "boolean" ? Prisma.sql`AND available = ${available}` : Prisma.empty}
    ORDER BY id LIMIT ${first + 1}`;
  return rows.map(({ id }) => id);
}
