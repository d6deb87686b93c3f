import { Prisma } from "../generated/prisma/client.js";
import type { Database } from "./client.js";

/** A table with rows of stores. */
interface StoreTable {
  readonly name: string;
  /** The columns of its primary key after storeId. */
  readonly key: readonly string[];
}

/** Events and their distinct viewers, which only recording and rebuilding read. They refer to their show by its number. */
export const eventTables: readonly StoreTable[] = [
  { name: "ShowEvent", key: ["show", "id"] },
  { name: "ShowViewer", key: ["show", "viewerId"] },
  { name: "ShowPresence", key: ["show", "viewerId", "hour"] },
];

/** The other tables with rows of shows: first those with the number of the show, then those with its id. */
const tablesByNumber: readonly StoreTable[] = [
  { name: "ShowProductSlot", key: ["show", "productId", "startsAt", "slot"] },
  { name: "ShowProductSpan", key: ["seconds", "startsAt", "show", "productId"] },
  { name: "LateEvent", key: ["show", "id"] },
  { name: "ShowMoment", key: ["show", "id"] },
];
const tablesById: readonly StoreTable[] = [
  { name: "LiveStreamTotal", key: ["liveStreamId", "channel", "slot"] },
  { name: "LiveStreamGroup", key: ["liveStreamId", "kind", "name", "slot"] },
  { name: "LiveStreamMinute", key: ["liveStreamId", "minute", "slot"] },
  { name: "LiveStreamSpan", key: ["liveStreamId", "seconds", "startsAt"] },
  { name: "LiveStreamProduct", key: ["liveStreamId", "productId", "slot"] },
];

/** All tables with many rows of a store, except shows and products. Rows that others lock before they write come first. */
export const storeTables: readonly StoreTable[] = [
  ...eventTables,
  ...tablesByNumber,
  ...tablesById,
  { name: "ShopOrder", key: ["id"] },
  { name: "OrderPart", key: ["orderId", "place"] },
  { name: "OrderClaim", key: ["orderId"] },
  { name: "HookFault", key: ["hookId", "reason"] },
  { name: "StagedImport", key: ["id"] },
  { name: "StagedProduct", key: ["importId", "line"] },
];

/** Whether a show `s` has rows in the tables of events. */
export function hasEventRows(storeId: string): Prisma.Sql {
  const each = eventTables.map(
    ({ name }) => Prisma.sql`EXISTS (
      SELECT FROM ${Prisma.raw(`"${name}"`)} AS r WHERE r."storeId" = ${storeId} AND r.show = s.number)`,
  );
  return Prisma.sql`(${Prisma.join(each, " OR ")})`;
}

/** Deletes the rows of a show from all tables but its own. Those of its events must be few: they are deleted in pages before. */
export async function deleteShowRows(
  transaction: Database,
  { storeId, id, number }: { readonly storeId: string; readonly id: string; readonly number: number },
): Promise<void> {
  for (const { name } of [...eventTables, ...tablesByNumber]) {
    await transaction.$executeRaw`
      DELETE FROM ${Prisma.raw(`"${name}"`)} WHERE "storeId" = ${storeId} AND show = ${number}`;
  }
  for (const { name } of tablesById) {
    await transaction.$executeRaw`
      DELETE FROM ${Prisma.raw(`"${name}"`)} WHERE "storeId" = ${storeId} AND "liveStreamId" = ${id}`;
  }
}

export type PageEnd = readonly unknown[];

interface Page {
  readonly table: StoreTable;
  readonly storeId: string;
  /** The number of a show, to delete only its rows. */
  readonly show?: number | undefined;
  /** The last key of the previous page. */
  readonly after: PageEnd | undefined;
  readonly rowsMax: number;
}

/**
 * Deletes the next rows of a table in the order of their key. Each page begins after the key of the last one, so that PostgreSQL does
 * not scan index entries of deleted rows.
 *
 * @returns the last key, unless no rows are left
 */
export async function deletePage(
  db: Database,
  { table, storeId, show, after, rowsMax }: Page,
): Promise<{ removed: number; last: PageEnd | undefined }> {
  const columns = show === undefined ? table.key : table.key.filter((name) => name !== "show");
  const from = Prisma.raw(`"${table.name}"`);
  const key = Prisma.raw(columns.map((name) => `"${name}"`).join(", "));
  const ofShow = show === undefined ? Prisma.empty : Prisma.sql`AND show = ${show}`;
  const beyond = after === undefined ? Prisma.empty : Prisma.sql`AND (${key}) > (${Prisma.join([...after])})`;
  const where = Prisma.sql`"storeId" = ${storeId} ${ofShow} ${beyond}`;
  const [row] = await db.$queryRaw<Record<string, unknown>[]>`
    SELECT ${key} FROM ${from} WHERE ${where} ORDER BY ${key} LIMIT 1 OFFSET ${rowsMax - 1}`;
  const last = row === undefined ? undefined : columns.map((name) => row[name]);
  const upTo = last === undefined ? Prisma.empty : Prisma.sql`AND (${key}) <= (${Prisma.join([...last])})`;
  const removed = await db.$executeRaw`DELETE FROM ${from} WHERE ${where} ${upTo}`;
  return { removed, last };
}
