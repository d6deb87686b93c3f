import { randomUUID } from "node:crypto";
import type { RootDatabase } from "../../../database/client.js";
import { storeClientOf } from "../../../database/shares/caller.js";
import { inRolledBackTransaction, inTransaction } from "../../../database/transaction.js";
import { AppError } from "../../../errors.js";
import { blockingReads } from "../../readGate.js";
import { withCatalog } from "../catalogLock.js";
import { type ImportJob, importTimeoutMs, throwIfDisconnected, throwIfTooManyProblems } from "../job.js";
import { type ImportResult, importResult } from "../result.js";
import { accept, type Staged } from "./accept.js";
import { applyStaged, removeStaged, type StagedKey } from "./apply.js";
import { reclaim, recoverImports } from "./recover.js";
import { haveDistinctKeys, stage } from "./stage.js";

/**
 * Stores a long import by short transactions, since an open one blocks the embedded engine's only session: rows are
 * staged, then checked together and accepted with their answer, then stored while readers of this store wait. A process
 * that ends before acceptance has stored nothing; after it, recoverImports completes the rest.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem, or UNAVAILABLE
 */
export async function importByStaging(db: RootDatabase, job: ImportJob): Promise<ImportResult> {
  const own = storeClientOf(db); // completes and tidies up, even if the token has ended meanwhile
  const answer = await earlierAnswer(db, job);
  if (answer !== undefined) return answer;
  const key: StagedKey = { storeId: job.target.storeId, importId: randomUUID() };
  await recoverImports(own, "old");
  try {
    const read = await stage(db, key, job);
    throwIfTooManyProblems(read);
    const unique = await haveDistinctKeys(db, key);
    throwIfDisconnected(job.signal);
    return await blockingReads(key.storeId, async () => {
      const result = await decide(db, key, job, { read, unique });
      if (!job.dryRun) await applyStaged(own, key).catch(storedLater);
      return result;
    });
  } finally {
    // If this fails, recoverImports does it later; it leaves accepted imports.
    await removeStaged(own, key).catch(() => undefined);
    await reclaim(own).catch(() => undefined);
  }
}

function storedLater(cause: unknown): never {
  const message = "The import was accepted, but the database failed while it was stored. The rest is stored later.";
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5, cause });
}

class Unanswered extends Error {}

async function earlierAnswer(db: RootDatabase, { once }: ImportJob): Promise<ImportResult | undefined> {
  const unanswered = () => Promise.reject(new Unanswered());
  try {
    return await inTransaction(db, { timeoutMs: importTimeoutMs }, (transaction) => once(transaction, unanswered));
  } catch (error) {
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
}

function decide(db: RootDatabase, key: StagedKey, job: ImportJob, staged: Staged): Promise<ImportResult> {
  const { source, mode, dryRun, once, signal } = job;
  const transact = dryRun ? inRolledBackTransaction : inTransaction;
  return withCatalog(db, key.storeId, { isLong: source.isLong, signal }, (lock) =>
    transact(db, { timeoutMs: importTimeoutMs }, (transaction) =>
      once(transaction, async () => {
        const written = await accept(transaction, key, job, staged, lock);
        return importResult(written, { mode, dryRun, reading: source.reading?.() });
      }),
    ),
  );
}
