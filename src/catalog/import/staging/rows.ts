import type { Database } from "../../../database/client.js";
import { setLocal } from "../../../database/transaction.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { rowColumns, type RowSource } from "../../product/product.sql.js";
import type { ReadResult } from "../importTypes.js";

/** Identifies the rows of one import in StagedProduct. */
export interface StagedKey {
  readonly storeId: string;
  readonly importId: string;
}

/** Rows in StagedProduct. */
export interface StagedRows {
  readonly kind: "staged";
  readonly key: StagedKey;
  /** Including invalid ones with readable keys. */
  readonly rows: number;
  readonly read: ReadResult;
}

/** The condition for rows of the import. @param alias of StagedProduct */
export function ofImport(alias: "s" | "t", { storeId, importId }: StagedKey): Prisma.Sql {
  return aliased[alias](storeId, importId);
}

const aliased = {
  s: (storeId: string, importId: string) => Prisma.sql`s."storeId" = ${storeId} AND s."importId" = ${importId}`,
  t: (storeId: string, importId: string) => Prisma.sql`t."storeId" = ${storeId} AND t."importId" = ${importId}`,
} as const;

/** What a staged row does if the import stores it. */
export const isWhole = Prisma.sql`s.title IS NOT NULL AND s.present IS NULL AND NOT s.failed`;
export const isPatch = Prisma.sql`s.present IS NOT NULL AND NOT s.failed`;
export const isRemoval = Prisma.sql`s.title IS NULL AND s.present IS NULL AND NOT s.failed`;

/** Staged rows as a relation with the alias `s`. */
export function stagedRows(key: StagedKey, condition: Prisma.Sql): RowSource {
  return Prisma.sql`(SELECT ${rowColumns} FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND ${condition}) s`;
}

/**
 * For a transaction that compares staged rows with others. Statistics are older than these rows, and often than their store's
 * products, so the planner expects few of both, and would choose nested loops, which take quadratic time. The price: a few rows also
 * read the whole catalog, although an index would be faster. JIT is off as well, because it would compile code for the unavoidable
 * nested loops, such as from the store's row, whose cost now looks very high.
 */
export function withoutNestedLoops(transaction: Database): Promise<void> {
  return setLocal(transaction, { enable_nestloop: "off", jit: "off" });
}

/** Allows them again, for statements over a few staged rows that look up products by key (catalogLock.ts). */
export function withNestedLoops(transaction: Database): Promise<void> {
  return setLocal(transaction, { enable_nestloop: "on" });
}

/** The last line of the next `rowsMax` rows after a line. Null if there are none. */
export async function lastLine(
  db: Database,
  key: StagedKey,
  { after, rowsMax }: { readonly after: number; readonly rowsMax: number },
): Promise<number | null> {
  const [{ last }] = await db.$queryRaw<[{ last: number | null }]>`
    SELECT max(line) AS last FROM (
      SELECT s.line FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND s.line > ${after}
      ORDER BY s.line LIMIT ${rowsMax}) AS next`;
  return last;
}
