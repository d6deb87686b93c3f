import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked, LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { isSingleSession } from "../../database/transaction.js";
import { AppError } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import { applyAllStaged } from "./embedded/apply.js";

/** How long an import waits for others of its store. A long one may follow some that are as long as itself. */
const waitMs = { short: 10_000, long: 30_000 } as const;
/** How long running imports have to end while new ones are kept out. Much longer than a short one takes. */
const drainMs = 1_000;
/** How long rows are waited for that others change. A short import is then rolled back, and tried again. */
const rowLockMs = { short: 3_000, long: 10_000 } as const;
const statementTimeoutMs = 15 * 60_000;

/**
 * How an import takes a store's catalog. A `long` one of several statements has it alone: imports that share ids and skus
 * in different orders would deadlock. Short ones of one statement, which writes in the order of ids, run beside each other;
 * what they hold of each other they give up soon. A `short, alone` one looks at the catalog before it writes.
 */
type CatalogUse = "long" | "short" | "short, alone";

/**
 * Takes the catalog for a transaction, until that ends.
 *
 * @returns the time of the import, later than that of every import that it waited for (in microseconds, hence as text)
 * @throws {LockedError} which withCatalog catches
 */
export type LockCatalog = (transaction: Database, use: CatalogUse) => Promise<string>;

interface CatalogOptions {
  /** Whether the import takes more than a moment. */
  readonly isLong: boolean;
  /** Aborted when the caller has gone: then the catalog is not taken. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a transaction that takes a store's catalog; again, where another had it. In between no connection is held. Imports
 * of this process come in the order in which they were sent, whether long or short.
 *
 * @param transact must be repeatable: it ends with LockedError where the catalog, or rows of it, are another's
 * @throws {AppError} UNAVAILABLE after waiting in vain
 */
export async function withCatalog<Result>(
  db: RootDatabase,
  storeId: string,
  { isLong, signal }: CatalogOptions,
  transact: (lock: LockCatalog) => Promise<Result>,
): Promise<Result> {
  const { lock, beforeNextAttempt } = (await isSingleSession(db)) ? ofSingleSession : ofServer;
  const deadline = performance.now() + waitMs[isLong ? "long" : "short"];
  for (let isFirst = true; ;) {
    const attempt = async () => {
      if (!isFirst) await beforeNextAttempt(db, storeId, isLong);
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
      if (performance.now() > deadline) throw refusal();
    }
  }
}

/** Resolves once the lock is had, so that the next one may try, with what the transaction will come to. */
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

/** A cheap look before a transaction is begun anew. */
async function checkFree(db: RootDatabase, storeId: string, isLong: boolean): Promise<void> {
  const tryLock = isLong
    ? Prisma.sql`pg_try_advisory_xact_lock(${inUseByLong(storeId)})`
    : Prisma.sql`pg_try_advisory_xact_lock_shared(${inUse(storeId)})`;
  const [{ isFree }] = await db.$queryRaw<[{ isFree: boolean }]>`SELECT ${tryLock} AS "isFree"`;
  if (!isFree) throw new LockedError();
}

/**
 * Who wants the catalog alone waits, shortly, for short imports that run. A lock that somebody waits for is not given to who
 * only tries it: so new ones do not begin meanwhile, and a stream of them, of this process or another, does not keep it from
 * its turn. Long imports try a lock of their own before: of many that want the catalog, one waits.
 *
 * @returns the time of the import, later than that of every import that it waited for (in microseconds, hence as text)
 */
async function lockCatalog(transaction: Database, storeId: string, use: CatalogUse): Promise<string> {
  const first = use === "long" ? Prisma.sql`pg_try_advisory_xact_lock(${inUseByLong(storeId)})` : Prisma.sql`true`;
  const second =
    use === "short"
      ? Prisma.sql`pg_try_advisory_xact_lock_shared(${inUse(storeId)})`
      : Prisma.sql`pg_advisory_xact_lock(${inUse(storeId)})::text IS NOT NULL`;
  const rowsMs = rowLockMs[use === "long" ? "long" : "short"];
  const [row] = await asLocked(
    transaction.$queryRaw<[{ isLocked: boolean; now: string }]>`
      SELECT set_config('lock_timeout', ${String(drainMs)}, true),
        (CASE WHEN ${first} THEN ${second} ELSE false END) AS "isLocked",
        set_config('lock_timeout', ${String(rowsMs)}, true),
        set_config('statement_timeout', ${String(statementTimeoutMs)}, true), clock_timestamp()::text AS now`,
  );
  if (!row.isLocked) throw new LockedError();
  return row.now;
}

/** In the one session of the embedded engine a transaction is alone, but between those of an import that is being stored. */
async function lockCatalogOfSession(transaction: Database, storeId: string): Promise<string> {
  const [row] = await transaction.$queryRaw<[{ isFree: boolean; now: string }]>`
    SELECT count(*) = 0 AS "isFree", clock_timestamp()::text AS now FROM "StagedImport"
    WHERE "storeId" = ${storeId} AND "decidedAt" IS NOT NULL`;
  if (!row.isFree) throw new LockedError();
  return row.now;
}

const ofServer = { lock: lockCatalog, beforeNextAttempt: checkFree };
/** What is in the way is done rather than waited for: its process may have ended. */
const ofSingleSession = { lock: lockCatalogOfSession, beforeNextAttempt: applyAllStaged };

function refusal(): AppError {
  const message = "Another import of this store is under way. Nothing was changed.";
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}
