import type { Database, RootDatabase } from "../../database/client.js";
import { storeGone } from "../../database/shares/caller.js";
import { LockedError, retryWhileLocked } from "../../database/shares/lockWait.js";
import { AppError } from "../../errors.js";
import type { IdempotentRequest, ImportResult } from "./importTypes.js";

/** Returns the stored answer, or does the work and stores its answer if there is one. */
type Once<Answer> = (transaction: Database, work: () => Promise<Answer>) => Promise<Answer | ImportResult>;

interface Times {
  readonly now: string;
  readonly expired: string;
}

class KeyInUse extends Error {}

const visibleAscii = /^[\x21-\x7e]{1,255}$/u;
const waitMs = 10_000;
/** How many expired answers a request removes. */
const expiredMax = 100;

/** @throws {AppError} BAD_REQUEST */
export function requireValidKey({ key }: IdempotentRequest): void {
  if (visibleAscii.test(key)) return;
  throw new AppError("BAD_REQUEST", "The header Idempotency-Key must have 1 to 255 visible ASCII characters.");
}

/**
 * Looks for the answer to an earlier request with this key, before doing anything for this one.
 *
 * @throws {AppError} IDEMPOTENCY_KEY_REUSED for the key of another request
 */
export async function findEarlierAnswer(
  db: Database,
  storeId: string,
  request: IdempotentRequest,
): Promise<ImportResult | undefined> {
  const [{ expired }] = await db.$queryRaw<[{ expired: string }]>`
    SELECT (now() - ${keptFor}::interval)::text AS expired`;
  const answer = await findAnswer(db, storeId, request, { expired });
  if (answer !== undefined) request.onReplay();
  return answer;
}

/**
 * Runs an import, and stores its answer in the same transaction, because a key elsewhere could survive a rollback: for a day, the same
 * request gets that answer. A failed request stores nothing and may be repeated. Concurrent requests wait without a connection.
 *
 * @param run does the import, perhaps repeatedly; `once` wraps the work of each of its transactions
 * @throws {AppError} IDEMPOTENCY_KEY_REUSED for the key of another request, IDEMPOTENCY_KEY_IN_USE after the maximum wait
 */
export async function idempotentImport<Answer extends ImportResult | undefined>(
  db: RootDatabase,
  storeId: string,
  request: IdempotentRequest | undefined,
  signal: AbortSignal | undefined,
  run: (once: Once<Answer>) => Promise<Answer | ImportResult>,
): Promise<Answer | ImportResult> {
  if (request === undefined) return run((_, work) => work());
  const attempt = async () => {
    try {
      return await run((transaction, work) => workOnce(transaction, storeId, request, work));
    } catch (error) {
      throw error instanceof KeyInUse ? new LockedError() : error;
    }
  };
  const lock = `import ${storeId} ${request.key}`;
  const result = await retryWhileLocked(lock, attempt, { waitMs, signal, refusal: keyInUse });
  await removeExpired(db, storeId, expiredMax).catch(() => undefined); // the next import, or the sweep, tries again
  return result;
}

async function workOnce<Answer extends ImportResult | undefined>(
  transaction: Database,
  storeId: string,
  request: IdempotentRequest,
  work: () => Promise<Answer>,
): Promise<Answer | ImportResult> {
  const times = await lockKey(transaction, storeId, request);
  const answer = await findAnswer(transaction, storeId, request, times);
  if (answer !== undefined) {
    request.onReplay();
    return answer;
  }
  const result = await work();
  if (result !== undefined) await storeAnswer(transaction, storeId, request, times, result);
  return result;
}

/**
 * A separate statement, so that the next one sees what was committed before. Selects from the store's row: see storeStatements.ts.
 */
async function lockKey(transaction: Database, storeId: string, { key }: IdempotentRequest): Promise<Times> {
  const name = `import ${storeId} ${key}`;
  const [row] = await transaction.$queryRaw<(Times & { isLocked: boolean })[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isLocked", now()::text AS now,
      (now() - ${keptFor}::interval)::text AS expired
    FROM "Store" AS o WHERE o.id = ${storeId}`;
  if (row === undefined) throw storeGone();
  if (!row.isLocked) throw new KeyInUse();
  return row;
}

/** @throws {AppError} IDEMPOTENCY_KEY_REUSED */
async function findAnswer(
  transaction: Database,
  storeId: string,
  { key, field, fingerprint }: IdempotentRequest,
  { expired }: Pick<Times, "expired">,
): Promise<ImportResult | undefined> {
  const found = await transaction.$queryRaw<{ fingerprint: string; answer: string }[]>`
    SELECT fingerprint, answer FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND key = ${key} AND "createdAt" > ${expired}::timestamptz
      AND (field = ${field} OR fingerprint <> ${fingerprint})`;
  if (found.some((row) => row.fingerprint !== fingerprint)) throw keyReused();
  const [row] = found;
  return row && (JSON.parse(row.answer) as ImportResult);
}

/** Stores an answer, or replaces an expired one. Times are parameters: see storeStatements.ts. */
async function storeAnswer(
  transaction: Database,
  storeId: string,
  { key, field, fingerprint }: IdempotentRequest,
  { now, expired }: Times,
  answer: ImportResult,
): Promise<void> {
  const stored = await transaction.$executeRaw`
    INSERT INTO "IdempotencyKey" ("storeId", key, field, fingerprint, answer, "createdAt")
    VALUES (${storeId}, ${key}, ${field}, ${fingerprint}, ${JSON.stringify(answer)}, ${now}::timestamptz)
    ON CONFLICT ("storeId", key, field) DO UPDATE
      SET fingerprint = EXCLUDED.fingerprint, answer = EXCLUDED.answer, "createdAt" = EXCLUDED."createdAt"
      WHERE "IdempotencyKey"."createdAt" <= ${expired}::timestamptz`;
  if (stored === 0) throw new KeyInUse(); // a concurrent request was faster
}

export function keyReused(): AppError {
  return new AppError("IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was already used for a different request.");
}

export function keyInUse(): AppError {
  return new AppError("IDEMPOTENCY_KEY_IN_USE", "Another request with this Idempotency-Key is still in progress.", {
    retryAfterSeconds: 1,
  });
}

const keptFor = "24 hours";

/** Removes at most `max` expired answers, the oldest first. Checks the age twice, to keep a row that was just replaced. */
export async function removeExpired(db: Database, storeId: string, max: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval AND (key, field) IN (
      SELECT key, field FROM "IdempotencyKey"
      WHERE "storeId" = ${storeId} AND "createdAt" <= now() - ${keptFor}::interval
      ORDER BY "createdAt" LIMIT ${max})`;
}
