import type { Database } from "../../database/client.js";
import { queryStore } from "../../database/sql/storeStatements.js";
import { Prisma } from "../../generated/prisma/client.js";
import { lexemes } from "../product/search/product.searchIndex.js";
import { assignments, type RowSource, rowValues, writtenColumns } from "../product/product.sql.js";
import type { ImportTarget } from "./importTypes.js";

/** A name for each statement text, none for rare ones: see statementName in database/open.ts. */
const upsertNames = {
  "upsert, ordered": Prisma.raw("/* product_upsert_in_order */"),
  upsert: Prisma.raw("/* product_upsert */"),
  insert: Prisma.raw("/* product_insert */"),
  staged: Prisma.empty,
  "staged, insert": Prisma.empty,
} as const;

const replaceExisting = Prisma.sql`
  ON CONFLICT ("storeId", id) DO UPDATE SET ${assignments}, "searchWords" = EXCLUDED."searchWords", "updatedAt" = EXCLUDED."updatedAt"
  WHERE "Product"."updatedAt" <> EXCLUDED."updatedAt"`;

export type UpsertKind = keyof typeof upsertNames;

export interface UpsertCounts {
  /** Fewer than given if an id occurred in an earlier statement of the import. */
  readonly stored: number;
  readonly created: number;
}

/** Whether the store has no products. Only for a long import, because it excludes all others. */
export async function isCatalogEmpty(transaction: Database, storeId: string): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ isEmpty: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM "Product" WHERE "storeId" = ${storeId}) AS "isEmpty"`;
  return row?.isEmpty === true;
}

/**
 * Inserts or replaces products by id.
 *
 * @param now the time of lockCatalog, unique to this import
 * @param kind concurrent imports write in the order of ids, so that they cannot deadlock. In an empty catalog, an id that occurred
 * before fails, because looking for conflicts would take a fifth of the statement's time
 */
export async function upsertProducts(
  transaction: Database,
  storeId: string,
  rows: RowSource,
  now: string,
  kind: UpsertKind,
): Promise<UpsertCounts> {
  const isInsert = kind === "insert" || kind === "staged, insert";
  const statement = Prisma.sql`${upsertNames[kind]}
    WITH written AS (
      INSERT INTO "Product" ("storeId", ${writtenColumns}, "searchWords", "createdAt", "updatedAt")
      SELECT o.id, ${rowValues}, ${lexemes(storeId)}, ${now}::timestamptz, ${now}::timestamptz
      FROM "Store" AS o, ${rows} WHERE o.id = ${storeId} ${kind === "upsert, ordered" ? Prisma.sql`ORDER BY s.id` : Prisma.empty}
      ${isInsert ? Prisma.empty : replaceExisting}
      RETURNING "createdAt")
    SELECT count(*)::int AS stored, (count(*) FILTER (WHERE "createdAt" = ${now}::timestamptz))::int AS created FROM written`;
  const [counts] = await queryStore<UpsertCounts>(transaction, storeId, statement);
  return counts ?? { stored: 0, created: 0 };
}

/** Assigns the products that the import at `now` wrote to a site. */
export async function assignWritten(
  transaction: Database,
  { storeId, siteId }: ImportTarget,
  now: string,
): Promise<void> {
  if (siteId === undefined) return;
  const written = Prisma.sql`(SELECT p.id FROM "Product" p
    WHERE p."storeId" = ${storeId} AND p."updatedAt" = ${now}::timestamptz) s`;
  await assignToSite(transaction, { storeId, siteId }, written);
}

/** @returns how many of the rows' products were not assigned to the site before */
export async function assignToSite(
  transaction: Database,
  { storeId, siteId }: { readonly storeId: string; readonly siteId: string },
  rows: RowSource,
): Promise<number> {
  const statement = Prisma.sql`
    INSERT INTO "ProductSite" ("storeId", "productId", "siteId") SELECT o.id, s.id, ${siteId}
    FROM "Store" AS o, ${rows} WHERE o.id = ${storeId}
    ON CONFLICT ("storeId", "productId", "siteId") DO NOTHING`;
  const counting = Prisma.sql`WITH assigned AS (${statement} RETURNING 1) SELECT count(*)::int AS assigned FROM assigned`;
  const [row] = await queryStore<{ assigned: number }>(transaction, storeId, counting);
  return row?.assigned ?? 0;
}
