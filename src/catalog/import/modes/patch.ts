import type { Database } from "../../../database/client.js";
import type { Problem } from "../../../errors.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { clip } from "../../../lib/text.js";
import { fieldBits, type Place, requiredBits } from "../../product.input.js";
import { ofImport, type StagedKey } from "../staging/rows.js";

/**
 * Looks up the products that staged rows of a patch name: rows get their ids, or a fault. Rows of new products become
 * those of an upsert, where they have all required fields.
 */
export async function resolvePatches(transaction: Database, key: StagedKey): Promise<void> {
  const { storeId } = key;
  const isComplete = Prisma.sql`s.present & ${requiredBits} = ${requiredBits}`;
  const given = (bit: number) => Prisma.raw(`s.present & ${bit} <> 0`);
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET id = p.id FROM "Product" p
    WHERE ${ofImport("s", key)} AND s.id IS NULL AND p."storeId" = ${storeId} AND p.sku = s.sku`;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET present = CASE WHEN ${isComplete} THEN NULL ELSE s.present END,
      fault = CASE WHEN ${isComplete} THEN NULL ELSE 'missing' END
    WHERE ${ofImport("s", key)} AND s.present IS NOT NULL
      AND NOT EXISTS (SELECT FROM "Product" p WHERE p."storeId" = ${storeId} AND p.id = s.id)`;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET fault = 'prices' FROM "Product" p
    WHERE ${ofImport("s", key)} AND s.present IS NOT NULL AND p."storeId" = ${storeId} AND p.id = s.id AND
      CASE WHEN ${given(fieldBits.price_min)} THEN s."priceMin" ELSE p."priceMin" END >
      CASE WHEN ${given(fieldBits.price_max)} THEN s."priceMax" ELSE p."priceMax" END`;
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
  key: StagedKey,
  listMax: number,
): Promise<{ readonly list: readonly PatchFault[]; readonly total: number }> {
  const list = await transaction.$queryRaw<(PatchFault & { total: number })[]>`
    SELECT line, fault, CASE WHEN fault = 'prices' THEN 'price_min' WHEN id IS NULL THEN 'sku' ELSE 'id' END AS field,
      coalesce(id, sku) AS value, (count(*) OVER ())::int AS total
    FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND fault IS NOT NULL ORDER BY line LIMIT ${listMax}`;
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
