import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked, LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { inTransaction, setLocal } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";

/** Batches take less. While an exclusive lock is awaited, PostgreSQL grants no further shared ones. */
const lockTimeoutMs = 1_000;
const exclusiveWaitMs = 60_000;
const statementTimeoutMs = 30 * 60_000;
/** Releases the show when a process froze in its transaction. */
const idleTimeoutMs = 10_000;

/** An advisory lock: batches share it, rebuilding and pruning take it exclusively. */
function showLockKey(storeId: string, lsId: string): string {
  return `live stream ${storeId} ${lsId}`;
}

/** Tries to get the shared lock until the end of the transaction. */
export function trySharedLock(storeId: string, lsId: string): Prisma.Sql {
  return Prisma.sql`pg_try_advisory_xact_lock_shared(hashtextextended(${showLockKey(storeId, lsId)}, 0))`;
}

/**
 * Waits without a connection until the shared lock is free; it is not held afterwards.
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
 * Whether nobody had the exclusive lock since the statement's snapshot: at the end of it, the show's row is written. Of a row
 * `s` that the statement locks, which makes it the latest version.
 */
export function isSnapshotCurrent(storeId: string, lsId: string): Prisma.Sql {
  return Prisma.sql`s.xmin = (SELECT o.xmin FROM "LiveStream" AS o WHERE o."storeId" = ${storeId} AND o.id = ${lsId})`;
}

/**
 * Runs a transaction with the exclusive lock of a show.
 *
 * @throws {AppError} UNAVAILABLE after a minute
 */
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
 * Takes the exclusive lock until the end of the transaction. Selecting from the show's row makes Citus take it on the
 * show's node, as for the shared lock.
 *
 * @throws {LockedError} after a second
 */
export async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  await setLocal(transaction, {
    lock_timeout: String(lockTimeoutMs),
    statement_timeout: String(statementTimeoutMs), // some read all events of a show
    idle_in_transaction_session_timeout: String(idleTimeoutMs),
    // Without statistics on a new show, the planner would choose quadratic nested loops.
    enable_nestloop: "off",
    // What nested loops remain would seem so expensive that compiling each statement for a second would pay.
    jit: "off",
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
