import { setTimeout as sleep } from "node:timers/promises";
import type { Database, RootDatabase } from "./client.js";
import { Prisma } from "../generated/prisma/client.js";
import { isRetryable, mapDatabaseError } from "./errors.js";

const attemptsMax = 4;

interface TransactionOptions {
  /** The whole transaction is given up after this long. */
  readonly timeoutMs: number;
}

/**
 * Runs `work` in a transaction: all of it is stored, or nothing. One that loses against another transaction runs again,
 * so `work` must be repeatable.
 *
 * @throws {AppError} UNAVAILABLE when the database cannot be used or every attempt lost
 */
export async function inTransaction<Result>(
  db: RootDatabase,
  { timeoutMs }: TransactionOptions,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return retrying(() => db.$transaction(work, { timeout: timeoutMs }));
}

/** Carries a result out of a transaction that is rolled back. */
class RollbackSignal extends Error {
  constructor(readonly result: unknown) {
    super();
  }
}

/**
 * Runs `work` as inTransaction does, in a transaction that is rolled back at its end: to find out what it would do.
 *
 * @throws {AppError} UNAVAILABLE when the database cannot be used or every attempt lost
 */
export async function inRolledBackTransaction<Result>(
  db: RootDatabase,
  options: TransactionOptions,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(db, options, async (transaction): Promise<never> => {
      throw new RollbackSignal(await work(transaction));
    });
  } catch (error) {
    if (error instanceof RollbackSignal) return error.result as Result; // made above, of this work
    throw error;
  }
}

/** Runs a statement or transaction again, a few times, while it loses against others. @throws {AppError} UNAVAILABLE */
export async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt === attemptsMax) throw mapDatabaseError(error);
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
}

/**
 * Settings that hold until a transaction ends, from its next statement on. Citus passes them on to the nodes that do the work,
 * which it does not do with those made by set_config.
 */
export async function setLocal(
  transaction: Database,
  settings: Readonly<
    Record<"lock_timeout" | "statement_timeout" | "idle_in_transaction_session_timeout" | "enable_nestloop", string>
  >,
): Promise<void> {
  const all = { "citus.propagate_set_commands": "local", ...settings }; // without Citus, the first is nobody's
  for (const [name, value] of Object.entries(all)) {
    await transaction.$executeRaw(Prisma.raw(`SET LOCAL ${name} = '${value}'`));
  }
}

const embedded = new WeakMap<Database, boolean>();

/**
 * Whether the database is the embedded engine, whose one session all clients share: whoever holds a transaction keeps all
 * others waiting, and no lock keeps one client from another. Asked of the database itself once, whoever opened it.
 */
export async function isSingleSession(db: Database): Promise<boolean> {
  const answer = embedded.get(db);
  if (answer !== undefined) return answer;
  const [{ isEmbedded }] = await db.$queryRaw<[{ isEmbedded: boolean }]>`
    SELECT version() LIKE '%PGlite%' AS "isEmbedded"`;
  embedded.set(db, isEmbedded);
  return isEmbedded;
}
