import { type SiteReference, resolveSite } from "../access/site.js";
import type { Database } from "../database/client.js";
import { type AppError, errorAt } from "../errors.js";
import type { Product } from "../generated/prisma/client.js";
import { isStorable } from "../text.js";

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
): Promise<Product> {
  const siteId = await resolveSite(db, storeId, site);
  const found = isStorable(productId)
    ? await db.product.findMany({
        where: { storeId, OR: [{ id: productId }, { sku: productId }], ...(siteId !== undefined && ofSite(siteId)) },
      })
    : [];
  const product = found.find(({ id }) => id === productId) ?? found[0];
  if (product === undefined) throw notFound();
  return product;
}

/** Deletes the product that findProduct finds. @throws {AppError} SITE_NOT_FOUND or PRODUCT_NOT_FOUND */
export async function deleteProduct(
  db: Database,
  storeId: string,
  productId: string,
  site: SiteReference = {},
): Promise<{ message: string }> {
  const { id } = await findProduct(db, storeId, productId, site);
  const { count } = await db.product.deleteMany({ where: { storeId, id } });
  if (count === 0) throw notFound(); // another call was faster
  return { message: `Product ${id} was deleted.` };
}

function ofSite(siteId: string) {
  return { AND: { OR: [{ sites: { none: {} } }, { sites: { some: { siteId } } }] } };
}

function notFound(): AppError {
  return errorAt("PRODUCT_NOT_FOUND", "The store has no product with this reference id or SKU.", ["productId"]);
}
