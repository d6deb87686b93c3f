/**
 * Statements on the rows of one store, wherever these are. Citus distributes tables by store. Statements keep to what its planner
 * can do, which costs other databases nothing:
 *
 * - Those that insert or lock select from the store's or the show's row, so that everything happens on the store's node.
 * - They name the store for each table, including joined ones.
 * - Lookups use findFirst, because Prisma joins calls of findUnique into one statement, perhaps for stores on two nodes.
 * - Times are parameters, because each node would evaluate now().
 * - Arrays are looked up by array_position, not joined: in a join with a locked row, Citus would read another format than it
 *   wrote.
 * - WITH stands within the SELECT of an INSERT, and each statement ends in a SELECT.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Prisma } from "../../generated/prisma/client.js";
import type { Database, Statement } from "../client.js";
import { nodesOf } from "../engine.js";
import { isLockTimeout } from "../databaseErrors.js";
import type { StoreNodes } from "../citus/nodes.js";
import { beingMoved, onNodeFunction } from "../citus/onNode.sql.js";
import { textArrayLiteral, boundValue, withRawParameters } from "../rawParameters.js";

/**
 * Sends a statement on one store's rows, perhaps within a transaction. No temporary tables, because only the transaction's node has them.
 *
 * @param statement casts each parameter that is neither a text nor a number
 * @param dates names the columns of the answer that are times
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
 * Runs atomic work on one store's rows, and runs it again if they were being moved to another node.
 *
 * @throws what the work throws, also if the rows are still being moved after `waitMs`, 5 seconds by default
 */
export function retryAfterMoves<Result>(
  db: Database,
  storeId: string,
  work: () => Promise<Result>,
  waitMs?: number,
): Promise<Result> {
  return nodesOf(db) === undefined ? work() : retryAfterMove(db, storeId, work, waitMs);
}

/** Waits while the store's rows are known to be moving to another node, for at most `waitMs`. */
export function waitForMoves(db: Database, storeId: string, waitMs: number): Promise<void> | undefined {
  return nodesOf(db) === undefined ? undefined : waitForMove(db, storeId, waitMs);
}

/** Makes other callers of the store wait if an error says that its rows are being moved. @param db not a transaction */
export function noteMoves(db: Database, storeId: string, error: unknown): void {
  if (nodesOf(db) !== undefined && isBeingMoved(error)) noteMove(db, storeId);
}

const waitMsDefault = 5_000;

const pauseMs = 50;

/** After this time, the next caller finds out again. */
const watchMs = 60_000;

/** For each database, the stores that are being moved to another node. */
const moves = new WeakMap<StoreNodes, Map<string, Promise<void>>>();

/** Whether the error or its cause says that a move blocks the store's writes. Nothing was changed. */
function isBeingMoved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (isLockTimeout(error) && error.message.includes(beingMoved)) || isBeingMoved(error.cause);
}

/**
 * Retries atomic work after a move of the store's shards. Callers wait without a connection, because a store that holds all it may
 * have makes other stores of its node wait. One statement at a time finds out whether the move has ended.
 *
 * @throws what the work throws, also if the store is still being moved after `waitMs`
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

/** Waits until the store is no longer known to be moving, for at most `waitMs`. */
async function waitForMove(db: Database, storeId: string, waitMs: number): Promise<void> {
  const nodes = nodesOf(db);
  const move = nodes && moves.get(nodes)?.get(storeId);
  if (move === undefined) return;
  const given = new AbortController();
  await Promise.race([move, sleep(Math.max(0, waitMs), undefined, { signal: given.signal }).catch(() => undefined)]);
  given.abort();
}

/** Makes other callers of the store wait until it has moved. @param db not a transaction */
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
      if (!isBeingMoved(error)) return; // callers will get this error themselves
    }
  } while (performance.now() < end);
}

/** Names of tables; those of columns begin with a lower-case letter. */
const tableNames = /"([A-Z]\w*)"/gu;

/**
 * Sends a statement of `queryStore` to the store's node, which runs it as a whole, as PostgreSQL would (onNode.sql.ts). Moving one
 * store with `block_writes` then does not delay others. It would if Citus planned the statement, because its INSERT … SELECT locks
 * all shards of the table.
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

/** The statement with the elements of one text array as its parameters. */
function withTextParameters({ text, values }: Statement) {
  const ofElements = text.replace(/\$(\d+)/gu, (_, number: string) => {
    const value = values[Number(number) - 1];
    return `($1)[${number}]${typeof value === "number" ? "::int" : ""}`;
  });
  return { text: ofElements, parameters: values.map(parameterText) };
}

function parameterText(value: unknown): string | null {
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
