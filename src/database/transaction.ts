import { setTimeout as sleep } from "node:timers/promises";
import type { Database, RootDatabase } from "./client.js";
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
