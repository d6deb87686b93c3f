import type { Database } from "../database/client.js";
import { Prisma } from "../generated/prisma/client.js";
import { lexemes } from "./product.searchIndex.js";
import { assignments, type RowSource, rowValues, writtenColumns } from "./product.sql.js";

/** Lets statements of this transaction leave skus double between them, as when two products exchange theirs. */
export async function deferSkuCheck(transaction: Database): Promise<void> {
  await transaction.$executeRaw`SET CONSTRAINTS "Product_storeId_sku_key" DEFERRED`;
}

/** Fails, as a statement that breaks the constraint does, if a sku is double now. */
export async function checkSkus(transaction: Database): Promise<void> {
  await transaction.$executeRaw`SET CONSTRAINTS "Product_storeId_sku_key" IMMEDIATE`;
}

/** One name for each text, none for rare ones; see statementName in database/client.ts. */
const upsertNames = {
  sent: Prisma.raw("/* product_upsert */"),
  "sent, in the order of ids": Prisma.raw("/* product_upsert_in_order */"),
  staged: Prisma.empty,
} as const;

export interface UpsertCounts {
  /** Rows written. Fewer than were given if an id stood in an earlier statement of the same import. */
  readonly stored: number;
  /** How many of them are new products. */
  readonly created: number;
}

/**
 * Stores rows, each replacing the product with its id.
 *
 * @param now as lockCatalog gave it. It marks the products that this import wrote: were another one's the same to the
 *   microsecond, fewer rows than given would be written
 * @param kind of rows. Imports that may run beside others take theirs in the order of ids, so that none holds what another
 *   waits for while it waits for what that one holds
 */
export async function upsertProducts(
  transaction: Database,
  storeId: string,
  rows: RowSource,
  now: string,
  kind: keyof typeof upsertNames,
): Promise<UpsertCounts> {
  const [counts] = await transaction.$queryRaw<[UpsertCounts]>`${upsertNames[kind]}
    WITH written AS (
      INSERT INTO "Product" ("storeId", ${writtenColumns}, "searchWords", "createdAt", "updatedAt")
      SELECT ${storeId}, ${rowValues}, ${lexemes(storeId)}, ${now}::timestamptz, ${now}::timestamptz
      FROM ${rows} ${kind === "sent, in the order of ids" ? Prisma.sql`ORDER BY s.id` : Prisma.empty}
      ON CONFLICT ("storeId", id) DO UPDATE SET ${assignments}, "searchWords" = EXCLUDED."searchWords",
        "updatedAt" = EXCLUDED."updatedAt"
      WHERE "Product"."updatedAt" <> EXCLUDED."updatedAt"
      RETURNING "createdAt")
    SELECT count(*)::int AS stored, (count(*) FILTER (WHERE "createdAt" = ${now}::timestamptz))::int AS created FROM written`;
  return counts;
}

/** Ties the products of the rows to a site, in addition to those they are tied to. */
export async function tieToSite(
  transaction: Database,
  storeId: string,
  siteId: string,
  rows: RowSource,
): Promise<void> {
  await transaction.$executeRaw`
    INSERT INTO "ProductSite" ("storeId", "productId", "siteId") SELECT ${storeId}, s.id, ${siteId} FROM ${rows}
    ON CONFLICT ("storeId", "productId", "siteId") DO NOTHING`;
}
