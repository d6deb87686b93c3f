import type { Database } from "../../database/client.js";
import { Problems } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { EncodedRows } from "../product.columns.js";
import { stopIfGone } from "./limits.js";
import { readAhead } from "./asRead.js";
import type { ProductSource, ReadOptions, ReadResult } from "./import.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { rowColumns, rowColumnTypes, type RowSource, sentRows } from "../product.sql.js";

/** A row that cannot be stored beside the others, by its line or index. */
interface RowProblem {
  readonly line: number;
  readonly field: "id" | "sku";
  readonly value: string;
}

/** The first rows with such a problem, and how many there are in all. */
interface RowProblems {
  readonly list: readonly RowProblem[];
  readonly total: number;
}

/** Rows collected by stageRows. */
export const stagedRows: RowSource = Prisma.sql`"ProductStaging" s`;

/** Makes the tables in which an import collects what it looks at together. They go with the transaction. */
export async function createStaging(transaction: Database): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductStaging" (
      ${rowColumnTypes}, failed boolean NOT NULL DEFAULT false) ON COMMIT DROP`;
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductHolder" (id text COLLATE "C" NOT NULL, sku text COLLATE "C" NOT NULL) ON COMMIT DROP`;
}

/** Collects all rows of a source. @returns what is wrong with them by themselves */
export async function stageAll(
  transaction: Database,
  source: ProductSource,
  { signal, keysOnly = false }: ReadOptions & { readonly signal: AbortSignal | undefined },
): Promise<ReadResult> {
  const reader = source.read({ keysOnly });
  try {
    let step = await reader.next();
    while (step.done !== true) {
      stopIfGone(signal);
      const next = readAhead(reader, step);
      await stageRows(transaction, step.value.columns);
      step = await next;
    }
    return step.value;
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

/** Adds rows; all but the line may be null. */
async function stageRows(transaction: Database, columns: EncodedRows): Promise<void> {
  await withRawParameters(
    (bind) =>
      transaction.$executeRaw`INSERT INTO "ProductStaging" (${rowColumns}) SELECT * FROM ${sentRows(columns, bind)}`,
  );
}

/**
 * Collects the store's products that hold skus of staged rows. From here on the staged rows are only looked at beside what
 * was collected: Citus joins what is here with what is on its nodes in the simplest ways alone.
 */
export async function collectHolders(transaction: Database, storeId: string): Promise<void> {
  await transaction.$executeRaw`
    INSERT INTO "ProductHolder" (id, sku) SELECT p.id, p.sku FROM "Product" p
    WHERE p."storeId" = ${storeId} AND p.sku IN (SELECT s.sku FROM ${stagedRows} WHERE s.sku IS NOT NULL)`;
}

/** Every staged row whose id or sku stands in another one too. Mostly there are none: so the keys are counted, not the rows. */
export async function findDuplicates(transaction: Database, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<(RowProblem & { total: number })[]>`
    SELECT line, field, value, (count(*) OVER ())::int AS total FROM (
      SELECT s.line, 'id' AS field, s.id AS value FROM ${stagedRows} WHERE s.id IN (
        SELECT id FROM "ProductStaging" WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)
      UNION ALL
      SELECT s.line, 'sku', s.sku FROM ${stagedRows} WHERE s.sku IN (
        SELECT sku FROM "ProductStaging" WHERE sku IS NOT NULL GROUP BY sku HAVING count(*) > 1)) AS keys
    ORDER BY line, field LIMIT ${listMax}`;
  return { list: found, total: found[0]?.total ?? 0 };
}

/** Every staged row whose sku belongs to a collected product that this import does not replace, or fails to. */
export async function findSkuConflicts(transaction: Database, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<{ line: number; value: string; total: number }[]>`
    SELECT s.line, s.sku AS value, (count(*) OVER ())::int AS total
    FROM ${stagedRows} JOIN "ProductHolder" h ON h.sku = s.sku AND h.id IS DISTINCT FROM s.id
    WHERE NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = h.id AND NOT t.failed)
    ORDER BY s.line LIMIT ${listMax}`;
  return { list: found.map(({ line, value }) => ({ line, field: "sku", value })), total: found[0]?.total ?? 0 };
}
