import { resolveSite } from "../../../stores/site.js";
import type { Database, RootDatabase } from "../../../database/client.js";
import type { SortDirection, SortPosition } from "../../../database/sql/keyset.js";
import { asWideRead } from "../../../database/shares/forStore.js";
import { errorAt } from "../../../errors.js";
import { canBeKey, isLongerThan } from "../../../lib/text.js";
import { readsUnblocked } from "../product.lookup.js";
import type { FieldName } from "../../../files/product/product.fields.js";
import { type OrderedProduct, type ProductOrder, productsOrdered } from "./product.sort.js";
import {
  searchCharactersMax,
  searchQuery,
  countMatches,
  searchProducts,
  type SizedProduct,
} from "../search/product.searchIndex.js";

type SortOrder = { readonly orderBy: ProductOrder; readonly direction: SortDirection };

interface ProductFilter {
  readonly search?: string | null | undefined;
  readonly available?: boolean | null | undefined;
  readonly priceMin?: number | null | undefined;
  readonly priceMax?: number | null | undefined;
  readonly siteId?: string | null | undefined;
  /** At most `idsMax`. */
  readonly ids?: readonly string[] | null | undefined;
}

/** As many as a page can have. */
export const idsMax = 100;

/**
 * Called before a page's long texts are read, with the size of the page and a function that finds their bytes in each product. May
 * throw.
 */
export type RequireRoom = (
  first: number,
  sizes: (bytesOf: readonly FieldName[]) => Promise<readonly SizedProduct[]>,
) => Promise<void>;

interface ProductPage extends ProductFilter, Partial<SortOrder> {
  readonly first: number;
  readonly after?: SortPosition | undefined;
  /** False leaves descriptions and images empty, which is much faster. */
  readonly withLongTexts?: boolean;
  readonly requireRoom?: RequireRoom;
}

/**
 * By id unless another order is given; then a page is a wide read, which sorts all matching products. A blank search matches all.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long or too many ids, or SITE_NOT_FOUND
 */
export async function listProducts(
  db: RootDatabase,
  storeId: string,
  { first, after, orderBy = "ID", direction = "ASC", withLongTexts = true, requireRoom, ...filter }: ProductPage,
): Promise<{ nodes: OrderedProduct[]; hasNextPage: boolean }> {
  const matches = await matchesOf(db, storeId, filter);
  if (matches === undefined) return { nodes: [], hasNextPage: false };
  const { query, limits } = matches;
  const read = <Row>(rowsMax: number, bytesOf?: readonly FieldName[]): Promise<Row[]> => {
    const page = { ...limits, orderBy, direction, after, withLongTexts, rowsMax, bytesOf };
    if (orderBy !== "ID") return asWideRead(db, storeId, () => productsOrdered<Row>(db, page, query));
    if (query === undefined || direction === "DESC") return productsOrdered(db, page, query);
    return searchProducts(db, page, query);
  };
  await requireRoom?.(first, (bytesOf) => read(first, bytesOf));
  const products = await read<OrderedProduct>(first + 1);
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

/** Counted up to a maximum. @throws {AppError} as listProducts */
export async function countProducts(
  db: Database,
  storeId: string,
  filter: ProductFilter,
  max: number,
): Promise<number> {
  const matches = await matchesOf(db, storeId, filter);
  return matches === undefined ? 0 : countMatches(db, matches.limits, matches.query, max);
}

/** Undefined if nothing can match. */
async function matchesOf(db: Database, storeId: string, { search, siteId, ids, ...limits }: ProductFilter) {
  const text = search ?? "";
  if (isLongerThan(text, searchCharactersMax)) {
    throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
  }
  const known = idsToFind(ids);
  const site = await resolveSite(db, storeId, { siteId });
  await readsUnblocked(storeId);
  const query = searchQuery(storeId, text);
  if (query === undefined && text.trim() !== "") return undefined;
  return { query, limits: { ...limits, ids: known, storeId, siteId: site } };
}

/** The ids that can be stored; undefined for all products. */
function idsToFind(given: readonly string[] | null | undefined): readonly string[] | undefined {
  if (given === null || given === undefined) return undefined;
  if (given.length <= idsMax) return given.filter(canBeKey);
  throw errorAt("VALIDATION_FAILED", `ids may have at most ${idsMax} items, not ${given.length}.`, ["ids"]);
}
