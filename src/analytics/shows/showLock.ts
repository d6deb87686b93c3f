import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked, LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { inTransaction, setLocal } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";

/** Recorders end within that. While one waits, PostgreSQL lets no further recorders in. */
const lockTimeoutMs = 1_000;
const waitAloneMs = 60_000;
const statementTimeoutMs = 30 * 60_000;
/** The database ends the transaction of a process that was stopped in its middle, so that others get the show. */
const idleTimeoutMs = 10_000;

/** The key of the lock that recorders of a show share, and that a rebuild of its totals takes alone. */
function showLockKey(storeId: string, lsId: string): string {
  return `live stream ${storeId} ${lsId}`;
}

/** True where the lock that recorders share was had until the transaction ends; it is tried, not waited for. */
export function trySharedLock(storeId: string, lsId: string): Prisma.Sql {
  return Prisma.sql`pg_try_advisory_xact_lock_shared(hashtextextended(${showLockKey(storeId, lsId)}, 0))`;
}

/**
 * Waits without a connection until recorders of a show may go on. Afterwards the lock is not held: it has to be tried again.
 *
 * @throws {AppError} UNAVAILABLE after waiting in vain
 */
export function showUnlocked(db: Database, storeId: string, lsId: string, waitMs: number): Promise<void> {
  const attempt = async (): Promise<void> => {
    const [show] = await db.$queryRaw<{ isHeld: boolean }[]>`
      SELECT ${trySharedLock(storeId, lsId)} AS "isHeld" FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
    if (show?.isHeld === false) throw new LockedError();
  };
  return whenUnlocked(`record ${showLockKey(storeId, lsId)}`, attempt, { waitMs, refusal: showLocked });
}

/**
 * Runs work in a transaction that has a show alone: batches that are being recorded have ended, and later ones wait.
 *
 * @throws {AppError} UNAVAILABLE where the show is locked for too long
 */
export function withShowAlone<Result>(
  db: RootDatabase,
  { storeId, lsId, timeoutMs }: { readonly storeId: string; readonly lsId: string; readonly timeoutMs: number },
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    inTransaction(db, { timeoutMs }, async (transaction) => {
      await lockShow(transaction, storeId, lsId);
      return work(transaction);
    });
  return whenUnlocked(`alone ${showLockKey(storeId, lsId)}`, attempt, { waitMs: waitAloneMs, refusal: showLocked });
}

/**
 * Takes a show alone, until the transaction ends. The lock is asked for beside the show's row, as recorders do: Citus takes
 * it on the node of the show, where theirs are.
 *
 * @throws {LockedError} where others do not give it back in a moment
 */
export async function lockShow(transaction: Database, storeId: string, lsId: string): Promise<void> {
  await setLocal(transaction, {
    lock_timeout: String(lockTimeoutMs),
    statement_timeout: String(statementTimeoutMs), // some statements go over all events of a show
    idle_in_transaction_session_timeout: String(idleTimeoutMs),
    // Without statistics on a show that is new, nested loops would be chosen, whose time grows with the square of its size.
    enable_nestloop: "off",
  });
  await asLocked(
    transaction.$executeRaw`
      SELECT pg_advisory_xact_lock(hashtextextended(${showLockKey(storeId, lsId)}, 0))::text
      FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`,
  );
}

/** The refusal of whoever waited in vain for a show. */
export function showLocked(): AppError {
  const message = "The totals of the show are being rebuilt or pruned. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 });
}
