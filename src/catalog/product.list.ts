import type { Database } from "../database/client.js";
import { errorAt } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";
import { isLongerThan } from "../text.js";
import { productRow, type StoredProduct } from "./product.lookup.js";
import { searchCharactersMax, searchQuery } from "./product.search.js";

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
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export async function listProducts(
  db: Database,
  storeId: string,
  { first, afterId, search, available }: ProductFilter,
): Promise<{ nodes: StoredProduct[]; hasNextPage: boolean }> {
  const found = searchCondition(search ?? "");
  if (found === undefined) return { nodes: [], hasNextPage: false };
  const products = await db.$queryRaw<StoredProduct[]>`
    SELECT ${productRow} FROM "Product"
    WHERE "storeId" = ${storeId} ${found}
      ${afterId === undefined ? Prisma.empty : Prisma.sql`AND id > ${afterId}`}
      ${typeof available === "boolean" ? Prisma.sql`AND available = ${available}` : Prisma.empty}
    ORDER BY id LIMIT ${first + 1}`;
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

/** Undefined where nothing can match. Prisma has no words for this condition. */
function searchCondition(search: string): Prisma.Sql | undefined {
  if (isLongerThan(search, searchCharactersMax)) {
    throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
  }
  if (search.trim() === "") return Prisma.empty;
  const query = searchQuery(search);
  return query === undefined ? undefined : Prisma.sql`AND array_to_tsvector("searchWords") @@ ${query}::tsquery`;
}
