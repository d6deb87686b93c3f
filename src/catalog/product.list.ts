import type { Database } from "../database/client.js";
import { errorAt } from "../errors.js";
import { isLongerThan } from "../lib/text.js";
import { catalogShown } from "./hiddenCatalog.js";
import { searchCharactersMax, searchQuery } from "./product.search.js";
import { type PageLimits, productsInOrder, searchProducts } from "./product.searchIndex.js";
import type { StoredProduct } from "./product.sql.js";

interface ProductFilter {
  readonly first: number;
  readonly afterId?: string | undefined;
  readonly search?: string | null | undefined;
  readonly available?: boolean | null | undefined;
  /** False leaves descriptions and images empty, which is much faster. */
  readonly withLongTexts?: boolean;
}

/**
 * A page of a store's products in the order of their ids. A blank search matches all.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export async function listProducts(
  db: Database,
  storeId: string,
  { first, afterId, search, available, withLongTexts = true }: ProductFilter,
): Promise<{ nodes: StoredProduct[]; hasNextPage: boolean }> {
  const page = { storeId, afterId, available, rowsMax: first + 1, withLongTexts };
  await catalogShown(storeId);
  const products = await findPage(db, page, search ?? "");
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

function findPage(db: Database, page: PageLimits, search: string): Promise<StoredProduct[]> {
  if (isLongerThan(search, searchCharactersMax)) {
    throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
  }
  if (search.trim() === "") return productsInOrder(db, page);
  const query = searchQuery(page.storeId, search);
  return query === undefined ? Promise.resolve([]) : searchProducts(db, page, query);
}
