import type { Database } from "../../database/client.js";
import { AppError, inOrderOfRows, type Problem, problemsListedMax, validationFailed } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import { clip } from "../../lib/text.js";
import type { Place } from "../product.input.js";
import { type ImportJob, type ReadResult, throwIfTooManyProblems } from "./job.js";
import { findPatchFaults, patchProblem, patchStaged, resolvePatches } from "./modes/patch.js";
import { removeNotStaged } from "./modes/replace.js";
import type { Written } from "./result.js";
import {
  collectHolders,
  createStaging,
  findDuplicates,
  findSkuConflicts,
  lockAndStage,
  stageAll,
  stagedRows,
  validRows,
  wholeRows,
} from "./staging.js";
import { assignToSite, assignWritten, type UpsertCounts, upsertProducts } from "../product.store.js";

/**
 * Stages all rows of an import that failed otherwise, to report every problem in one response. Stores them if the
 * catalog has changed meanwhile and nothing is wrong any more.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem, or TOO_MANY_DELETIONS
 */
export async function importWithFullCheck(transaction: Database, job: ImportJob, lock: LockCatalog): Promise<Written> {
  const { now, read } = await lockAndStage(transaction, job, lock);
  await throwIfProblems(transaction, job, read);
  const removed =
    job.mode === "REPLACE" ? await removeNotStaged(transaction, job, { rows: stagedRows, stored: read.rows }) : {};
  return { ...(await storeStaged(transaction, job, now)), ...removed };
}

/**
 * Refuses an import with invalid rows and reports the conflicts of its keys too. It waits for no other import.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export async function rejectWithAllProblems(transaction: Database, job: ImportJob): Promise<never> {
  await createStaging(transaction);
  const isPatch = job.mode === "PATCH";
  const read = await stageAll(transaction, job.source, { signal: job.signal, keysOnly: !isPatch, isPatch });
  await throwIfProblems(transaction, job, read);
  throw new AppError("UNAVAILABLE", "The products changed while they were read. Nothing was stored.");
}

/** @throws {AppError} VALIDATION_FAILED with invalid rows, duplicates and conflicts */
export async function throwIfProblems(transaction: Database, job: ImportJob, read: ReadResult): Promise<void> {
  throwIfTooManyProblems(read);
  const { source } = job;
  const { problems: own } = read;
  if (job.mode === "PATCH") await resolvePatches(transaction, job.target.storeId);
  await collectHolders(transaction, job);
  const duplicates = await findDuplicates(transaction, problemsListedMax);
  const conflicts = await findSkuConflicts(transaction, problemsListedMax);
  const faults = await findPatchFaults(transaction, problemsListedMax);
  const problems = inOrderOfRows(
    own,
    { ...faults, list: faults.list.map((row) => patchProblem(row, source.placeOf(row.line, row.field))) },
    { ...duplicates, list: duplicates.list.map((row) => duplicateProblem(row, source.placeOf(row.line, row.field))) },
    { ...conflicts, list: conflicts.list.map((row) => conflictProblem(row, source.placeOf(row.line, row.field))) },
  );
  if (problems.total > 0) throw validationFailed(problems);
}

export async function storeStaged(
  transaction: Database,
  { target: { storeId, siteId }, mode }: ImportJob,
  now: string,
): Promise<UpsertCounts> {
  if (mode !== "PATCH") {
    const counts = await upsertProducts(transaction, storeId, validRows, now, "staged");
    if (siteId !== undefined) await assignToSite(transaction, { storeId, siteId }, validRows, "staged");
    return counts;
  }
  const patched = await patchStaged(transaction, storeId, now);
  const { stored, created } = await upsertProducts(transaction, storeId, wholeRows, now, "staged");
  await assignWritten(transaction, { storeId, siteId }, now);
  return { stored: patched + stored, created };
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
