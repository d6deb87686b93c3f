import type { Database, RootDatabase } from "../database/client.js";
import { Prisma } from "../generated/prisma/client.js";
import { type SearchQuery, storeMark } from "./product.search.js";
import { productRow, shortProductRow, type StoredProduct } from "./product.sql.js";

/** What products of a store to find: the first ones, in the order of their ids, of those that match. */
export interface PageLimits {
  readonly storeId: string;
  /** Only products whose id sorts after this one. */
  readonly afterId?: string | undefined;
  readonly available?: boolean | null | undefined;
  readonly rowsMax: number;
  /** Whether the long texts are needed: without them, products have no description and no images. */
  readonly withLongTexts: boolean;
}

/** Rows looked at in the order of ids before the index is asked: they fill a page where a word is frequent. */
const nearRowsMax = 250;
/**
 * Times the root of a page's rows: how many are looked at where the first ones promise that they fill the page. With this
 * many, and 100,000 products, looking at them takes as long as fetching all that match by the index.
 */
const farRowsFactor = 550;

/** What is stored of the text `s."searchWords"` of searchText, as SQL: its words, each with the mark of the store. */
export function lexemes(storeId: string): Prisma.Sql {
  return Prisma.sql`replace(s."searchWords", ' ', ${` ${storeMark(storeId)}`})::tsvector`;
}

/**
 * The products that a search finds. The index knows which these are, but not in what order: it would fetch all of them for
 * each page. So it is asked only where the search matches too few products to find a page of them by looking at some.
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

/** Products whether or not they match a search. */
export function productsInOrder(db: Database, page: PageLimits): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${columns(page)} FROM "Product" WHERE "storeId" = ${page.storeId} ${afterId(page)} ${availability(page)}
    ORDER BY id LIMIT ${page.rowsMax}`;
}

/**
 * What matches among the next products in the order of their ids. The limit of these is a subquery, which the planner does
 * not look into: were it to think that the store has no more products than that, it would fetch and sort them all.
 */
function walk(db: Database, page: PageLimits, { all }: SearchQuery, walkedRowsMax: number): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${columns(page)} FROM (
      SELECT * FROM "Product" WHERE "storeId" = ${page.storeId} ${afterId(page)}
      ORDER BY id LIMIT (SELECT ${walkedRowsMax}::int)) AS walked
    WHERE "searchWords" @@ ${all}::tsquery ${availability(page)} ORDER BY id LIMIT ${page.rowsMax}`;
}

/**
 * All that matches is looked up in the search index, and its first products are taken.
 *
 * The planner must use that index however few products it believes the store to have. So keys are compared by another
 * collation than the primary key's, but with the same result, and the query is a subquery, whose words it does not know.
 * Words that are not looked up are compared by a function, which no index serves.
 */
function findByIndex(db: Database, page: PageLimits, { all, indexed }: SearchQuery): Promise<StoredProduct[]> {
  return db.$queryRaw<StoredProduct[]>`
    SELECT ${columns(page)} FROM "Product"
    WHERE "storeId" = ${page.storeId} COLLATE "POSIX" ${afterId(page, Prisma.sql`COLLATE "POSIX"`)} ${availability(page)}
      AND "searchWords" @@ (SELECT ${indexed}::tsquery)
      ${all === indexed ? Prisma.empty : Prisma.sql`AND ts_match_vq("searchWords", ${all}::tsquery)`}
    ORDER BY id LIMIT ${page.rowsMax}`;
}

function columns({ withLongTexts }: PageLimits): Prisma.Sql {
  return withLongTexts ? productRow : shortProductRow;
}

function afterId(page: PageLimits, collation: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return page.afterId === undefined ? Prisma.empty : Prisma.sql`AND id > ${page.afterId} ${collation}`;
}

function availability({ available }: PageLimits): Prisma.Sql {
  return typeof available === "boolean" ? Prisma.sql`AND available = ${available}` : Prisma.empty;
}

/** Fewer rows do not slow a search enough to be worth the work. */
const mergedRowsMin = 1_000;
/** Imports often follow each other: what they leave is merged together, once none has ended for this long. */
const quietMs = 250;

interface Unmerged {
  rows: number;
  timer: NodeJS.Timeout | undefined;
}

const unmerged = new WeakMap<RootDatabase, Unmerged>();

/**
 * To be called after an import, outside of its transaction. What it wrote stands on the pending list of the search index,
 * which every search of every store reads from end to end: 16 MB of it take tens of milliseconds. It is merged into the
 * index in the background. Where that fails, PostgreSQL does it, by autovacuum or by an import that finds the list full.
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
