import { Prisma } from "../../../generated/prisma/client.js";

/** A show, for statements that insert its rows. */
export interface ShowRow {
  readonly storeId: string;
  readonly lsId: string;
  /** Its row, as `l`, for a FROM: what is inserted takes the store from it, so that Citus need not look where it belongs. */
  readonly source: Prisma.Sql;
  /** Which row of `l` it is, for a WHERE. */
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

/** Which rows of a table that names shows by their number, where `show` is a part of the statement. */
export function isOf({ storeId }: ShowRow, row: string): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(row)}."storeId" = ${storeId} AND ${Prisma.raw(row)}.show = (SELECT number FROM show)`;
}
