import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";

interface PrunedTable {
  readonly name: "ShowEvent" | "ShowViewer" | "ShowPresence";
  readonly key: readonly string[];
}

/** Events, and the distinct viewers that only recording and rebuilding read. */
export const prunedTables: readonly PrunedTable[] = [
  { name: "ShowEvent", key: ["id"] },
  { name: "ShowViewer", key: ["viewerId"] },
  { name: "ShowPresence", key: ["viewerId", "hour"] },
];

/** Whether there are rows of a show `s` to remove. */
export function hasRows(storeId: string): Prisma.Sql {
  const each = prunedTables.map(
    ({ name }) => Prisma.sql`EXISTS (
      SELECT FROM ${Prisma.raw(`"${name}"`)} AS r WHERE r."storeId" = ${storeId} AND r.show = s.number)`,
  );
  return Prisma.sql`(${Prisma.join(each, " OR ")})`;
}

export type PruneCursor = readonly unknown[];

interface PruneBatch {
  readonly storeId: string;
  readonly number: number;
  readonly table: PrunedTable;
  readonly after: PruneCursor | undefined;
  readonly rowsMax: number;
}

/**
 * Removes the next rows in the order of their key. A cursor saves scanning the index entries of rows removed before.
 *
 * @returns last, unless no rows are left
 */
export async function pruneBatch(
  transaction: Database,
  { storeId, number, table, after, rowsMax }: PruneBatch,
): Promise<{ removed: number; last: PruneCursor | undefined }> {
  const from = Prisma.raw(`"${table.name}"`);
  const key = Prisma.raw(table.key.map((name) => `"${name}"`).join(", "));
  const beyond = after === undefined ? Prisma.empty : Prisma.sql`AND (${key}) > (${Prisma.join([...after])})`;
  const where = Prisma.sql`"storeId" = ${storeId} AND show = ${number} ${beyond}`;
  const [row] = await transaction.$queryRaw<Record<string, unknown>[]>`
    SELECT ${key} FROM ${from} WHERE ${where} ORDER BY ${key} LIMIT 1 OFFSET ${rowsMax - 1}`;
  const last = row === undefined ? undefined : table.key.map((name) => row[name]);
  const upTo = last === undefined ? Prisma.empty : Prisma.sql`AND (${key}) <= (${Prisma.join([...last])})`;
  const removed = await transaction.$executeRaw`DELETE FROM ${from} WHERE ${where} ${upTo}`;
  return { removed, last };
}
