import type { Prisma, PrismaClient } from "../generated/prisma/client.js";

/** A database or a transaction. */
export type Database = Prisma.TransactionClient;

/** A statement with its values; `$1` is the first one. */
export type Statement = Pick<Prisma.Sql, "text" | "values">;

/** For functions that open their own transactions. */
export type RootDatabase = PrismaClient;

export interface DatabaseProbe {
  readonly pool: { readonly totalCount: number; readonly idleCount: number };
  /** Calls that wait for a connection or for their store's share. */
  waiting: () => number;
  /** Sends every statement; `sql` has placeholders for all values. */
  aroundQuery: (<Result>(sql: string, send: () => Promise<Result>) => Promise<Result>) | undefined;
  /** Receives each error of a statement, and of opening a connection for one. */
  onError: (error: unknown) => void;
}
