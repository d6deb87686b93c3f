import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import type { Database } from "../../../database/client.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { Prisma } from "../../../generated/prisma/client.js";
import type { RowKeys } from "../../../files/chunk.js";

/** The keys of invalid rows as a relation `k`. */
export function keysOfInvalid(invalid: readonly RowKeys[], bind: (value: string) => string): Prisma.Sql {
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
