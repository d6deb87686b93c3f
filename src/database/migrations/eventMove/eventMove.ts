import { isOnCitus } from "../../citus/catalog.sql.js";
import { changeTables } from "../tableLocks.js";
import { copiedTables, numberShows, unfinishedShows } from "./copy.sql.js";
import { copyAll, copyQueued, isQueueBelow, type Move } from "./copying.js";
import type { PaceLimits } from "./pace.js";
import {
  dropMoveTables,
  hasBegun,
  hasManyEvents,
  type MigrationParts,
  moveTables,
  oldTables,
  readParts,
  recordMigration,
} from "./tables.sql.js";

/** Below this, the migration alone is as fast, and takes less than a second. */
const fewEvents = 50_000;
/** The switch copies what the queue still has while everyone waits, and gives up with more than this. */
const queuedAtSwitch = 3_000;

export interface MoveOptions extends Partial<PaceLimits> {
  /** With fewer events, the migration moves them. */
  readonly fromEvents?: number;
}

/** Step by step, or a move has begun. Not on Citus, which has no triggers. */
export async function needsMove({ session }: Pick<Move, "session">, { fromEvents = fewEvents }: MoveOptions) {
  const is = async (sql: string, values?: unknown[]) => Object.values((await session.query(sql, values)).rows[0])[0];
  if ((await is(hasBegun)) === true) return true;
  return (await is(isOnCitus)) !== true && (await is(hasManyEvents, [fromEvents])) === true;
}

/**
 * Does what the migration of small event rows does, while servers of the version before go on: makes the new tables beside the old
 * ones, copies in batches, with a trigger that tells what is recorded meanwhile, compares each show, and replaces the old tables in
 * one short transaction. Each step is a transaction and says how far the move is, so that one that was interrupted goes on there.
 *
 * @throws {AppError} INTERNAL where a show differs, UNAVAILABLE where locks were not granted in time
 */
export async function moveEvents(move: Move): Promise<void> {
  const { session, log, limits } = move;
  const parts = await readParts(move.folder);
  const { rows } = await session.query(hasBegun);
  if (rows[0].hasBegun !== true)
    await changeTables(session, "the move of events", () => expand(move, parts), log, limits);
  await copyAll(move);
  for (const table of copiedTables) await session.query(`ANALYZE "${table}"`);
  for (;;) {
    await copyAll(move); // what was recorded meanwhile
    const isSwitched = await changeTables(session, "the move of events", () => contract(move, parts), log, limits);
    if (isSwitched) return;
  }
}

async function expand({ session }: Move, { expand: statements }: MigrationParts): Promise<void> {
  const { rows } = await session.query("SELECT quote_ident(current_schema()) AS schema");
  for (const statement of [...statements, ...moveTables(rows[0].schema)]) await session.query(statement);
}

/**
 * Everyone waits meanwhile. What the queue has is copied, and is all that the new tables lack.
 *
 * @returns false, with nothing changed but copies, where a show was pruned or deleted, or many events were recorded, in the last moment
 */
async function contract(move: Move, { contract: statements, checksum }: MigrationParts): Promise<boolean> {
  const { session } = move;
  await session.query(`LOCK TABLE ${oldTables} IN ACCESS EXCLUSIVE MODE`);
  if (!(await isQueueBelow(session, queuedAtSwitch))) return false; // the locks took their time
  // Shows without a number began after the trigger: all of their events are in the queue.
  while (((await session.query(numberShows, ["verified"])).rowCount ?? 0) > 0);
  while ((await copyQueued(session, queuedAtSwitch)) > 0);
  const { rows } = await session.query<{ unfinished: number }>(unfinishedShows);
  if (rows[0]?.unfinished !== 0) return false;
  for (const statement of [...statements, ...dropMoveTables]) await session.query(statement);
  await session.query(recordMigration(checksum));
  return true;
}
