import type { Database } from "../../database/client.js";
import { AppError, inOrderOfRows, type Problem, problemsListedMax, validationFailed } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import { clip } from "../../lib/text.js";
import type { Place } from "../product.input.js";
import type { ImportJob, ProductSource, ReadResult } from "./job.js";
import { collectHolders, createStaging, findDuplicates, findSkuConflicts, stageAll, stagedRows } from "./staging.js";
import { tieToSite, type UpsertCounts, upsertProducts } from "../product.store.js";

/**
 * Stages all rows of an import that failed otherwise, to report every problem in one answer; stores them if, after a
 * change of the catalog, nothing is wrong.
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
 * Refuses an import with invalid rows and reports the conflicts of its keys too. It waits for no other import.
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

/** @throws {AppError} VALIDATION_FAILED with invalid rows, duplicates and conflicts */
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

interface TakenKey {
  readonly field: "id" | "sku";
  readonly value: string;
}

export function duplicateProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} appears in more than one product of this import.`;
  return { code: "DUPLICATE", message, ...place };
}

export function conflictProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...place };
}
