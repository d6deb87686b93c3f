import type { Prisma, PrismaClient } from "../generated/prisma/client.js";

/** A database, or a transaction in it: what every plain function takes first. */
export type Database = Prisma.TransactionClient;

/** The database itself, where a function opens transactions of its own. */
export type RootDatabase = PrismaClient;

/** What can be seen of a database from outside: how busy its connections are, and each statement that is sent. */
export interface DatabaseProbe {
  /** The connections of this process. */
  readonly pool: { readonly totalCount: number; readonly idleCount: number };
  /** Calls that wait for a connection, or for the turn of their store to have one. */
  waiting: () => number;
  /** Where set, every statement is sent by it. It is told the text, in which parameters stand for all values. */
  aroundQuery: (<Result>(sql: string, send: () => Promise<Result>) => Promise<Result>) | undefined;
}
