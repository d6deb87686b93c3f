import type { Database } from "../../database/client.js";

/** The reference ids of the catalog's products by names that are their ids or, where they are none, skus. */
export async function productsOfNames(
  db: Database,
  storeId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return new Map();
  const products = await db.product.findMany({
    where: { storeId, OR: [{ id: { in: distinct } }, { sku: { in: distinct } }] },
    select: { id: true, sku: true },
  });
  return new Map([
    ...products.map(({ id, sku }) => [sku, id] as const),
    ...products.map(({ id }) => [id, id] as const),
  ]);
}

/** The reference ids of the catalog's products by their skus, as far as there are any. */
export async function productsOfSkus(
  db: Database,
  storeId: string,
  skus: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(skus)];
  if (distinct.length === 0) return new Map();
  const products = await db.product.findMany({
    where: { storeId, sku: { in: distinct } },
    select: { id: true, sku: true },
  });
  return new Map(products.map(({ id, sku }) => [sku, id]));
}
