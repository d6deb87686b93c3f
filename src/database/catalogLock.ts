import { engineOf } from "./engine.js";
import type { Database, RootDatabase } from "./client.js";
import { storeGone } from "./shares/caller.js";
import { asLocked, LockedError, whenUnlocked } from "./shares/lockWait.js";
import { noteMoves, waitForMoves } from "./sql/storeStatements.js";
import { AppError } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";

/**
 * How long an import waits for other imports of its store; a long one may follow several. A short one may then wait 5 seconds for
 * a connection, so that it is refused within the documented 15 seconds if the database hangs.
 */
const waitMs = { short: 9_000, long: 30_000 } as const;
/** How long a long import keeps new ones out while it waits for running ones to end. */
const drainMs = 1_000;
/** How long an import waits for locked rows. A short one then rolls back and runs again. */
const rowLockMs = { short: 3_000, long: 10_000 } as const;
const statementTimeoutMs = 15 * 60_000;

/**
 * `long` imports have several statements and exclude all others, because they would deadlock in different orders of ids and
 * skus. `short` ones have one statement in the order of ids and run concurrently. `short, exclusive` reads the catalog before
 * it writes.
 */
type CatalogUse = "long" | "short" | "short, exclusive";

/**
 * Locks the catalog until the transaction ends.
 *
 * @returns the time of the import in microseconds, later than that of every import it waited for
 * @throws {LockedError} caught by withCatalog
 */
export type LockCatalog = (transaction: Database, use: CatalogUse) => Promise<string>;

interface CatalogOptions {
  readonly isLong: boolean;
  readonly signal?: AbortSignal | undefined;
  /**
   * On the embedded engine, stores the accepted import that is in the way instead of waiting for it, because its process or token
   * may have ended.
   */
  readonly finishAccepted?: () => Promise<void>;
}

/**
 * Repeats a transaction that locks a store's catalog until it gets the lock. This process's imports take turns, and hold no
 * connection between attempts.
 *
 * @param transact repeatable; throws LockedError if the catalog or its rows are locked
 * @throws {AppError} UNAVAILABLE after the maximum wait
 */
export async function withCatalog<Result>(
  db: RootDatabase,
  storeId: string,
  { isLong, signal, finishAccepted = () => Promise.resolve() }: CatalogOptions,
  transact: (lock: LockCatalog) => Promise<Result>,
): Promise<Result> {
  const isEmbedded = engineOf(db).kind === "embedded";
  const lock = isEmbedded ? lockCatalogOfSession : lockCatalog;
  const deadline = performance.now() + waitMs[isLong ? "long" : "short"];
  for (let isFirst = true; ;) {
    const attempt = async () => {
      await waitForMoves(db, storeId, deadline - performance.now());
      if (!isFirst) await (isEmbedded ? finishAccepted() : checkFree(db, storeId, isLong));
      isFirst = false;
      return untilLocked((onLocked) =>
        transact(async (transaction, use) => {
          const now = await lock(transaction, storeId, use);
          onLocked();
          return now;
        }),
      );
    };
    const leftMs = Math.max(0, deadline - performance.now());
    const { outcome } = await whenUnlocked(`catalog ${storeId}`, attempt, {
      waitMs: leftMs,
      fromFirstAttempt: isLong,
      signal,
      refusal,
    });
    try {
      return await outcome;
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      noteMoves(db, storeId, error);
      if (performance.now() > deadline) throw refusal();
    }
  }
}

/** Resolves once the lock is acquired, so that the next import may try. */
function untilLocked<Result>(
  transact: (onLocked: () => void) => Promise<Result>,
): Promise<{ readonly outcome: Promise<Result> }> {
  return new Promise((resolve, reject) => {
    const outcome = transact(() => resolve({ outcome }));
    outcome.then(() => resolve({ outcome }), reject);
  });
}

const inUseByLong = (storeId: string) => Prisma.sql`hashtextextended(${`long import ${storeId}`}, 0)`;
const inUse = (storeId: string) => Prisma.sql`hashtextextended(${`catalog ${storeId}`}, 0)`;

/** Selects from the store's row: see storeStatements.ts. */
const ofStore = (storeId: string) => Prisma.sql`FROM "Store" AS o WHERE o.id = ${storeId}`;

async function checkFree(db: RootDatabase, storeId: string, isLong: boolean): Promise<void> {
  const tryLock = isLong
    ? Prisma.sql`pg_try_advisory_xact_lock(${inUseByLong(storeId)})`
    : Prisma.sql`pg_try_advisory_xact_lock_shared(${inUse(storeId)})`;
  const [row] = await db.$queryRaw<{ isFree: boolean }[]>`SELECT ${tryLock} AS "isFree" ${ofStore(storeId)}`;
  if (row?.isFree === false) throw new LockedError();
}

/**
 * A stream of short imports cannot starve a long one, because PostgreSQL queues new shared locks behind a waiting exclusive one.
 * Long imports first try another lock, so that only one of them waits. Generic plans look rows up by key in every store:
 * statistics may not know a new store yet, and a plan made for it would read its whole catalog for each chunk.
 */
async function lockCatalog(transaction: Database, storeId: string, use: CatalogUse): Promise<string> {
  const first = use === "long" ? Prisma.sql`pg_try_advisory_xact_lock(${inUseByLong(storeId)})` : Prisma.sql`true`;
  const second =
    use === "short"
      ? Prisma.sql`pg_try_advisory_xact_lock_shared(${inUse(storeId)})`
      : Prisma.sql`pg_advisory_xact_lock(${inUse(storeId)})::text IS NOT NULL`;
  const rowsMs = rowLockMs[use === "long" ? "long" : "short"];
  const statementsTakeLong = Prisma.sql`set_config('statement_timeout', ${String(statementTimeoutMs)}, true)`;
  const plansAreGeneric = Prisma.sql`set_config('plan_cache_mode', 'force_generic_plan', true)`;
  // A separate statement, so that it applies to this session and not only to the store's node.
  if (use !== "short") await transaction.$executeRaw`SELECT ${statementsTakeLong}`;
  const [row] = await asLocked(
    transaction.$queryRaw<{ isLocked: boolean; now: string }[]>`
      SELECT set_config('lock_timeout', ${String(drainMs)}, true),
        (CASE WHEN ${first} THEN ${second} ELSE false END) AS "isLocked",
        set_config('lock_timeout', ${String(rowsMs)}, true),
        ${statementsTakeLong}, ${plansAreGeneric}, clock_timestamp()::text AS now
      ${ofStore(storeId)}`,
  );
  if (row === undefined) throw storeGone();
  if (!row.isLocked) throw new LockedError();
  return row.now;
}

/** A transaction of the embedded engine is alone, except between the steps of a staged import. */
async function lockCatalogOfSession(transaction: Database, storeId: string): Promise<string> {
  const [row] = await transaction.$queryRaw<{ isFree: boolean; now: string }[]>`
    SELECT NOT EXISTS (SELECT FROM "StagedImport" WHERE "storeId" = ${storeId} AND "decidedAt" IS NOT NULL) AS "isFree",
      clock_timestamp()::text AS now ${ofStore(storeId)}`;
  if (row === undefined) throw storeGone();
  if (!row.isFree) throw new LockedError();
  return row.now;
}

function refusal(): AppError {
  const message = "Another import of this store is in progress. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}
