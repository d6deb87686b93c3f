import { setTimeout as sleep } from "node:timers/promises";
import type { Database, RootDatabase } from "../database/client.js";
import { AppError } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";

/** An import of the same store may be waited for this long before the caller is told to come back. */
const waitMs = 10_000;
const pauseMinMs = 20;
const pauseMaxMs = 500;
const statementTimeoutMs = 15 * 60_000;

/** A long import of the store is under way, or waits for its turn. */
class CatalogInUse extends Error {}

/**
 * How an import takes a store's catalog. A `long` one of several statements has it alone: imports that share ids and skus
 * in different orders would deadlock. Short ones of one statement, which writes in the order of ids, run beside each other;
 * what they hold of each other they give up soon. A `short, alone` one looks at the catalog before it writes.
 */
type CatalogUse = "long" | "short" | "short, alone";

const inUseByLong = (storeId: string) => Prisma.sql`hashtextextended(${`long import ${storeId}`}, 0)`;
const inUse = (storeId: string) => Prisma.sql`hashtextextended(${`catalog ${storeId}`}, 0)`;

/**
 * Takes a store's catalog for an import, until the transaction ends. Long imports, of which there are few at once, wait here
 * for their turn, and short ones for other short ones; a short one that comes upon a long one is sent to wait outside.
 *
 * @returns the time of the import, later than that of every import that it waited for (in microseconds, hence as text)
 * @throws what whenCatalogIsFree catches
 */
export async function lockCatalog(transaction: Database, storeId: string, use: CatalogUse): Promise<string> {
  // Refused also while a long import waits: a stream of short ones does not keep it from its turn.
  const first =
    use === "long"
      ? Prisma.sql`pg_advisory_xact_lock(${inUseByLong(storeId)})::text IS NOT NULL`
      : Prisma.sql`pg_try_advisory_xact_lock_shared(${inUseByLong(storeId)})`;
  const second =
    use === "short"
      ? Prisma.sql`pg_advisory_xact_lock_shared(${inUse(storeId)})::text`
      : Prisma.sql`pg_advisory_xact_lock(${inUse(storeId)})::text`;
  const [row] = await transaction.$queryRaw<[{ isLocked: boolean; now: string }]>`
    SELECT set_config('lock_timeout', ${String(waitMs)}, true),
      set_config('statement_timeout', ${String(statementTimeoutMs)}, true),
      (CASE WHEN ${first} THEN ${second} END) IS NOT NULL AS "isLocked", clock_timestamp()::text AS now`;
  if (!row.isLocked) throw new CatalogInUse();
  return row.now;
}

/**
 * Runs a transaction that takes a store's catalog; again, once it is free, where a long import had it. In between no
 * connection is held: those who wait for one store take none from the others.
 *
 * @throws {AppError} UNAVAILABLE after waiting in vain
 */
export async function whenCatalogIsFree<Result>(
  db: RootDatabase,
  storeId: string,
  transact: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      return await transact();
    } catch (error) {
      if (!(error instanceof CatalogInUse)) throw error;
    }
    await untilFree(db, storeId, deadline);
  }
}

async function untilFree(db: RootDatabase, storeId: string, deadline: number): Promise<void> {
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    if (Date.now() > deadline) {
      const message = "A long import of this store is under way. Nothing was changed.";
      throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 });
    }
    await sleep(pauseMs);
    const [row] = await db.$queryRaw<[{ isFree: boolean }]>`
      SELECT pg_try_advisory_xact_lock_shared(${inUseByLong(storeId)}) AS "isFree"`;
    if (row.isFree) return;
  }
}
