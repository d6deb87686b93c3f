import { Prisma } from "../../generated/prisma/client.js";

/** A show, for statements that insert its rows. */
export interface ShowRow {
  readonly storeId: string;
  readonly lsId: string;
  /** The row as `l`, for a FROM. Inserted rows take the store from it (storeStatements.ts). */
  readonly source: Prisma.Sql;
  /** Selects it, for a WHERE. */
  readonly isShow: Prisma.Sql;
}

export function showRow(storeId: string, lsId: string): ShowRow {
  return {
    storeId,
    lsId,
    source: Prisma.sql`"LiveStream" AS l`,
    isShow: Prisma.sql`l."storeId" = ${storeId} AND l.id = ${lsId}`,
  };
}

/** Like ShowRow, for inserts for several shows: the row from which they take their store. */
export interface StoreRow {
  readonly storeId: Prisma.Sql;
  /** The store as `o`, for a FROM. */
  readonly source: Prisma.Sql;
  /** Selects the store, for a WHERE. */
  readonly isStore: Prisma.Sql;
}

export function storeRow(storeId: Prisma.Sql): StoreRow {
  return { storeId, source: Prisma.sql`"Store" AS o`, isStore: Prisma.sql`o.id = ${storeId}` };
}

/** The id of a show by its number in a row, if the statement has a part `shows`. */
export function idOfShow(row: string): Prisma.Sql {
  return Prisma.sql`(SELECT shows.id FROM shows WHERE shows.show = ${Prisma.raw(row)}.show)`;
}
