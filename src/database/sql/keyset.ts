import { Prisma } from "../../generated/prisma/client.js";

export type SortDirection = "ASC" | "DESC";

/** The value that orders the rows of a list. Its cursors have this value and the id. */
export interface SortKey {
  readonly value: Prisma.Sql;
  /** The SQL of a cursor's value, for comparison with `value`. */
  readonly given: (value: string) => Prisma.Sql;
  /** Whether a text can be a cursor's value, so that the database converts it without an error. */
  readonly isValue: (value: string) => boolean;
}

/** The position of a row in its list. The value is empty if the row has none. */
export interface SortPosition {
  readonly value: string;
  readonly id: string;
}

const directions = {
  ASC: { sql: Prisma.sql`ASC`, isBeyond: Prisma.sql`>` },
  DESC: { sql: Prisma.sql`DESC`, isBeyond: Prisma.sql`<` },
} as const;

export function directionSql(direction: SortDirection): Prisma.Sql {
  return directions[direction].sql;
}

/** The condition for rows after a position. Equal ones are ordered by id, in the same direction. */
export function isBeyond(
  { value, given }: SortKey,
  id: Prisma.Sql,
  direction: SortDirection,
  after: SortPosition,
): Prisma.Sql {
  return Prisma.sql`(${value}, ${id}) ${directions[direction].isBeyond} (${given(after.value)}, ${after.id})`;
}

/** The condition for rows after a position in a list that is ordered only by id. */
export function isIdBeyond(id: Prisma.Sql, direction: SortDirection, after: Pick<SortPosition, "id">): Prisma.Sql {
  return Prisma.sql`${id} ${directions[direction].isBeyond} ${after.id}`;
}
