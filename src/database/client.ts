import type { Prisma, PrismaClient } from "../generated/prisma/client.js";

/** A database or a transaction. */
export type Database = Prisma.TransactionClient;

/** What Prisma.Sql has of a statement, with `$1` for its first value. */
export type Statement = Pick<Prisma.Sql, "text" | "values">;

/** Taken by functions that open their own transactions. */
export type RootDatabase = PrismaClient;

export interface DatabaseProbe {
  readonly pool: { readonly totalCount: number; readonly idleCount: number };
  /** Calls that wait for a connection or for their store's share. */
  waiting: () => number;
  /** Sends every statement; `sql` has placeholders for all values. */
  aroundQuery: (<Result>(sql: string, send: () => Promise<Result>) => Promise<Result>) | undefined;
  /** Receives each error of a statement or of a connection that could not be opened for one. */
  onError: (error: unknown) => void;
}
