import type { Database, RootDatabase } from "../../../database/client.js";
import { LockedError, whenUnlocked } from "../../../database/shares/lockWait.js";
import { AppError } from "../../../errors.js";
import { keptFor, removeExpired } from "./expired.js";
import type { ImportResult } from "../result.js";

/** A request that may come again, as after an answer that was lost: all with the same key are to be one import. */
export interface IdempotentRequest {
  /** As the caller sent it. */
  readonly key: string;
  /** The same for requests that are the same. */
  readonly fingerprint: string;
  /** Which of the imports of the request this is. */
  readonly field: string;
  /** Told when the answer is that of an earlier request. */
  readonly onReplay: () => void;
}

/** Within a transaction: gives the answer that is stored, or else does the work and stores its answer with it. */
export type Once = (transaction: Database, work: () => Promise<ImportResult>) => Promise<ImportResult>;

/** The database's time, and that at or before which an answer was stored that is given no more. */
interface Times {
  readonly now: string;
  readonly expired: string;
}

/** Another request with the key is being worked on. */
class KeyInUse extends Error {}

const visibleAscii = /^[\x21-\x7e]{1,255}$/u;
/** How long a request waits for another with its key. */
const waitMs = 10_000;

/**
 * Runs an import that stores its answer with its rows, in one transaction, so that the same request gets that answer for a
 * day: in every process, and whatever happens to this one. What fails stores nothing, and may be tried again, corrected
 * too. Of requests that come at the same time one does the work; the others wait without holding a connection.
 *
 * @param signal aborted when the caller has gone: then the key is waited for no longer
 * @param run does the import; `once` goes around the work of each of its transactions. Perhaps it runs more than once
 * @throws {AppError} BAD_REQUEST for a key that is none, IDEMPOTENCY_KEY_REUSED for one that came with another request,
 *   IDEMPOTENCY_KEY_IN_USE after waiting in vain
 */
export async function onceForKey(
  db: RootDatabase,
  storeId: string,
  request: IdempotentRequest | undefined,
  signal: AbortSignal | undefined,
  run: (once: Once) => Promise<ImportResult>,
): Promise<ImportResult> {
  if (request === undefined) return run((_, work) => work());
  if (!visibleAscii.test(request.key)) {
    throw new AppError("BAD_REQUEST", "The header Idempotency-Key must have 1 to 255 visible ASCII characters.");
  }
  const attempt = async () => {
    try {
      return await run((transaction, work) => workOnce(transaction, storeId, request, work));
    } catch (error) {
      throw error instanceof KeyInUse ? new LockedError() : error;
    }
  };
  const lock = `import ${storeId} ${request.key}`;
  const result = await whenUnlocked(lock, attempt, { waitMs, signal, refusal: keyInUse });
  await removeExpired(db, storeId).catch(() => undefined); // the import is stored; the next one, or the sweep, tries again
  return result;
}

async function workOnce(
  transaction: Database,
  storeId: string,
  request: IdempotentRequest,
  work: () => Promise<ImportResult>,
): Promise<ImportResult> {
  const times = await lockKey(transaction, storeId, request);
  const answer = await findAnswer(transaction, storeId, request, times);
  if (answer !== undefined) {
    request.onReplay();
    return answer;
  }
  const result = await work();
  await storeAnswer(transaction, storeId, request, times, result);
  return result;
}

/** Takes the key until the transaction ends. A statement of its own: what the next one sees, it sees with the key taken. */
async function lockKey(transaction: Database, storeId: string, { key }: IdempotentRequest): Promise<Times> {
  const name = `import ${storeId} ${key}`;
  const [{ isLocked, ...times }] = await transaction.$queryRaw<[Times & { isLocked: boolean }]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isLocked", now()::text AS now,
      (now() - ${keptFor}::interval)::text AS expired`;
  if (!isLocked) throw new KeyInUse();
  return times;
}

/** @throws {AppError} IDEMPOTENCY_KEY_REUSED */
async function findAnswer(
  transaction: Database,
  storeId: string,
  { key, field, fingerprint }: IdempotentRequest,
  { expired }: Times,
): Promise<ImportResult | undefined> {
  const found = await transaction.$queryRaw<{ fingerprint: string; answer: string }[]>`
    SELECT fingerprint, answer FROM "IdempotencyKey"
    WHERE "storeId" = ${storeId} AND key = ${key} AND "createdAt" > ${expired}::timestamptz
      AND (field = ${field} OR fingerprint <> ${fingerprint})`;
  if (found.some((row) => row.fingerprint !== fingerprint)) throw keyReused();
  const [row] = found;
  return row === undefined ? undefined : (JSON.parse(row.answer) as ImportResult); // storeAnswer wrote it
}

/** Stores an answer, over one that is too old to be given again. Citus would not work out here how old that is. */
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
  if (stored === 0) throw new KeyInUse(); // another was faster, where the lock did not keep them apart
}

/** The refusal of a key that came with another request. */
export function keyReused(): AppError {
  return new AppError("IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key came before with another request.");
}

/** The refusal of a request that waited in vain for another with its key. */
export function keyInUse(): AppError {
  return new AppError("IDEMPOTENCY_KEY_IN_USE", "Another request with this Idempotency-Key is still being worked on.", {
    retryAfterSeconds: 1,
  });
}
