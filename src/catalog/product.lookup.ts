import { type SiteReference, resolveSite } from "../access/site.js";
import type { Database } from "../database/client.js";
import { joinLookups } from "../database/joinLookups.js";
import { isLocked, whenUnlocked } from "../database/shares/lockWait.js";
import { AppError, errorAt } from "../errors.js";
import { canBeKey } from "../lib/text.js";
import { catalogShown } from "./hiddenCatalog.js";
import { productRow, type StoredProduct } from "./product.sql.js";

/** How often a product is looked for that is another one by the time it is to be deleted. */
const deleteAttemptsMax = 4;

/**
 * The product that a productId names: its reference id, or else its sku.
 * Where a site is given, only products of that site are seen; one tied to no site belongs to all sites.
 *
 * @throws {AppError} SITE_NOT_FOUND or PRODUCT_NOT_FOUND
 */
export async function findProduct(
  db: Database,
  storeId: string,
  productId: string,
  site: SiteReference = {},
): Promise<StoredProduct> {
  const siteId = await resolveSite(db, storeId, site);
  if (!canBeKey(productId)) throw notFound();
  const shown = catalogShown(storeId);
  if (shown !== undefined) await shown;
  const product =
    siteId === undefined
      ? await lookUpProduct(db, storeId, productId)
      : await findInSite(db, storeId, productId, siteId);
  if (product === undefined) throw notFound();
  return product;
}

/**
 * Deletes the product that findProduct finds: while it still is that one, for products may exchange their skus meanwhile.
 *
 * @throws {AppError} SITE_NOT_FOUND or PRODUCT_NOT_FOUND; UNAVAILABLE where it was another one each time
 */
export async function deleteProduct(
  db: Database,
  storeId: string,
  productId: string,
  site: SiteReference = {},
): Promise<{ message: string }> {
  for (let attempt = 1; attempt <= deleteAttemptsMax; attempt += 1) {
    const { id } = await findProduct(db, storeId, productId, site);
    const sku = id === productId ? null : productId;
    if (await deleteUnlocked(db, storeId, { id, sku })) return { message: `Product ${id} was deleted.` };
  }
  throw modifiedConcurrently();
}

/**
 * Deletes a product once nobody has it locked, as an import that stores it does until it ends. Those of a store that have to
 * wait do so one after the other: that an import holds many products makes no many who ask whether it has ended.
 *
 * @param sku what it must have, where it was found by that
 * @returns whether it was there
 */
async function deleteUnlocked(
  db: Database,
  storeId: string,
  { id, sku }: { id: string; sku: string | null },
): Promise<boolean> {
  const attempt = () => db.$executeRaw`DELETE FROM "Product" WHERE "storeId" = ${storeId} AND id IN (
      SELECT id FROM "Product" WHERE "storeId" = ${storeId} AND id = ${id} AND (${sku}::text IS NULL OR sku = ${sku})
      FOR UPDATE NOWAIT)`;
  try {
    return (await attempt()) > 0;
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  return (await whenUnlocked(`delete ${storeId}`, attempt, { refusal: modifiedConcurrently })) > 0;
}

function modifiedConcurrently(): AppError {
  const message = "The product was modified concurrently. Nothing was deleted.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

/**
 * The product with this reference id or else sku, undefined where there is none; nothing is said of sites.
 */
export const lookUpProduct = joinLookups(async (db, storeId, productIds: readonly string[]) => {
  const products = await db.$queryRaw<StoredProduct[]>`/* product_by_id_or_sku */
    SELECT ${productRow}
    FROM "Product" WHERE "storeId" = ${storeId} AND (id = ANY(${productIds}) OR sku = ANY(${productIds}))`;
  const byId = new Map(products.map((product) => [product.id, product]));
  const bySku = new Map(products.map((product) => [product.sku, product]));
  return (productId) => byId.get(productId) ?? bySku.get(productId);
});

async function findInSite(db: Database, storeId: string, productId: string, siteId: string) {
  const found = await db.product.findMany({
    where: {
      storeId,
      OR: [{ id: productId }, { sku: productId }],
      // The store is told of ties too, though it is that of the product: Citus wants to read it where they are looked up.
      AND: { OR: [{ sites: { none: { storeId } } }, { sites: { some: { storeId, siteId } } }] },
    },
  });
  return found.find(({ id }) => id === productId) ?? found[0];
}

function notFound(): AppError {
  return errorAt("PRODUCT_NOT_FOUND", "The store has no product with this reference id or SKU.", ["productId"]);
}
