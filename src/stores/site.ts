import type { Database } from "../database/client.js";
import { batchLookupsById } from "../database/batchLookups.js";
import { AppError, errorAt } from "../errors.js";
import { canBeKey, nameCharactersMax, textFault } from "../lib/text.js";
import { requireStore } from "./store.js";

/** Empty strings count as not given. */
export interface SiteReference {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
}

/**
 * Undefined without a siteId.
 *
 * @throws {AppError} SITE_NOT_FOUND if the store has no such site, or it has another type
 */
export async function resolveSite(
  db: Database,
  storeId: string,
  { siteId, siteType }: SiteReference,
): Promise<string | undefined> {
  if (!siteId) return undefined;
  const site = canBeKey(siteId) ? await lookUpSite(db, storeId, siteId) : undefined;
  if (site === undefined)
    throw errorAt(
      "SITE_NOT_FOUND",
      "The store has no site with this siteId. An operator adds it with `npx vitrine site add`.",
      ["siteId"],
    );
  if (siteType && site.type !== siteType) {
    throw errorAt("SITE_NOT_FOUND", "The site with this siteId has another siteType.", ["siteType"]);
  }
  return site.id;
}

/** Not findUnique: Prisma would send one query for each store. */
const lookUpSite = batchLookupsById((db, storeId, ids) => db.site.findMany({ where: { storeId, id: { in: ids } } }));

/** @throws {AppError} VALIDATION_FAILED, or NOT_FOUND for an unknown store */
export async function addSite(db: Database, storeId: string, id: string, type: string) {
  await requireStore(db, storeId);
  for (const [name, value] of Object.entries({ site: id, type })) {
    const fault = textFault(value, name, nameCharactersMax);
    if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, [name]);
  }
  const { count } = await db.site.createMany({ data: { storeId, id, type }, skipDuplicates: true });
  if (count === 0) throw errorAt("VALIDATION_FAILED", `Store ${storeId} already has a site ${id}.`, ["site"]);
  return { store: storeId, site: id, type };
}

export interface SiteSummary {
  readonly site: string;
  readonly type: string;
}

/** Ordered by id. @throws {AppError} NOT_FOUND for an unknown store */
export async function listSites(db: Database, storeId: string): Promise<SiteSummary[]> {
  await requireStore(db, storeId);
  const sites = await db.site.findMany({ where: { storeId }, orderBy: { id: "asc" } });
  return sites.map(({ id, type }) => ({ site: id, type }));
}

/** @throws {AppError} NOT_FOUND for an unknown store or site */
export async function countAssignedProducts(db: Database, storeId: string, id: string): Promise<number> {
  await requireStore(db, storeId);
  const site = await db.site.findUnique({ where: { storeId_id: { storeId, id } } });
  if (site === null) throw new AppError("NOT_FOUND", `Store ${storeId} has no site ${id}.`);
  return db.productSite.count({ where: { storeId, siteId: id } });
}

/**
 * Removes a site. Products that were assigned only to it are then sold on all sites of the store.
 *
 * @throws {AppError} NOT_FOUND for an unknown store or site
 */
export async function removeSite(db: Database, storeId: string, id: string) {
  const products = await countAssignedProducts(db, storeId, id);
  await db.site.deleteMany({ where: { storeId, id } });
  return { store: storeId, site: id, products };
}
