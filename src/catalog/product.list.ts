import type { Database } from "../database/client.js";
import { errorAt } from "../errors.js";
import { isLongerThan } from "../lib/text.js";
import { catalogShown } from "./hiddenCatalog.js";
import { searchCharactersMax, searchQuery } from "./product.search.js";
import { countMatches, type PageLimits, productsInOrder, searchProducts } from "./product.searchIndex.js";
import type { StoredProduct } from "./product.sql.js";

interface ProductFilter {
  readonly search?: string | null | undefined;
  readonly available?: boolean | null | undefined;
}

interface ProductPage extends ProductFilter {
  readonly first: number;
  readonly afterId?: string | undefined;
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
  { first, afterId, search, available, withLongTexts = true }: ProductPage,
): Promise<{ nodes: StoredProduct[]; hasNextPage: boolean }> {
  const page = { storeId, afterId, available, rowsMax: first + 1, withLongTexts };
  await catalogShown(storeId);
  const products = await findPage(db, page, search ?? "");
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

/**
 * How many products such a list has, counted up to a maximum.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long
 */
export async function countProducts(
  db: Database,
  storeId: string,
  { search, available }: ProductFilter,
  max: number,
): Promise<number> {
  const text = search ?? "";
  checkSearch(text);
  await catalogShown(storeId);
  const query = searchQuery(storeId, text);
  if (query === undefined && text.trim() !== "") return 0;
  return countMatches(db, { storeId, available }, query, max);
}

function checkSearch(search: string): void {
  if (!isLongerThan(search, searchCharactersMax)) return;
  throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
}

async function findPage(db: Database, page: PageLimits, search: string): Promise<StoredProduct[]> {
  checkSearch(search);
  if (search.trim() === "") return productsInOrder(db, page);
  const query = searchQuery(page.storeId, search);
  return query === undefined ? [] : searchProducts(db, page, query);
}
