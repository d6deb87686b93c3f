import type { Database } from "../../../database/client.js";
import type { Problem } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { clip } from "../../../lib/text.js";
import { chunkRowsMax } from "../../reading/chunkRows.js";
import { fieldBits, type Place, requiredBits } from "../../product.input.js";
import { charactersMax } from "../../product.rules.js";
import { anyFields, patchProducts } from "../../product.patch.js";
import type { RowSource } from "../../product.sql.js";

/**
 * Looks up the products that staged rows of a patch name: rows get their ids, or a fault. Rows of new products become
 * those of an upsert, where they have all required fields.
 */
export async function resolvePatches(transaction: Database, storeId: string): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductPatched" (
      id text COLLATE "C" NOT NULL, sku text COLLATE "C" NOT NULL, "priceMin" numeric, "priceMax" numeric) ON COMMIT DROP`;
  for (const named of [
    Prisma.sql`p.id IN (SELECT s.id FROM "ProductStaging" s WHERE s.id IS NOT NULL)`,
    Prisma.sql`p.sku IN (SELECT s.sku FROM "ProductStaging" s WHERE s.id IS NULL)`,
  ]) {
    await transaction.$executeRaw`
      INSERT INTO "ProductPatched" (id, sku, "priceMin", "priceMax")
      SELECT p.id, p.sku, p."priceMin", p."priceMax" FROM "Product" p WHERE p."storeId" = ${storeId} AND ${named}`;
  }
  await transaction.$executeRaw`
    UPDATE "ProductStaging" s SET id = t.id FROM "ProductPatched" t
    WHERE s.id IS NULL AND t.sku = s.sku`;
  await transaction.$executeRaw`
    UPDATE "ProductStaging" s SET present = CASE WHEN s.present & ${requiredBits} = ${requiredBits} THEN NULL ELSE s.present END,
      fault = CASE WHEN s.present & ${requiredBits} = ${requiredBits} THEN NULL ELSE 'missing' END
    WHERE s.present IS NOT NULL AND NOT EXISTS (SELECT FROM "ProductPatched" t WHERE t.id = s.id)`;
  const given = (bit: number) => Prisma.raw(`s.present & ${bit} <> 0`);
  await transaction.$executeRaw`
    UPDATE "ProductStaging" s SET fault = 'prices' FROM "ProductPatched" t
    WHERE t.id = s.id AND s.present IS NOT NULL AND
      CASE WHEN ${given(fieldBits.price_min)} THEN s."priceMin" ELSE t."priceMin" END >
      CASE WHEN ${given(fieldBits.price_max)} THEN s."priceMax" ELSE t."priceMax" END`;
}

interface PatchFault {
  readonly line: number;
  readonly fault: "missing" | "prices";
  readonly field: "id" | "sku" | "price_min";
  readonly value: string | null;
}

/** Staged rows of a patch whose product is missing, or would have a price_min above its price_max. */
export async function findPatchFaults(
  transaction: Database,
  listMax: number,
): Promise<{ readonly list: readonly PatchFault[]; readonly total: number }> {
  const list = await transaction.$queryRaw<(PatchFault & { total: number })[]>`
    SELECT line, fault, CASE WHEN fault = 'prices' THEN 'price_min' WHEN id IS NULL THEN 'sku' ELSE 'id' END AS field,
      coalesce(id, sku) AS value, (count(*) OVER ())::int AS total
    FROM "ProductStaging" WHERE fault IS NOT NULL ORDER BY line LIMIT ${listMax}`;
  return { list, total: list[0]?.total ?? 0 };
}

export function patchProblem({ fault, field, value }: PatchFault, place: Place): Problem {
  if (fault === "prices") {
    const message = "price_min must not be above price_max, but the product would have such prices.";
    return { code: "INVALID_VALUE", message, ...place };
  }
  const message = `The store has no product with the ${field} ${JSON.stringify(clip(value ?? ""))}; a new one needs all required fields.`;
  return { code: "PRODUCT_NOT_FOUND", message, ...place };
}

/**
 * Gives products whose sku another staged row takes a sku that no product can have, which their own rows replace. So
 * skus are never double between statements: Citus would not defer their check.
 */
async function releaseTakenSkus(transaction: Database, storeId: string): Promise<void> {
  await transaction.$executeRaw`
    UPDATE "Product" p SET sku = p.id || repeat(' ', ${charactersMax.sku + 1}::int)
    WHERE p."storeId" = ${storeId} AND p.id IN (
      SELECT h.id FROM "ProductHolder" h JOIN "ProductStaging" s ON s.sku = h.sku AND s.id <> h.id WHERE NOT s.failed)`;
}

/** Stores the staged rows of a patch that do not fail. @returns how many */
export async function patchStaged(transaction: Database, storeId: string, now: string): Promise<number> {
  await releaseTakenSkus(transaction, storeId);
  let stored = 0;
  for (let after = -1; ;) {
    const [{ last }] = await transaction.$queryRaw<[{ last: number | null }]>`
      SELECT max(line) AS last FROM (
        SELECT line FROM "ProductStaging" WHERE present IS NOT NULL AND NOT failed AND line > ${after}
        ORDER BY line LIMIT ${chunkRowsMax}) AS next`;
    if (last === null) return stored;
    const rows: RowSource = Prisma.sql`(SELECT * FROM "ProductStaging"
      WHERE present IS NOT NULL AND NOT failed AND line > ${after} AND line <= ${last}) s`;
    stored += (await patchProducts(transaction, storeId, rows, { ...anyFields, all: fieldBits.id, now })).stored;
    after = last;
  }
}
