import type { Database, RootDatabase } from "../../../database/client.js";
import { rootOf } from "../../../database/shares/forStore.js";
import type { SortPosition } from "../../../database/sql/keyset.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { FieldName } from "../../../files/product/product.fields.js";
import { longBytes, productRow, shortProductRow } from "../product.sql.js";
import { createHash } from "node:crypto";
import { wordsOf } from "../../../lib/words.js";

export interface ProductLimits {
  readonly storeId: string;
  readonly available?: boolean | null | undefined;
  readonly priceMin?: number | null | undefined;
  readonly priceMax?: number | null | undefined;
  /** Only products of this site or of none. */
  readonly siteId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

export interface PageColumns {
  readonly withLongTexts: boolean;
  /** Reads only the size of these texts, as `bytes`. */
  readonly bytesOf?: readonly FieldName[] | undefined;
}

export interface SizedProduct {
  readonly bytes: number;
}

export interface PageLimits extends ProductLimits, PageColumns {
  readonly after: SortPosition | undefined;
  readonly rowsMax: number;
}

/** Scanned before the index is used, because they fill a page if a word is frequent. */
const nearRowsMax = 250;
/** Per square root of the page size. With 100,000 products, scanning these takes as long as fetching all matches. */
const farRowsFactor = 550;

/** The words of `s."searchWords"`, each with the store's mark, as a tsvector; parsing one takes twice as long. */
export function lexemes(storeId: string): Prisma.Sql {
  return Prisma.sql`array_to_tsvector(string_to_array(substr(replace(s."searchWords", ' ', ${` ${storeMark(storeId)}`}), 2), ' '))`;
}

/**
 * Scans by id, and uses the index only if that does not soon fill the page, because all matches of the index must be fetched and
 * sorted for each page.
 */
export async function searchProducts<Row>(db: Database, page: PageLimits, query: SearchQuery): Promise<Row[]> {
  if (page.ids !== undefined) return findMatches(db, page, query);
  const near = await walk<Row>(db, page, query, nearRowsMax);
  if (near.length === page.rowsMax) return near;
  const farRowsMax = Math.ceil(farRowsFactor * Math.sqrt(page.rowsMax));
  if (near.length * farRowsMax >= page.rowsMax * nearRowsMax) {
    const far = await walk<Row>(db, page, query, farRowsMax);
    if (far.length === page.rowsMax) return far;
  }
  return findMatches(db, page, query);
}

/** The limit is a subquery, because otherwise the planner would fetch and sort all products of a store that it believes to be small. */
function walk<Row>(db: Database, page: PageLimits, { all }: SearchQuery, walkedRowsMax: number): Promise<Row[]> {
  return readPage(
    db,
    page,
    Prisma.sql`
    SELECT ${productColumnsOf(page)} FROM (
      SELECT * FROM "Product" WHERE "storeId" = ${page.storeId} ${afterId(page)}
      ORDER BY id LIMIT (SELECT ${walkedRowsMax}::int)) AS walked
    WHERE "searchWords" @@ ${all}::tsquery ${productLimits(page)} ORDER BY id LIMIT ${page.rowsMax}`,
  );
}

/** @param query all products if undefined */
export async function countMatches(
  db: Database,
  page: ProductLimits,
  query: SearchQuery | undefined,
  max: number,
): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM "Product" WHERE ${matching(page, query)} LIMIT ${max}::int) AS found`;
  return row.count;
}

/** Compares keys in a collation without an index, with the same results. */
const otherCollation = Prisma.sql`COLLATE "POSIX"`;

/**
 * The condition for matching products. It makes the planner use the search index whatever size it expects of the store, because the
 * primary key cannot be used and the query is a subquery. If ids are given, these are looked up instead.
 *
 * @param query all products if undefined
 */
export function matching(limits: ProductLimits, query: SearchQuery | undefined): Prisma.Sql {
  const { storeId, ids } = limits;
  if (query === undefined || ids !== undefined) {
    const words = query === undefined ? Prisma.empty : Prisma.sql`AND ${hasWords(query.all)}`;
    return Prisma.sql`"storeId" = ${storeId} ${productLimits(limits)} ${words}`;
  }
  return Prisma.sql`"storeId" = ${storeId} ${otherCollation} ${productLimits(limits)} ${byIndex(query)}`;
}

function findMatches<Row>(db: Database, page: PageLimits, query: SearchQuery): Promise<Row[]> {
  return readPage(
    db,
    page,
    Prisma.sql`
    SELECT ${productColumnsOf(page)} FROM "Product"
    WHERE ${matching(page, query)} ${afterId(page, page.ids === undefined ? otherCollation : Prisma.empty)}
    ORDER BY id LIMIT ${page.rowsMax}`,
  );
}

/** The index finds `indexed`; a function, which has no index, compares the remaining words. */
function byIndex({ all, indexed }: SearchQuery): Prisma.Sql {
  return Prisma.sql`
    AND "searchWords" @@ (SELECT ${indexed}::tsquery)
    ${all === indexed ? Prisma.empty : Prisma.sql`AND ${hasWords(all)}`}`;
}

/** A function, because the planner may use the index for an operator. */
function hasWords(words: string): Prisma.Sql {
  return Prisma.sql`ts_match_vq("searchWords", ${words}::tsquery)`;
}

/** Computes sizes only for the page, because PostgreSQL does not flatten a subquery with a LIMIT. */
export function readPage<Row>(db: Database, { bytesOf }: PageColumns, select: Prisma.Sql): Promise<Row[]> {
  if (bytesOf === undefined) return db.$queryRaw<Row[]>`${select}`;
  return db.$queryRaw<Row[]>`SELECT (${longBytes(bytesOf)})::int AS bytes FROM (${select}) AS page`;
}

export function productColumnsOf({ withLongTexts }: PageColumns): Prisma.Sql {
  return withLongTexts ? productRow : shortProductRow;
}

function afterId(page: PageLimits, collation: Prisma.Sql = Prisma.empty): Prisma.Sql {
  return page.after === undefined ? Prisma.empty : Prisma.sql`AND id > ${page.after.id} ${collation}`;
}

/** A product without a price is outside of all price limits, whatever its variants cost. */
function productLimits({ storeId, available, priceMin, priceMax, siteId, ids }: ProductLimits): Prisma.Sql {
  const parts = [
    ...(typeof available === "boolean" ? [Prisma.sql`available = ${available}`] : []),
    ...(typeof priceMin === "number" ? [Prisma.sql`price >= ${String(priceMin)}::numeric`] : []),
    ...(typeof priceMax === "number" ? [Prisma.sql`price <= ${String(priceMax)}::numeric`] : []),
    ...(siteId === undefined ? [] : [ofSite(storeId, siteId)]),
    ...(ids === undefined ? [] : [Prisma.sql`id = ANY(${ids})`]),
  ];
  return Prisma.join([Prisma.empty, ...parts], " AND ");
}

function ofSite(storeId: string, siteId: string): Prisma.Sql {
  const site = Prisma.sql`SELECT FROM "ProductSite" AS x WHERE x."storeId" = ${storeId} AND x."productId" = id`;
  return Prisma.sql`(EXISTS (${site} AND x."siteId" = ${siteId}) OR NOT EXISTS (${site}))`;
}

const mergedRowsMin = 1_000;
/** Later imports do not delay the merge, so that a busy service does not put it off. It includes what they wrote. */
const mergeAfterMs = 250;

interface Unmerged {
  rows: number;
  timer: NodeJS.Timeout | undefined;
}

const unmerged = new WeakMap<RootDatabase, Unmerged>();

/**
 * Merges the index's pending list in the background after an import's transaction, because every search scans it (16 MB take tens of
 * milliseconds). Otherwise autovacuum or a later import does it.
 */
export function mergeSearchIndexSoon(client: RootDatabase, rows: number): void {
  const db = rootOf(client); // the request ends before this, and all stores share the index
  const state = unmerged.get(db) ?? { rows: 0, timer: undefined };
  unmerged.set(db, state);
  state.rows += rows;
  if (state.rows < mergedRowsMin) return;
  state.timer ??= setTimeout(() => {
    unmerged.delete(db);
    mergeSearchIndex(db).catch(() => undefined); // the database may be closed, or the role may not own the index
  }, mergeAfterMs).unref();
}

/** Merges the pending list now. */
export async function mergeSearchIndex(db: Database): Promise<void> {
  await db.$executeRaw`SELECT gin_clean_pending_list('"Product_search_idx"'::regclass)`;
}

export const searchCharactersMax = 1_000;
const searchWordsMax = 16;
/** Few, because looking up a word that all products have takes milliseconds. */
const indexedWordsMax = 3;
/** Short, because it is stored with each word. It need not be unique. */
const markLength = 6;

export interface SearchQuery {
  /** Each must begin a word of the product. */
  readonly all: string;
  /** The longest words, which tend to be the rarest. */
  readonly indexed: string;
}

/** Prefixes a store's words in the index, so that frequent words of one store do not slow down others. */
export function storeMark(storeId: string): string {
  return createHash("sha256").update(storeId).digest("hex").slice(0, markLength);
}

/** Undefined for a text without words, which cannot match. */
export function searchQuery(storeId: string, text: string): SearchQuery | undefined {
  const words = wordsOf([text]).slice(0, searchWordsMax);
  // A prefix of another word adds nothing.
  const needed = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
  if (needed.length === 0) return undefined;
  const mark = storeMark(storeId);
  const query = (some: readonly string[]) => some.map((word) => `'${mark}${word}':*`).join(" & ");
  const longest = needed.toSorted((one, other) => other.length - one.length).slice(0, indexedWordsMax);
  return { all: query(needed), indexed: query(longest) };
}
