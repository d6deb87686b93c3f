import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase, Pool } from "pg";
import { codeOf, isShardGone, sqlStateOf } from "../databaseErrors.js";
import { AppError } from "../../errors.js";

type Connection = Pick<Pool | ClientBase, "query">;

/** Short, because all users of a table queue behind a waiting ALTER TABLE. */
const waitMs = 500;
/** PostgreSQL cancels an autovacuum only after deadlock_timeout, one second. */
const waitForVacuumMs = 1_500;
const lockPauseMs = () => 1_000 + Math.random() * 2_000;
/** Lock not available, deadlock. */
const lostStates = new Set(["55P03", "40P01"]);

/**
 * Changes tables in one transaction that never waits long for a lock: if it does not get its locks, it rolls back and retries
 * after a pause, so that others are blocked only for moments.
 *
 * @param connection one session
 * @param needs names what needs the locks, for messages
 * @throws {AppError} UNAVAILABLE if the locks were not granted in time, and whatever `change` throws
 */
export async function changeTables<Result>(
  connection: Connection,
  needs: string,
  change: () => Promise<Result>,
  log: (problem: Error) => void,
  limits?: LockLimits,
): Promise<Result> {
  let holder: LockHolder | undefined;
  const attempt = async (): Promise<Try<{ readonly result: Result }>> => {
    try {
      const wait = holder?.isVacuum === true ? waitForVacuumMs : waitMs;
      return { lock: { result: await inOneTransaction(connection, wait, change) } };
    } catch (error) {
      if (!lostStates.has(sqlState(error) ?? "") && !isShardGone(error)) throw error;
      holder = await lockHolder(connection);
      return { holder: holder?.text ?? "it has just ended" };
    }
  };
  const whom = `another session that uses tables which ${needs} changes`;
  return (await awaitLock(whom, attempt, log, { limits, pauseMs: lockPauseMs })).result;
}

function inOneTransaction<Result>(
  connection: Connection,
  lockTimeoutMs: number,
  change: () => Promise<Result>,
): Promise<Result> {
  return inSessionTransaction(connection, async () => {
    // On Citus, settings also apply on nodes, and a table's shards are changed over one connection.
    await connection.query("SET LOCAL citus.propagate_set_commands = 'local'");
    await connection.query("SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
    await connection.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await connection.query("SET LOCAL statement_timeout = 0");
    return change();
  });
}

/** Nothing else may use the connection until it resolves. */
export async function inSessionTransaction<Result>(
  connection: Connection,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.query("BEGIN");
  try {
    const result = await work();
    const { command } = await connection.query("COMMIT");
    if (command !== "COMMIT") throw new Error("The database rolled the change back.");
    return result;
  } catch (error) {
    await connection.query("ROLLBACK").catch(() => undefined); // a lost connection is rolled back
    throw error;
  }
}

/** The SQLSTATE, also of pg's errors, anywhere in the chain of causes. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return sqlStateOf(error) ?? codeOf(error) ?? sqlState(error.cause);
}

interface LockHolder {
  readonly text: string;
  readonly isVacuum: boolean;
}

/** The oldest transaction that uses tables. */
async function lockHolder(connection: Connection): Promise<LockHolder | undefined> {
  const { rows } = await connection.query<LockHolder>(
    `SELECT ${describedSession} AS text, a.backend_type = 'autovacuum worker' AS "isVacuum"
     FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND c.relnamespace = current_schema()::regnamespace
     ORDER BY a.xact_start LIMIT 1`,
  );
  return rows[0];
}

/** SQL: describes session `a` of pg_stat_activity. */
export const describedSession = `format('session %s of %s from %s since %s', a.pid,
  coalesce(nullif(a.application_name, ''), a.backend_type, 'an unknown program'),
  coalesce(a.client_addr::text, 'the server itself'), coalesce(a.xact_start, a.query_start))`;

export interface LockLimits {
  /** When to log who holds the lock. */
  readonly logAfterMs: number;
  readonly giveUpAfterMs: number;
}

const lockLimitsByDefault: LockLimits = { logAfterMs: 5_000, giveUpAfterMs: 600_000 };

const pauseByDefaultMs = () => 50;

export type Try<Lock> = { readonly lock: Lock } | { readonly holder: string };

interface LockWaitOptions {
  readonly limits?: LockLimits | undefined;
  readonly pauseMs?: () => number;
}

/**
 * @param waitedFor for messages, as "another process that …"
 * @throws {AppError} UNAVAILABLE after `giveUpAfterMs`
 */
export async function awaitLock<Lock>(
  waitedFor: string,
  attempt: () => Promise<Try<Lock>>,
  log: (problem: Error) => void,
  { limits: { logAfterMs, giveUpAfterMs } = lockLimitsByDefault, pauseMs = pauseByDefaultMs }: LockWaitOptions = {},
): Promise<Lock> {
  const begun = performance.now();
  for (let isLogged = false; ;) {
    const tried = await attempt();
    if ("lock" in tried) return tried.lock;
    const waitedMs = performance.now() - begun;
    if (!isLogged && waitedMs >= logAfterMs) {
      log(new Error(`Waiting for ${waitedFor}: ${tried.holder}.`));
      isLogged = true;
    }
    if (waitedMs >= giveUpAfterMs) {
      const message = `Gave up after waiting ${Math.round(waitedMs / 1_000)} seconds for ${waitedFor}: ${tried.holder}. Nothing was changed.`;
      throw new AppError("UNAVAILABLE", message);
    }
    await sleep(pauseMs());
  }
}
