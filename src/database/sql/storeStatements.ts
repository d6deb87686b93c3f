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

import { setTimeout as sleep } from "node:timers/promises";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database, Statement } from "../client.js";
import { nodesOf } from "../engine.js";
import { isLockTimeout } from "../databaseErrors.js";
import type { StoreNodes } from "../citus/nodes.js";
import { beingMoved, onNodeFunction } from "../citus/onNode.sql.js";
import { textArrayLiteral } from "./arrayLiteral.js";
import { boundValue, withRawParameters } from "../rawParameters.js";

/**
 * Sends a statement on one store's rows, perhaps within a transaction. No temporary tables: those are where the transaction is.
 *
 * @param statement casts each parameter that is neither a text nor a number
 * @param dates columns of the answer that are times
 */
export function queryStore<Row extends object>(
  db: Database,
  storeId: string,
  statement: Statement,
  dates: readonly (keyof Row)[] = [],
): Promise<Row[]> {
  const isByNode = nodesOf(db)?.runStatements(storeId) === true;
  return isByNode
    ? queryOnNode<Row>(db, storeId, statement, dates)
    : db.$queryRawUnsafe<Row[]>(statement.text, ...statement.values);
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

const waitMsDefault = 5_000;

const pauseMs = 50;

/** Then the next caller notices it anew. */
const watchMs = 60_000;

/** For each database, the stores that are being moved to another node. */
const moves = new WeakMap<StoreNodes, Map<string, Promise<void>>>();

/** Whether the error, or its cause, is that the store is being moved with its writes blocked. Nothing was changed. */
function isBeingMoved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (isLockTimeout(error) && error.message.includes(beingMoved)) || isBeingMoved(error.cause);
}

/**
 * Retries atomic work after a move of the store's shards. Callers wait without a connection, since a store that holds as many as
 * it may makes others of its node wait: one statement at a time finds out whether the move has ended.
 *
 * @throws what the work throws, also where the store is still being moved after `waitMs`
 */
async function retryAfterMove<Result>(
  db: Database,
  storeId: string,
  work: () => Promise<Result>,
  waitMs = waitMsDefault,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    await waitForMove(db, storeId, deadline - performance.now());
    try {
      return await work();
    } catch (error) {
      if (!isBeingMoved(error) || performance.now() > deadline) throw error;
      noteMove(db, storeId);
    }
  }
}

/** Waits until the store is no longer being moved, as far as that is known, for at most `waitMs`. */
async function waitForMove(db: Database, storeId: string, waitMs: number): Promise<void> {
  const nodes = nodesOf(db);
  const move = nodes && moves.get(nodes)?.get(storeId);
  if (move === undefined) return;
  const given = new AbortController();
  await Promise.race([move, sleep(Math.max(0, waitMs), undefined, { signal: given.signal }).catch(() => undefined)]);
  given.abort();
}

/** Lets others of the store wait until it has been moved. @param db not a transaction */
function noteMove(db: Database, storeId: string): void {
  const nodes = nodesOf(db);
  if (nodes === undefined) return;
  const ofDatabase = moves.get(nodes) ?? new Map<string, Promise<void>>();
  moves.set(nodes, ofDatabase);
  if (ofDatabase.has(storeId)) return;
  ofDatabase.set(
    storeId,
    watch(db, storeId).finally(() => ofDatabase.delete(storeId)),
  );
}

async function watch(db: Database, storeId: string): Promise<void> {
  const end = performance.now() + watchMs;
  do {
    await sleep(pauseMs);
    try {
      await queryOnNode(db, storeId, Prisma.sql`SELECT 1 AS one`, []);
      return;
    } catch (error) {
      if (!isBeingMoved(error)) return; // the callers will see
    }
  } while (performance.now() < end);
}

/** Names of tables; those of columns begin with a small letter. */
const tableNames = /"([A-Z]\w*)"/gu;

/**
 * Sends a statement of `queryStore` to the store's node, which runs it as a whole, as PostgreSQL would: see onNode.sql.ts.
 * Moving a store with `block_writes` does not hold it up for other stores, as it does what Citus plans by itself: for
 * INSERT … SELECT that takes the locks of all shards of the table.
 */
async function queryOnNode<Row extends object>(
  db: Database,
  storeId: string,
  statement: Statement,
  dates: readonly (keyof Row)[],
): Promise<Row[]> {
  const { text, parameters } = withTextParameters(statement);
  const tables = [...new Set(text.match(tableNames))];
  const rows = await withRawParameters((bind) =>
    db.$queryRawUnsafe<{ answer: Row }[]>(
      `SELECT ${onNodeFunction}($1, $2, $3::text[], $4::text[]) AS answer`,
      storeId,
      text,
      textArrayLiteral(tables),
      bind(textArrayLiteral(parameters)),
    ),
  );
  return rows.map(({ answer }) => withDates(answer, dates));
}

/** The statement with elements of one array of texts as its parameters. */
function withTextParameters({ text, values }: Statement) {
  const ofElements = text.replace(/\$(\d+)/gu, (_, number: string) => {
    const value = values[Number(number) - 1];
    return `($1)[${number}]${typeof value === "number" ? "::int" : ""}`;
  });
  return { text: ofElements, parameters: values.map(textOf) };
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string") return boundValue(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isInteger(value))) return String(value);
  throw new TypeError("Parameters are texts, whole numbers, booleans and times.");
}

function withDates<Row extends object>(row: Row, names: readonly (keyof Row)[]): Row {
  const dates = names.map((name) => [name, row[name] === null ? null : new Date(String(row[name]))]);
  return { ...row, ...Object.fromEntries(dates) };
}
