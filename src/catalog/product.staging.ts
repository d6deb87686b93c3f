import type { Database } from "../database/client.js";
import { Prisma } from "../generated/prisma/client.js";
import type { ProductColumns } from "./product.columns.js";
import { withParked } from "../database/parked.js";
import { rowColumns, type RowSource, sentRows } from "./product.store.js";

/** A row that cannot be stored beside the others, by its line or index. */
export interface RowProblem {
  readonly line: number;
  readonly field: "id" | "sku";
  readonly value: string;
}

/** The first rows with such a problem, and how many there are in all. */
export interface RowProblems {
  readonly list: readonly RowProblem[];
  readonly total: number;
}

/** Rows collected by stageRows. */
export const stagedRows: RowSource = Prisma.sql`"ProductStaging" s`;

/** Makes the table in which an import collects its rows to look at them together. It goes with the transaction. */
export async function createStaging(transaction: Database): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductStaging" (
      line int NOT NULL, id text COLLATE "C", sku text COLLATE "C", title text, description text, price numeric,
      "priceMin" numeric, "priceMax" numeric, available boolean, images text[], "featuredImage" text, url text,
      "searchWords" text[], failed boolean NOT NULL DEFAULT false) ON COMMIT DROP`;
}

/** Adds rows; all but the line may be null. */
export async function stageRows(transaction: Database, columns: ProductColumns): Promise<void> {
  await withParked(
    (park) =>
      transaction.$executeRaw`INSERT INTO "ProductStaging" (${rowColumns}) SELECT * FROM ${sentRows(columns, park)}`,
  );
}

/** Every staged row whose id or sku stands in another one too. */
export async function findDuplicates(transaction: Database, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<(RowProblem & { total: number })[]>`
    SELECT line, field, value, (count(*) OVER ())::int AS total FROM (
      SELECT s.line, k.field, k.value, count(*) OVER (PARTITION BY k.field, k.value) AS times
      FROM ${stagedRows} CROSS JOIN LATERAL (VALUES ('id', s.id), ('sku', s.sku)) AS k(field, value)
      WHERE k.value IS NOT NULL) AS keys
    WHERE times > 1 ORDER BY line, field LIMIT ${listMax}`;
  return { list: found, total: found[0]?.total ?? 0 };
}

/** Every staged row whose sku belongs to a product of the store that this import does not replace, or fails to. */
export async function findSkuConflicts(transaction: Database, storeId: string, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<{ line: number; value: string; total: number }[]>`
    SELECT s.line, s.sku AS value, (count(*) OVER ())::int AS total
    FROM ${stagedRows} JOIN "Product" p ON p."storeId" = ${storeId} AND p.sku = s.sku AND p.id IS DISTINCT FROM s.id
    WHERE NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = p.id AND NOT t.failed)
    ORDER BY s.line LIMIT ${listMax}`;
  return { list: found.map(({ line, value }) => ({ line, field: "sku", value })), total: found[0]?.total ?? 0 };
}
