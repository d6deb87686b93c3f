import type { Database, RootDatabase } from "./client.js";
import { asLocked, LockedError, whenUnlocked } from "./shares/lockWait.js";
import { inTransaction, setLocal } from "./transaction.js";
import { AppError } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";

/** Longer than any batch takes. While someone waits for the exclusive lock, PostgreSQL grants no further shared ones. */
const lockTimeoutMs = 1_000;
const exclusiveWaitMs = 60_000;
const statementTimeoutMs = 30 * 60_000;
/** Releases the show if a process freezes in its transaction. */
const idleTimeoutMs = 10_000;

/** The key of an advisory lock: batches share it, rebuilding and pruning take it exclusively. */
export function showLockKey(storeId: string, lsId: string): string {
  return `live stream ${storeId} ${lsId}`;
}

/** Tries to take the lock until the end of the transaction. */
export function trySharedLock(storeId: string, lsId: string): Prisma.Sql {
  return trySharedLockOf(Prisma.sql`${showLockKey(storeId, lsId)}`);
}

/** @param key the SQL of a showLockKey, for example of a column */
export function trySharedLockOf(key: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`pg_try_advisory_xact_lock_shared(hashtextextended(${key}, 0))`;
}

/**
 * Waits without a connection until the shared lock is free, without taking it.
 *
 * @throws {AppError} UNAVAILABLE after `waitMs`
 */
export function waitForShowLock(db: Database, storeId: string, lsId: string, waitMs: number): Promise<void> {
  const attempt = async (): Promise<void> => {
    const [show] = await db.$queryRaw<{ hasLock: boolean }[]>`
      SELECT ${trySharedLock(storeId, lsId)} AS "hasLock" FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
    if (show?.hasLock === false) throw new LockedError();
  };
  return whenUnlocked(`record ${showLockKey(storeId, lsId)}`, attempt, { waitMs, refusal: showLocked });
}

/**
 * True if no other writer has locked the show since our snapshot: a writer always updates its row. `s` is the row's latest
 * version, which the statement has locked.
 */
export function isSnapshotCurrent(storeId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`s.xmin = (SELECT o.xmin FROM "LiveStream" AS o WHERE o."storeId" = ${storeId} AND o.id = s.id)`;
}

/** @throws {AppError} UNAVAILABLE after a minute */
export function withShowLock<Result>(
  db: RootDatabase,
  { storeId, lsId, timeoutMs }: { readonly storeId: string; readonly lsId: string; readonly timeoutMs: number },
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    inTransaction(db, { timeoutMs }, async (transaction) => {
      await lockShow(transaction, storeId, lsId);
      const result = await work(transaction);
      await transaction.$executeRaw`
        UPDATE "LiveStream" SET name = name WHERE "storeId" = ${storeId} AND id = ${lsId}`; // see isSnapshotCurrent
      return result;
    });
  return whenUnlocked(`alone ${showLockKey(storeId, lsId)}`, attempt, { waitMs: exclusiveWaitMs, refusal: showLocked });
}

/**
 * Locks the show exclusively until the end of the transaction. Selects from the show's row: see storeStatements.ts.
 *
 * @throws {LockedError} after a second
 */
export async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  await setLocal(transaction, {
    lock_timeout: String(lockTimeoutMs),
    statement_timeout: String(statementTimeoutMs), // some statements sort or change all events of a show
    idle_in_transaction_session_timeout: String(idleTimeoutMs),
  });
  await asLocked(
    transaction.$executeRaw`
      SELECT pg_advisory_xact_lock(hashtextextended(${showLockKey(storeId, lsId)}, 0))::text
      FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`,
  );
}

export function showLocked(): AppError {
  const message = "The totals of the show are being rebuilt or pruned. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 });
}
