import type { Database } from "../../../database/client.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { RowSource } from "../../product.sql.js";
import type { ImportTarget } from "../job.js";
import type { Written } from "../result.js";
import { guardDeletions } from "./mode.js";

/** What REPLACE did, or in a dry run would do. */
export type Removed = Required<Pick<Written, "deleted">> & Pick<Written, "remark">;

interface Replacement {
  readonly target: ImportTarget;
  readonly maxDeletions: number | null | undefined;
  readonly dryRun: boolean;
}

interface Writing {
  readonly now: string;
  readonly stored: number;
  readonly kept: number;
  readonly isShort: boolean;
}

interface RemovalSources {
  readonly rows: RowSource;
  readonly failed?: RowSource | undefined;
  readonly stored: number;
}

/** Products assigned to this site and no other. */
function tiedToSiteAlone(storeId: string, siteId: string): Prisma.Sql {
  return Prisma.sql`SELECT t."productId" FROM "ProductSite" t WHERE t."storeId" = ${storeId}
    GROUP BY t."productId" HAVING count(*) = 1 AND min(t."siteId") = ${siteId}`;
}

/**
 * Removes what an import at `now` has not written: from the store, or from the site to which it assigns its products.
 *
 * @param kept products of the store, or the site, that were written and were there before
 * @param stored products that were written
 * @param isShort whether the import is short, and counts before it deletes, which takes longer
 * @throws {AppError} TOO_MANY_DELETIONS
 */
export async function removeNotWritten(
  transaction: Database,
  { target, ...options }: Replacement,
  { now, stored, kept, isShort }: Writing,
): Promise<Removed> {
  const { storeId, siteId } = target;
  const guard = (removed: number) => guardDeletions({ removed, before: kept + removed, stored }, options);
  const unwritten = Prisma.sql`p."storeId" = ${storeId} AND p."updatedAt" <> ${now}::timestamptz`;
  if (isShort) guard(await countUnwritten(transaction, target, unwritten));
  if (siteId === undefined) {
    const deleted = await transaction.$executeRaw`DELETE FROM "Product" p WHERE ${unwritten}`;
    return withRemark(deleted, guard(deleted));
  }
  const ids = Prisma.sql`SELECT p.id FROM "Product" p WHERE ${unwritten}`;
  const { deleted, unassigned } = await removeProducts(transaction, target, ids);
  return withRemark(deleted, guard(deleted + unassigned));
}

function withRemark(deleted: number, remark: string | undefined): Removed {
  return { deleted, ...(remark !== undefined && { remark }) };
}

async function countUnwritten(
  transaction: Database,
  { storeId, siteId }: ImportTarget,
  unwritten: Prisma.Sql,
): Promise<number> {
  const ofSite =
    siteId === undefined
      ? Prisma.empty
      : Prisma.sql`AND p.id IN (
          SELECT t."productId" FROM "ProductSite" t WHERE t."storeId" = ${storeId} AND t."siteId" = ${siteId})`;
  const [{ removed }] = await transaction.$queryRaw<[{ removed: number }]>`
    SELECT count(*)::int AS removed FROM "Product" p WHERE ${unwritten} ${ofSite}`;
  return removed;
}

/**
 * With a site, removes products from it, and deletes those that were assigned to no other one.
 *
 * @param ids a query of their ids
 * @returns how many were deleted, and how many others were removed from the site
 */
export async function removeProducts(
  transaction: Database,
  { storeId, siteId }: ImportTarget,
  ids: Prisma.Sql,
): Promise<{ readonly deleted: number; readonly unassigned: number }> {
  const ofSite = siteId === undefined ? Prisma.empty : Prisma.sql`AND id IN (${tiedToSiteAlone(storeId, siteId)})`;
  const deleted = await transaction.$executeRaw`
    DELETE FROM "Product" WHERE "storeId" = ${storeId} AND id IN (${ids}) ${ofSite}`;
  if (siteId === undefined) return { deleted, unassigned: 0 };
  const unassigned = await transaction.$executeRaw`
    DELETE FROM "ProductSite" WHERE "storeId" = ${storeId} AND "siteId" = ${siteId} AND "productId" IN (${ids})`;
  return { deleted, unassigned };
}

const removalIds = Prisma.sql`SELECT id FROM "ProductRemoval"`;

/**
 * Collects what an import removes, before its rows are stored: products of the store, or of the site, that no row names.
 *
 * @param rows all rows of the import, those that fail too
 * @param failed rows that fail: they keep the products that have their skus
 * @param stored how many rows do not fail
 * @throws {AppError} TOO_MANY_DELETIONS
 */
export async function collectRemovals(
  transaction: Database,
  { target: { storeId, siteId }, ...options }: Replacement,
  { rows, failed, stored }: RemovalSources,
): Promise<Pick<Written, "remark">> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductRemoval" (id text COLLATE "C" NOT NULL, sku text COLLATE "C" NOT NULL) ON COMMIT DROP`;
  const ofSite =
    siteId === undefined
      ? Prisma.empty
      : Prisma.sql`AND p.id IN (
          SELECT t."productId" FROM "ProductSite" t WHERE t."storeId" = ${storeId} AND t."siteId" = ${siteId})`;
  const before = await transaction.$executeRaw`
    INSERT INTO "ProductRemoval" (id, sku) SELECT p.id, p.sku FROM "Product" p WHERE p."storeId" = ${storeId} ${ofSite}`;
  const named = await transaction.$executeRaw`DELETE FROM "ProductRemoval" r USING ${rows} WHERE s.id = r.id`;
  const kept =
    failed === undefined
      ? 0
      : await transaction.$executeRaw`DELETE FROM "ProductRemoval" r USING ${failed} WHERE s.sku = r.sku`;
  const remark = guardDeletions({ removed: before - named - kept, before, stored }, options);
  return remark === undefined ? {} : { remark };
}

/** See collectRemovals. */
export async function removeNotStaged(
  transaction: Database,
  replacement: Replacement,
  sources: RemovalSources,
): Promise<Removed> {
  const remark = await collectRemovals(transaction, replacement, sources);
  const { deleted } = await removeProducts(transaction, replacement.target, removalIds);
  return { deleted, ...remark };
}

/** How many of the removed products are deleted, and not only removed from the site. */
export async function countDeletions(transaction: Database, { storeId, siteId }: ImportTarget): Promise<number> {
  const ofSite = siteId === undefined ? Prisma.empty : Prisma.sql`WHERE id IN (${tiedToSiteAlone(storeId, siteId)})`;
  const [{ deleted }] = await transaction.$queryRaw<[{ deleted: number }]>`
    SELECT count(*)::int AS deleted FROM "ProductRemoval" ${ofSite}`;
  return deleted;
}

/** Removed products do not keep their skus from the import's rows. */
export async function dropRemovedHolders(transaction: Database, { storeId, siteId }: ImportTarget): Promise<void> {
  const ofSite = siteId === undefined ? Prisma.empty : Prisma.sql`AND h.id IN (${tiedToSiteAlone(storeId, siteId)})`;
  await transaction.$executeRaw`
    DELETE FROM "ProductHolder" h WHERE NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = h.id) ${ofSite}`;
}
