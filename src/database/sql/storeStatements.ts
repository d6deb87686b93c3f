/**
 * Statements on the rows of one store, wherever its rows are. Where tables are distributed by store (Citus), they keep to what
 * its planner can do, which costs other databases nothing:
 *
 * - They select from the store's or the show's row where they insert or lock, so that all of it happens on the store's node.
 * - They name the store for each table, also a joined one.
 * - Lookups use findFirst: Prisma joins calls of findUnique into one statement, which may then be about stores on two nodes.
 * - Times are sent as parameters: now() would be evaluated on each node.
 * - Arrays are looked up by array_position, not joined: for a join with a locked row, Citus would read in one format what it has
 *   written in another.
 * - WITH stands within the SELECT of an INSERT, and each statement ends in a SELECT.
 */
import type { Prisma } from "../../generated/prisma/client.js";
import { isBeingMoved, noteMove, retryAfterMove, waitForMove } from "../citus/moves.js";
import { queryOnNode } from "../citus/onNode.js";
import type { Database } from "../client.js";
import { nodesOf } from "../engine.js";

/**
 * Sends a statement on one store's rows, perhaps within a transaction. No temporary tables: those are where the transaction is.
 *
 * @param statement casts each parameter that is neither a text nor a number
 * @param dates columns of the answer that are times
 */
export function queryStore<Row extends object>(
  db: Database,
  storeId: string,
  statement: Prisma.Sql,
  dates: readonly (keyof Row)[] = [],
): Promise<Row[]> {
  const isByNode = nodesOf(db)?.runStatements(storeId) === true;
  return isByNode ? queryOnNode<Row>(db, storeId, statement, dates) : db.$queryRaw<Row[]>(statement);
}

/**
 * Runs atomic work on one store's rows, again where they were just being moved to another node.
 *
 * @throws what the work throws, also where the rows are still being moved after `waitMs`, 5 seconds by default
 */
export function retryAfterMoves<Result>(
  db: Database,
  storeId: string,
  work: () => Promise<Result>,
  waitMs?: number,
): Promise<Result> {
  return nodesOf(db) === undefined ? work() : retryAfterMove(db, storeId, work, waitMs);
}

/** Waits while the store's rows are being moved to another node, as far as that is known, for at most `waitMs`. */
export function waitForMoves(db: Database, storeId: string, waitMs: number): Promise<void> | undefined {
  return nodesOf(db) === undefined ? undefined : waitForMove(db, storeId, waitMs);
}

/** Lets other callers of the store wait if an error says that its rows are being moved. @param db not a transaction */
export function noteMoves(db: Database, storeId: string, error: unknown): void {
  if (nodesOf(db) !== undefined && isBeingMoved(error)) noteMove(db, storeId);
}
