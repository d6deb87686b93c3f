import type { Database } from "../../database/client.js";
import { AppError, inOrderOfRows, type Problem, problemsListedMax, validationFailed } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import { clip } from "../../lib/text.js";
import type { Place } from "../product.input.js";
import type { ImportJob, ProductSource, ReadResult } from "./job.js";
import { collectHolders, createStaging, findDuplicates, findSkuConflicts, stageAll, stagedRows } from "./staging.js";
import { tieToSite, type UpsertCounts, upsertProducts } from "../product.store.js";

/**
 * Collects all rows of a source in a table and looks at them together, to name everything that is wrong in one answer.
 * Slower than writing them as they are read, so only for imports that failed that way; should nothing be wrong after
 * all (another import may have changed the catalog meanwhile), the rows are stored.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export async function importThoroughly(
  transaction: Database,
  { target: { storeId, siteId }, source, signal }: ImportJob,
  lock: LockCatalog,
): Promise<UpsertCounts> {
  const now = await lock(transaction, source.isLong ? "long" : "short, alone");
  await createStaging(transaction);
  const read = await stageAll(transaction, source, { signal });
  await refuseProblems(transaction, storeId, source, read);
  const counts = await upsertProducts(transaction, storeId, stagedRows, now, "staged");
  if (siteId !== undefined) await tieToSite(transaction, storeId, siteId, stagedRows);
  return counts;
}

/**
 * Refuses an import some of whose rows are wrong by themselves. Collects the keys of all rows, to name in the same answer
 * what is wrong with them together. It stores nothing, so it waits for no other import.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export async function nameProblems(
  transaction: Database,
  storeId: string,
  source: ProductSource,
  signal: AbortSignal | undefined,
): Promise<never> {
  await createStaging(transaction);
  const read = await stageAll(transaction, source, { signal, keysOnly: true });
  await refuseProblems(transaction, storeId, source, read);
  throw new AppError("UNAVAILABLE", "The products changed while they were read. Nothing was stored.");
}

/**
 * Names everything that is wrong with staged rows: by themselves, beside the others, and with what is stored.
 *
 * @throws {AppError} VALIDATION_FAILED unless nothing is
 */
export async function refuseProblems(
  transaction: Database,
  storeId: string,
  source: ProductSource,
  { problems: own }: ReadResult,
): Promise<void> {
  await collectHolders(transaction, storeId);
  const duplicates = await findDuplicates(transaction, problemsListedMax);
  const conflicts = await findSkuConflicts(transaction, problemsListedMax);
  const problems = inOrderOfRows(
    own,
    { ...duplicates, list: duplicates.list.map((row) => duplicateProblem(row, source.placeOf(row.line, row.field))) },
    { ...conflicts, list: conflicts.list.map((row) => conflictProblem(row, source.placeOf(row.line, row.field))) },
  );
  if (problems.total > 0) throw validationFailed(problems);
}

/** What is wrong with a row beside others: its id or its sku. */
interface TakenKey {
  readonly field: "id" | "sku";
  readonly value: string;
}

/** The same id or sku twice in one import is a problem of every product that has it. */
export function duplicateProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} appears in more than one product of this import.`;
  return { code: "DUPLICATE", message, ...place };
}

/** The key of a row belongs to another product, which keeps it. */
export function conflictProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...place };
}
