import type { Database } from "../../../database/client.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { fieldBits, requiredBits } from "../../product/product.fields.js";
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
