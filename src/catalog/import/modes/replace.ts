import type { Database } from "../../../database/client.js";
import { withRawParameters, textArrayLiteral } from "../../../database/rawParameters.js";
import { queryStore } from "../../../database/sql/storeStatements.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { RowKeys } from "../../../files/chunk.js";
import type { ImportJob, ImportTarget } from "../importTypes.js";
import { isRemoval, ofImport, type StagedKey } from "../staging/rows.js";
import { excessOf, tooManyDeletions } from "./mode.js";

/** Products assigned only to this site. */
export function tiedToSiteAlone(storeId: string, siteId: string): Prisma.Sql {
  return Prisma.sql`SELECT t."productId" FROM "ProductSite" t WHERE t."storeId" = ${storeId}
    GROUP BY t."productId" HAVING count(*) = 1 AND min(t."siteId") = ${siteId}`;
}

function ofSite({ storeId, siteId }: ImportTarget): Prisma.Sql {
  if (siteId === undefined) return Prisma.empty;
  return Prisma.sql`AND p.id IN (
    SELECT x."productId" FROM "ProductSite" x WHERE x."storeId" = ${storeId} AND x."siteId" = ${siteId})`;
}

interface Removals {
  /** Products that the import removes from the store, or from the site. */
  readonly removed: number;
  /** How many of these are deleted, and not only removed from the site. */
  readonly deleted: number;
  /** Products of the store, or the site. */
  readonly before: number;
}

/**
 * Stages the removal of each product of the store, or of the site, that no row names, after all other rows. Failed rows also keep the
 * products with their skus.
 */
export async function stageRemovals(transaction: Database, key: StagedKey, target: ImportTarget): Promise<Removals> {
  const { storeId, importId } = key;
  const [{ removed } = { removed: 0 }] = await queryStore<{ removed: number }>(
    transaction,
    storeId,
    Prisma.sql`WITH removal AS (
      INSERT INTO "StagedProduct" ("storeId", "importId", line, id)
      SELECT o.id, ${importId}, row_number() OVER (ORDER BY p.id) + (
        SELECT coalesce(max(s.line), 0) FROM "StagedProduct" s WHERE ${ofImport("s", key)}), p.id
      FROM "Store" o, "Product" p WHERE o.id = ${storeId} AND p."storeId" = o.id ${ofSite(target)}
        AND NOT EXISTS (SELECT FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND s.id = p.id)
        AND NOT EXISTS (SELECT FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND s.failed AND s.sku = p.sku)
      RETURNING 1)
    SELECT count(*)::int AS removed FROM removal`,
  );
  if (removed === 0) return { removed, deleted: 0, before: 0 };
  const [{ before }] = await transaction.$queryRaw<[{ before: number }]>`
    SELECT count(*)::int AS before FROM "Product" p WHERE p."storeId" = ${storeId} ${ofSite(target)}`;
  return { removed, deleted: await countDeletions(transaction, key, { target, removed }), before };
}

async function countDeletions(
  transaction: Database,
  key: StagedKey,
  { target: { storeId, siteId }, removed }: { readonly target: ImportTarget; readonly removed: number },
): Promise<number> {
  if (siteId === undefined) return removed;
  const [{ deleted }] = await transaction.$queryRaw<[{ deleted: number }]>`
    SELECT count(*)::int AS deleted FROM "StagedProduct" s
    WHERE ${ofImport("s", key)} AND ${isRemoval} AND s.id IN (${tiedToSiteAlone(storeId, siteId)})`;
  return deleted;
}

interface Replaced {
  /** The time of the import. */
  readonly now: string;
  readonly stored: number;
  /** Products that the store, or the site, did not have before. */
  readonly added: number;
  /** Failed rows, which keep the products with their ids or skus. */
  readonly kept: readonly RowKeys[];
}

/**
 * Removes each product of the store, or of the site, that the import did not write.
 *
 * @returns how many were deleted, and not only removed from the site
 * @throws {AppError} TOO_MANY_DELETIONS
 */
