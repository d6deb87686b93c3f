import type { Database } from "../../../database/client.js";
import { setLocal } from "../../../database/transaction.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { rowColumns, type RowSource } from "../../product/product.sql.js";
import type { ReadResult } from "../importTypes.js";

/** Names the rows of one import in StagedProduct. */
export interface StagedKey {
  readonly storeId: string;
  readonly importId: string;
}

/** Rows in StagedProduct. */
export interface StagedRows {
  readonly kind: "staged";
  readonly key: StagedKey;
  /** With invalid ones, as far as their keys can be read. */
  readonly rows: number;
  readonly read: ReadResult;
}

/** The condition of a row of the import. @param alias of StagedProduct */
export function ofImport(alias: "s" | "t", { storeId, importId }: StagedKey): Prisma.Sql {
  return aliased[alias](storeId, importId);
}

const aliased = {
  s: (storeId: string, importId: string) => Prisma.sql`s."storeId" = ${storeId} AND s."importId" = ${importId}`,
  t: (storeId: string, importId: string) => Prisma.sql`t."storeId" = ${storeId} AND t."importId" = ${importId}`,
} as const;

/** What a staged row does, where the import stores it. */
export const isWhole = Prisma.sql`s.title IS NOT NULL AND s.present IS NULL AND NOT s.failed`;
export const isPatch = Prisma.sql`s.present IS NOT NULL AND NOT s.failed`;
export const isRemoval = Prisma.sql`s.title IS NULL AND s.present IS NULL AND NOT s.failed`;

/** Staged rows as a relation with the alias `s`. */
export function stagedRows(key: StagedKey, condition: Prisma.Sql): RowSource {
  return Prisma.sql`(SELECT ${rowColumns} FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND ${condition}) s`;
}

/**
 * For a transaction that compares staged rows with others. Statistics are older than these rows, and often than the products of their
 * store, so the planner takes both for a few: nested loops would look cheap, and take quadratic time. So a few rows read the whole
 * catalog, too: an index would be faster for them, but the planner would as well compare each product with all rows. Where a nested
 * loop is the only way, as from the one row of the store, its cost would look so high that code would be compiled for it.
 */
export function withoutNestedLoops(transaction: Database): Promise<void> {
  return setLocal(transaction, { enable_nestloop: "off", jit: "off" });
}

/** Again, for statements over a few of the staged rows, whose products are looked up by their keys (see catalogLock.ts). */
export function withNestedLoops(transaction: Database): Promise<void> {
  return setLocal(transaction, { enable_nestloop: "on" });
}

/** The last of the next rows after a line, at most `rowsMax`. Null where there are none. */
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
