import { resolveSite } from "../access/stores/site.js";
import type { Database, RootDatabase } from "../database/client.js";
import { asWideRead } from "../database/shares/shares.js";
import { errorAt } from "../errors.js";
import { canBeKey, isLongerThan } from "../lib/text.js";
import { readsUnblocked } from "./readGate.js";
import { type OrderedProduct, type ProductOrder, productsOrdered } from "./product.order.js";
import { searchCharactersMax, searchQuery } from "./product.search.js";
import {
  countMatches,
  type PageLimits,
  productsInOrder,
  searchProducts,
  type SizedProduct,
} from "./product.searchIndex.js";
import type { LongField, StoredProduct } from "./product.sql.js";

interface ProductFilter {
  readonly search?: string | null | undefined;
  readonly available?: boolean | null | undefined;
  readonly priceMin?: number | null | undefined;
  readonly priceMax?: number | null | undefined;
  readonly siteId?: string | null | undefined;
  /** At most `idsMax`. */
  readonly ids?: readonly string[] | null | undefined;
}

/** A page can have all of them. */
export const idsMax = 100;

/**
 * Called before a page's long texts are read, with the size of the page and a function that finds how many bytes they
 * have in each product; may throw.
 */
export type RequireRoom = (
  first: number,
  sizes: (bytesOf: readonly LongField[]) => Promise<readonly SizedProduct[]>,
) => Promise<void>;

interface ProductPage extends ProductFilter {
  readonly first: number;
  readonly requireRoom?: RequireRoom;
  readonly afterId?: string | undefined;
  /** False leaves descriptions and images empty, which is much faster. */
  readonly withLongTexts?: boolean;
}

/**
 * Ordered by id. A blank search matches all.
 *
 * @throws {AppError} VALIDATION_FAILED for a search that is too long or too many ids, or SITE_NOT_FOUND
 */
export async function listProducts(
  db: Database,
  storeId: string,
  { first, search, siteId, ids: given, withLongTexts = true, requireRoom, ...limits }: ProductPage,
): Promise<{ nodes: StoredProduct[]; hasNextPage: boolean }> {
  const ids = idsToFind(given);
  const site = await resolveSite(db, storeId, { siteId });
  const page = { ...limits, ids, storeId, siteId: site, rowsMax: first + 1, withLongTexts };
  await readsUnblocked(storeId);
  await requireRoom?.(first, (bytesOf) => findPage(db, { ...page, rowsMax: first, bytesOf }, search ?? ""));
  const products = await findPage<StoredProduct>(db, page, search ?? "");
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

/** Counted up to a maximum. @throws {AppError} as listProducts */
export async function countProducts(
  db: Database,
  storeId: string,
  { search, siteId, ids: given, ...limits }: ProductFilter,
  max: number,
): Promise<number> {
  const text = search ?? "";
  checkSearch(text);
  const ids = idsToFind(given);
  const site = await resolveSite(db, storeId, { siteId });
  await readsUnblocked(storeId);
  const query = searchQuery(storeId, text);
  if (query === undefined && text.trim() !== "") return 0;
  return countMatches(db, { ...limits, ids, storeId, siteId: site }, query, max);
}

interface OrderedProductPage extends ProductFilter {
  readonly first: number;
  readonly after: SortPosition | undefined;
  readonly orderBy: ProductOrder;
  readonly direction: "ASC" | "DESC";
  readonly withLongTexts: boolean;
  readonly requireRoom?: RequireRoom;
}

/**
 * By other fields than the id, a page is a wide read: all products that match are sorted.
 *
 * @throws {AppError} as listProducts
 */
export async function listOrderedProducts(
  db: RootDatabase,
  storeId: string,
  { first, search, siteId, ids: given, requireRoom, ...order }: OrderedProductPage,
): Promise<{ nodes: OrderedProduct[]; hasNextPage: boolean }> {
  const text = search ?? "";
  checkSearch(text);
  const ids = idsToFind(given);
  const site = await resolveSite(db, storeId, { siteId });
  await readsUnblocked(storeId);
  const query = searchQuery(storeId, text);
  if (query === undefined && text.trim() !== "") return { nodes: [], hasNextPage: false };
  const page = { ...order, ids, storeId, siteId: site, rowsMax: first + 1 };
  const inShare = <Rows>(read: () => Promise<Rows>) =>
    order.orderBy === "ID" ? read() : asWideRead(db, storeId, read);
  await requireRoom?.(first, (bytesOf) =>
    inShare(() => productsOrdered(db, { ...page, rowsMax: first, bytesOf }, query)),
  );
  const products = await inShare(() => productsOrdered<OrderedProduct>(db, page, query));
  return { nodes: products.slice(0, first), hasNextPage: products.length > first };
}

interface SortPosition {
  readonly value: string;
  readonly id: string;
}

function checkSearch(search: string): void {
  if (!isLongerThan(search, searchCharactersMax)) return;
  throw errorAt("VALIDATION_FAILED", `search must have at most ${searchCharactersMax} characters.`, ["search"]);
}

/** Those that can be stored; undefined where all products are meant. */
function idsToFind(given: readonly string[] | null | undefined): readonly string[] | undefined {
  if (given === null || given === undefined) return undefined;
  if (given.length <= idsMax) return given.filter(canBeKey);
  throw errorAt("VALIDATION_FAILED", `ids may have at most ${idsMax} items, not ${given.length}.`, ["ids"]);
}

async function findPage<Row>(db: Database, page: PageLimits, search: string): Promise<Row[]> {
  checkSearch(search);
  if (search.trim() === "") return productsInOrder(db, page);
  const query = searchQuery(page.storeId, search);
  return query === undefined ? [] : searchProducts(db, page, query);
}