export function removeOthers(
  transaction: Database,
  { target, maxDeletions }: Pick<ImportJob, "target" | "maxDeletions">,
  { now, stored, added, kept }: Replaced,
): Promise<number> {
  const { storeId, siteId } = target;
  return withRawParameters(async (bind) => {
    const keys = keysOfInvalid(kept, bind);
    const isOther = Prisma.sql`p."updatedAt" <> ${now}::timestamptz
      AND NOT EXISTS (SELECT FROM ${keys} WHERE k.id = p.id) AND NOT EXISTS (SELECT FROM ${keys} WHERE k.sku = p.sku)`;
    const isDeleted =
      siteId === undefined ? isOther : Prisma.sql`${isOther} AND p.id IN (${tiedToSiteAlone(storeId, siteId)})`;
    const products = Prisma.sql`FROM "Product" p WHERE p."storeId" = ${storeId} ${ofSite(target)}`;
    const [{ all, removed, deleted }] = await transaction.$queryRaw<
      [{ all: number; removed: number; deleted: number }]
    >`
      SELECT count(*)::int AS "all", (count(*) FILTER (WHERE ${isOther}))::int AS removed,
        (count(*) FILTER (WHERE ${isDeleted}))::int AS deleted ${products}`;
    const excess = excessOf({ removed, before: all - added, stored }, maxDeletions);
    if (excess !== undefined) throw tooManyDeletions(excess);
    if (removed > 0) await removeProducts(transaction, target, Prisma.sql`SELECT p.id ${products} AND ${isOther}`);
    return deleted;
  });
}

/**
 * Deletes products of the store. With a site, removes them from it, and deletes those that no other site has.
 *
 * @param ids a query of their ids
 */
export async function removeProducts(
  transaction: Database,
  { storeId, siteId }: ImportTarget,
  ids: Prisma.Sql,
): Promise<void> {
  const alone = siteId === undefined ? Prisma.empty : Prisma.sql`AND id IN (${tiedToSiteAlone(storeId, siteId)})`;
  await transaction.$executeRaw`
    DELETE FROM "Product" WHERE "storeId" = ${storeId} AND id IN (${ids}) ${alone}`;
  if (siteId === undefined) return;
  await transaction.$executeRaw`
    DELETE FROM "ProductSite" WHERE "storeId" = ${storeId} AND "siteId" = ${siteId} AND "productId" IN (${ids})`;
}

/** The keys of invalid rows as a relation `k`. */
function keysOfInvalid(invalid: readonly RowKeys[], bind: (value: string) => string): Prisma.Sql {
  const column = (name: "id" | "sku") => bind(textArrayLiteral(invalid.map((row) => row[name] ?? null)));
  return Prisma.sql`(SELECT unnest(${column("id")}::text[]) AS id, unnest(${column("sku")}::text[]) AS sku) k`;
}

/**
 * Whether invalid rows share keys with each other, with rows that the import at `now` wrote, or with other products of the store: then
 * further rows fail, or these have further problems.
 */
export async function contradict(
  transaction: Database,
  storeId: string,
  invalid: readonly RowKeys[],
  now: string,
): Promise<boolean> {
  if (isDoubled(invalid.map(({ id }) => id)) || isDoubled(invalid.map(({ sku }) => sku))) return true;
  const [row] = await withRawParameters(
    (bind) => transaction.$queryRaw<{ found: boolean }[]>`
      SELECT EXISTS (
        SELECT FROM "Product" p JOIN ${keysOfInvalid(invalid, bind)} ON k.id = p.id
        WHERE p."storeId" = ${storeId} AND p."updatedAt" = ${now}::timestamptz)
      OR EXISTS (
        SELECT FROM "Product" p JOIN ${keysOfInvalid(invalid, bind)} ON k.sku = p.sku
        WHERE p."storeId" = ${storeId} AND (p."updatedAt" = ${now}::timestamptz OR p.id IS DISTINCT FROM k.id)) AS found`,
  );
  return row?.found === true;
}

function isDoubled(keys: readonly (string | undefined)[]): boolean {
  const given = keys.filter((key) => key !== undefined);
  return new Set(given).size < given.length;
}
