import type { Database, RootDatabase } from "../database/client.js";
import { Prisma } from "../generated/prisma/client.js";
import { type SearchQuery, storeMark } from "./product.search.js";
import { productRow, shortProductRow, type StoredProduct } from "./product.sql.js";

/** Which products are listed. */
export interface ProductLimits {
  readonly storeId: string;
  readonly available?: boolean | null | undefined;
  readonly priceMin?: number | null | undefined;
  readonly priceMax?: number | null | undefined;
  /** Only products of this site or of none. */
  readonly siteId?: string | undefined;
}

export interface PageLimits extends ProductLimits {
  readonly afterId?: string | undefined;
  readonly rowsMax: number;
  readonly withLongTexts: boolean;
}

/** Rows scanned before the index is used: they fill a page if a word is frequent. */
const nearRowsMax = 250;
/** Rows scanned per square root of the page size. With 100,000 products this takes as long as fetching all matches. */
const farRowsFactor = 550;

/** The SQL of the stored words: those of `s."searchWords"`, each with the mark of the store. */
export function lexemes(storeId: string): Prisma.Sql {
  return Prisma.sql`replace(s."searchWords", ' ', ${` ${storeMark(storeId)}`})::tsvector`;
}

/**
 * The index gives matches in no order, so all must be fetched for each page: it is used only where scanning by id does
 * not fill a page soon.
 */
export async function searchProducts(db: Database, page: PageLimits, query: SearchQuery): Promise<StoredProduct[]> {
  const near = await walk(db, page, query, nearRowsMax);
  if (near.length === page.rowsMax) return near;
  const farRowsMax = Math.ceil(farRowsFactor * Math.sqrt(page.rowsMax));
  if (near.length * farRowsMax >= page.rowsMax * nearRowsMax) {
    const far = await walk(db, page, query, farRowsMax);
    if (far.length === page.rowsMax) return far;
  }
  return findByIndex(db, page, query);
}

export function productsInOrder(db: Database, page: PageLimits): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${productColumnsOf(page)} FROM "Product" WHERE "storeId" = ${page.storeId} ${afterId(page)} ${productLimits(page)}
    ORDER BY id LIMIT ${page.rowsMax}`;
}

/**
 * The limit is a subquery to hide it from the planner, which would otherwise fetch and sort all products of a store
 * that it believes to be small.
 */
function walk(db: Database, page: PageLimits, { all }: SearchQuery, walkedRowsMax: number): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${productColumnsOf(page)} FROM (
      SELECT * FROM "Product" WHERE "storeId" = ${page.storeId} ${afterId(page)}
      ORDER BY id LIMIT (SELECT ${walkedRowsMax}::int)) AS walked
    WHERE "searchWords" @@ ${all}::tsquery ${productLimits(page)} ORDER BY id LIMIT ${page.rowsMax}`;
}

/** How many products match, counted up to a maximum. @param query all products if undefined */
export async function countMatches(
  db: Database,
  page: ProductLimits,
  query: SearchQuery | undefined,
  max: number,
): Promise<number> {
  const matches = query === undefined ? Prisma.empty : byIndex(query);
  const [row] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM "Product" WHERE "storeId" = ${page.storeId} ${query === undefined ? Prisma.empty : otherCollation}
        ${productLimits(page)} ${matches} LIMIT ${max}::int) AS found`;
  return row.count;
}

/** Keeps the planner from the primary key, as findByIndex explains. */
export const otherCollation = Prisma.sql`COLLATE "POSIX"`;

/**
 * Makes the planner use the search index whatever it believes of the store's size: keys are compared in another
 * collation than the primary key's, with equal results, and the query is a subquery of unknown words. Remaining words
 * are compared by a function, which no index serves.
 */
function findByIndex(db: Database, page: PageLimits, query: SearchQuery): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${productColumnsOf(page)} FROM "Product"
    WHERE "storeId" = ${page.storeId} ${otherCollation} ${afterId(page, otherCollation)} ${productLimits(page)} ${byIndex(query)}
    ORDER BY id LIMIT ${page.rowsMax}`;
}

/** What the search index finds. */
export function byIndex({ all, indexed }: SearchQuery): Prisma.Sql {
  return Prisma.sql`
    AND "searchWords" @@ (SELECT ${indexed}::tsquery)
    ${all === indexed ? Prisma.empty : Prisma.sql`AND ts_match_vq("searchWords", ${all}::tsquery)`}`;
}

export function productColumnsOf({ withLongTexts }: Pick<PageLimits, "withLongTexts">): Prisma.Sql {
  return withLongTexts ? productRow : shortProductRow;
}

function afterId(page: PageLimits, collation: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return page.afterId === undefined ? Prisma.empty : Prisma.sql`AND id > ${page.afterId} ${collation}`;
}

/** A price is compared, not those of variants: a product without one is outside of any bounds. */
export function productLimits({ storeId, available, priceMin, priceMax, siteId }: ProductLimits): Prisma.Sql {
  const parts = [
    ...(typeof available === "boolean" ? [Prisma.sql`available = ${available}`] : []),
    ...(typeof priceMin === "number" ? [Prisma.sql`price >= ${String(priceMin)}::numeric`] : []),
    ...(typeof priceMax === "number" ? [Prisma.sql`price <= ${String(priceMax)}::numeric`] : []),
    ...(siteId === undefined ? [] : [ofSite(storeId, siteId)]),
  ];
  return Prisma.join([Prisma.empty, ...parts], " AND ");
}

function ofSite(storeId: string, siteId: string): Prisma.Sql {
  const site = Prisma.sql`SELECT FROM "ProductSite" AS x WHERE x."storeId" = ${storeId} AND x."productId" = id`;
  return Prisma.sql`(EXISTS (${site} AND x."siteId" = ${siteId}) OR NOT EXISTS (${site}))`;
}

const mergedRowsMin = 1_000;
const quietMs = 250;

interface Unmerged {
  rows: number;
  timer: NodeJS.Timeout | undefined;
}

const unmerged = new WeakMap<RootDatabase, Unmerged>();

/**
 * To be called after the transaction of an import. Every search scans the pending list of the index: 16 MB take tens of
 * milliseconds. So it is merged in the background; otherwise autovacuum or a later import does it.
 */
export function mergeSearchIndexSoon(db: RootDatabase, rows: number): void {
  const state = unmerged.get(db) ?? { rows: 0, timer: undefined };
  unmerged.set(db, state);
  state.rows += rows;
  if (state.rows < mergedRowsMin) return;
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.rows = 0;
    merge(db).catch(() => undefined); // the database may be closed, or its role not own the index
  }, quietMs).unref();
}

async function merge(db: RootDatabase): Promise<void> {
  await db.$executeRaw`SELECT gin_clean_pending_list('"Product_search_idx"'::regclass)`;
}
