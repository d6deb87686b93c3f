import { type SiteReference, resolveSite } from "../../stores/site.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { batchLookups } from "../../database/batchLookups.js";
import { asLocked, isLocked, whenUnlocked } from "../../database/shares/lockWait.js";
import { inTransaction } from "../../database/transaction.js";
import { AppError, errorAt } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { canBeKey } from "../../lib/text.js";
import { briefProductRow, productRow, type StoredProduct } from "./product.sql.js";

const deleteAttemptsMax = 4;
const conditionTimeoutMs = 5_000;

/** Throws for a product that must not be deleted, once it is locked. */
type RequireState = (transaction: Database) => Promise<void>;

/**
 * Finds a product by reference id or else sku; with a site, only among products of that site or of none.
 *
 * @param options `isBrief`: fields other than `briefFields` may be missing
 * @throws {AppError} SITE_NOT_FOUND or PRODUCT_NOT_FOUND
 */
export async function findProduct(
  db: Database,
  storeId: string,
  productId: string,
  site: SiteReference = {},
  { isBrief = false }: { readonly isBrief?: boolean } = {},
): Promise<StoredProduct> {
  const siteId = await resolveSite(db, storeId, site);
  if (!canBeKey(productId)) throw notFound();
  const unblocked = readsUnblocked(storeId);
  if (unblocked !== undefined) await unblocked;
  const product =
    siteId === undefined
      ? await (isBrief ? lookUpBriefProduct : lookUpProduct)(db, storeId, productId)
      : await findInSite(db, storeId, productId, siteId);
  if (product === undefined) throw notFound();
  return product;
}

export interface ProductDeletion {
  /** Reference id of the deleted product. */
  readonly id: string;
  readonly message: string;
}

/**
 * Deletes what findProduct finds.
 *
 * @throws {AppError} SITE_NOT_FOUND or PRODUCT_NOT_FOUND; UNAVAILABLE if its sku kept moving to other products
 */
export async function deleteProduct(
  db: RootDatabase,
  storeId: string,
  productId: string,
  site: SiteReference = {},
  requireState?: RequireState,
): Promise<ProductDeletion> {
  for (let attempt = 1; attempt <= deleteAttemptsMax; attempt += 1) {
    const { id } = await findProduct(db, storeId, productId, site, { isBrief: true });
    const sku = id === productId ? null : productId;
    if (await deleteUnlocked(db, storeId, { id, sku }, requireState))
      return { id, message: `Product ${id} was deleted.` };
  }
  throw modifiedConcurrently();
}

/**
 * Waits for imports that hold a lock on it. Deletions of a store queue, so that only one polls.
 *
 * @returns whether it existed
 */
async function deleteUnlocked(
  db: RootDatabase,
  storeId: string,
  { id, sku }: { id: string; sku: string | null },
  requireState?: RequireState,
): Promise<boolean> {
  const locked = Prisma.sql`
    SELECT id FROM "Product" WHERE "storeId" = ${storeId} AND id = ${id} AND (${sku}::text IS NULL OR sku = ${sku})
    FOR UPDATE NOWAIT`;
  const remove = (client: Database) => client.$executeRaw`DELETE FROM "Product"
    WHERE "storeId" = ${storeId} AND id IN (${locked})`;
  const attempt = () =>
    requireState === undefined
      ? remove(db)
      : inTransaction(db, { timeoutMs: conditionTimeoutMs }, async (transaction) => {
          await asLocked(transaction.$queryRaw(locked));
          await requireState(transaction);
          return remove(transaction);
        });
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

/** Finds products by reference id or else sku, on any site. */
export const lookUpProduct = batchLookupsOf("product_by_id_or_sku", productRow);

const lookUpBriefProduct = batchLookupsOf("brief_product_by_id_or_sku", briefProductRow);

function batchLookupsOf(statement: string, row: Prisma.Sql) {
  const start = Prisma.raw(`/* ${statement} */ SELECT ${row.sql} FROM "Product"`);
  return batchLookups(async (db, storeId, productIds: readonly string[]) => {
    const products = await db.$queryRaw<StoredProduct[]>`${start}
      WHERE "storeId" = ${storeId} AND (id = ANY(${productIds}) OR sku = ANY(${productIds}))`;
    const byId = new Map(products.map((product) => [product.id, product]));
    const bySku = new Map(products.map((product) => [product.sku, product]));
    return (productId): StoredProduct | undefined => byId.get(productId) ?? bySku.get(productId);
  });
}

async function findInSite(db: Database, storeId: string, productId: string, siteId: string) {
  const found = await db.product.findMany({
    where: {
      storeId,
      OR: [{ id: productId }, { sku: productId }],
      // Names the store for each table: see storeStatements.ts.
      AND: { OR: [{ sites: { none: { storeId } } }, { sites: { some: { storeId, siteId } } }] },
    },
  });
  return found.find(({ id }) => id === productId) ?? found[0];
}

function notFound(): AppError {
  return errorAt("PRODUCT_NOT_FOUND", "The store has no product with this reference id or SKU.", ["productId"]);
}

const waitMs = 30_000;

interface Gate {
  imports: number;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

const closed = new Map<string, Gate>();

/** Blocks reads of a store's products during several transactions. */
export async function blockingReads<Result>(storeId: string, work: () => Promise<Result>): Promise<Result> {
  const gate = closed.get(storeId) ?? newGate();
  closed.set(storeId, gate);
  gate.imports += 1;
  try {
    return await work();
  } finally {
    gate.imports -= 1;
    if (gate.imports === 0) {
      closed.delete(storeId);
      gate.open();
    }
  }
}

function newGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { imports: 0, opened, open };
}

/** If defined, readers of the store's products must await it. @throws {AppError} UNAVAILABLE after half a minute */
export function readsUnblocked(storeId: string): Promise<void> | undefined {
  const gate = closed.get(storeId);
  return gate && untilOpened(gate);
}

async function untilOpened({ opened }: Gate): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = "A large import of this store is being stored. Try again in a few seconds.";
    timer = setTimeout(() => reject(new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 })), waitMs);
  });
  await Promise.race([opened, late]).finally(() => clearTimeout(timer));
}
