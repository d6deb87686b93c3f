import { hasOnNodeFunction, onNodeStatements } from "../../citus/onNode.sql.js";
import { changeTables, inSessionTransaction } from "../tableLocks.js";
import { distributeTables, hasHiddenShows, removeHiddenShows } from "./citus.sql.js";
import { copiedTables, numberShows, unfinishedShows } from "./copy.sql.js";
import { copyAll, copyQueued, hasTriggers, isQueueBelow, type Move, watchInserts } from "./copying.js";
import type { PaceLimits } from "./pace.js";
import { isDistributed, readPartitions } from "./partitions.js";
import {
  dropMoveTables,
  hasBegun,
  hasManyEvents,
  lockOldTables,
  type MigrationParts,
  moveTables,
  queueFunction,
  readParts,
  recordMigration,
} from "./tables.sql.js";

/** The number of events below which the migration alone takes less than a second. */
const fewEvents = 20_000;
/** The longest queue that is copied while everyone waits. With a longer one, the switch is tried again later. */
const queuedAtSwitch = 3_000;

export interface MoveOptions extends Partial<PaceLimits> {
  /** The number of events from which they are moved in batches; fewer are moved by the migration. */
  readonly fromEvents?: number;
}

/**
 * Does what the migration of small event rows does while servers of the previous version go on: copies in batches while a
 * trigger queues new events, compares each show, and replaces the old tables in one short transaction. Each step stores
 * the progress, so an interrupted move continues. On Citus, the migration itself would not distribute its tables.
 *
 * @returns false, with nothing done, where the migration itself is to move the events
 * @throws {AppError} INTERNAL where a show differs, UNAVAILABLE where locks were not granted in time
 */
export async function moveEvents(move: Move, { fromEvents = fewEvents }: MoveOptions): Promise<boolean> {
  const { session, log, limits } = move;
  const change = <Result>(work: () => Promise<Result>) =>
    changeTables(session, "the move of events", work, log, limits);
  const is = async (sql: string, values?: unknown[]) =>
    Object.values((await session.query(sql, values)).rows[0])[0] === true;
  const onShards = await isDistributed(session);
  const begun = await is(hasBegun);
  if (!begun && !onShards && !(await is(hasManyEvents, [fromEvents]))) return false;
  const parts = await readParts(move.folder);
  if (onShards) await makeOnNodeFunction(move);
  if (!begun) await change(() => expand(move, parts, onShards));
  await copyAll(move);
  for (const table of copiedTables) await session.query(`ANALYZE "${table}"`);
  do
    await copyAll(move); // what was recorded meanwhile
  while (!(await change(() => contract(move, parts))));
  return true;
}

/** Runs the statements of the move on Citus. `distribute` of the previous version may not have created it. */
async function makeOnNodeFunction({ session }: Move): Promise<void> {
  if (await hasOnNodeFunction(async (sql) => (await session.query<{ isMade: boolean }>(sql)).rows)) return;
  await inSessionTransaction(session, async () => {
    for (const statement of onNodeStatements) await session.query(statement);
  });
}

/** Statements on existing tables come last: from the first one on, recording waits. */
async function expand({ session }: Move, { tables, columns }: MigrationParts, onShards: boolean): Promise<void> {
  for (const statement of [...tables, ...moveTables]) await session.query(statement);
  const names = [...copiedTables, "EventMove", "EventMoveQueue"];
  if (onShards) for (const statement of distributeTables(names)) await session.query(statement);
  const { rows } = await session.query("SELECT quote_ident(current_schema()) AS schema");
  await session.query(queueFunction(rows[0].schema, onShards));
  if (onShards && (await session.query(hasHiddenShows)).rows.length > 0) await session.query(removeHiddenShows);
  for (const statement of columns) await session.query(statement);
  await watchInserts(session);
}

/**
 * Copies the queue and switches to the new tables, while everyone waits.
 *
 * @returns false, with nothing switched, if meanwhile a show was pruned or deleted, many events were recorded, or a
 *   trigger was lost
 */
async function contract(move: Move, { contract: statements, checksum }: MigrationParts): Promise<boolean> {
  const { session } = move;
  for (const statement of lockOldTables) await session.query(statement);
  const partitions = await readPartitions(session);
  // The locks took their time.
  if (!(await hasTriggers(partitions)) || !(await isQueueBelow(partitions, queuedAtSwitch))) return false;
  for (const partition of partitions) {
    // Shows without a number began after the trigger: all of their events are in the queue.
    while ((await partition.query(numberShows, ["verified"])).length > 0);
    while ((await copyQueued(session, partition, queuedAtSwitch)) > 0);
    const [row] = await partition.query<{ unfinished: number }>(unfinishedShows);
    if (row?.unfinished !== 0) return false;
  }
  for (const statement of [...statements, ...dropMoveTables]) await session.query(statement);
  await session.query(recordMigration(checksum));
  return true;
}
