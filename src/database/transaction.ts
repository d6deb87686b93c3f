import { pause } from "../lib/timers.js";
import type { Database, RootDatabase } from "./client.js";
import { Prisma } from "../generated/prisma/client.js";
import { isRetryable, mapDatabaseError } from "./databaseErrors.js";
import { setEngineOfTransaction } from "./engine.js";

const attemptsMax = 4;

interface TransactionOptions {
  readonly timeoutMs: number;
}

/**
 * Runs `work` in a transaction, and again after a deadlock, so it must be repeatable.
 *
 * @throws {AppError} UNAVAILABLE if the database is unavailable or every attempt failed
 */
export async function inTransaction<Result>(
  db: RootDatabase,
  { timeoutMs }: TransactionOptions,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  const noted = (transaction: Database) => {
    setEngineOfTransaction(transaction, db);
    return work(transaction);
  };
  return retrying(() => db.$transaction(noted, { timeout: timeoutMs }));
}

class RollbackSignal extends Error {
  constructor(readonly result: unknown) {
    super();
  }
}

/** Runs work like inTransaction and rolls it back. */
export async function inRolledBackTransaction<Result>(
  db: RootDatabase,
  options: TransactionOptions,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return inTransactionIf(db, options, () => false, work);
}

/** Runs work like inTransaction, and rolls it back unless the result says to keep it. */
export async function inTransactionIf<Result>(
  db: RootDatabase,
  options: TransactionOptions,
  isKept: (result: Result) => boolean,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(db, options, async (transaction) => {
      const result = await work(transaction);
      if (isKept(result)) return result;
      throw new RollbackSignal(result);
    });
  } catch (error) {
    if (error instanceof RollbackSignal) return error.result as Result; // thrown above, with this type
    throw error;
  }
}

/** Retries after deadlocks. @throws {AppError} UNAVAILABLE */
export async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt === attemptsMax) throw mapDatabaseError(error);
      await pause(Math.random() * 20 * 2 ** attempt);
    }
  }
}

/** Citus propagates SET LOCAL to its nodes, but not set_config. */
export async function setLocal(
  transaction: Database,
  settings: Readonly<
    Partial<
      Record<
        "lock_timeout" | "statement_timeout" | "idle_in_transaction_session_timeout" | "enable_nestloop" | "jit",
        string
      >
    >
  >,
): Promise<void> {
  const all = { "citus.propagate_set_commands": "local", ...settings }; // ignored without Citus
  for (const [name, value] of Object.entries(all)) {
    await transaction.$executeRaw(Prisma.raw(`SET LOCAL ${name} = '${value}'`));
  }
}
