import type { Database } from "../../database/client.js";
import { type Problem, validationFailed } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import { type FailedRow, failuresListedMax, rowProblemsMax } from "../reading/rowChecks.js";
import { conflictProblem, duplicateProblem, storeStaged } from "./fullCheck.js";
import type { ImportJob, ProductSource, ReadResult } from "./job.js";
import type { ImportMode } from "./modes/mode.js";
import { findPatchFaults, patchProblem, resolvePatches } from "./modes/patch.js";
import { removeNotStaged } from "./modes/replace.js";
import type { ImportFailure, ImportFailures, Written } from "./result.js";
import {
  collectAccepted,
  collectHolders,
  countFailing,
  countInvalidWithKey,
  countValid,
  failDependents,
  failedRows,
  failInvalidAndDuplicates,
  findDuplicates,
  findSkuConflicts,
  keysOf,
  lockAndStage,
  stagedRows,
} from "./staging.js";

/** @throws {AppError} VALIDATION_FAILED with the problems of the import as a whole, or TOO_MANY_DELETIONS */
export async function importValidRows(transaction: Database, job: ImportJob, lock: LockCatalog): Promise<Written> {
  const { now, read } = await lockAndStage(transaction, job, lock);
  const { mode, ...failures } = await failRows(transaction, job, read);
  const removed =
    mode === "REPLACE"
      ? await removeNotStaged(transaction, job, {
          rows: stagedRows,
          failed: failedRows,
          stored: await countValid(transaction),
        })
      : {};
  const counts = await storeStaged(transaction, job, now);
  return { ...counts, ...removed, ...failures };
}

/**
 * Marks staged rows that are invalid, duplicate, or conflict with a product that this import does not replace. A failed
 * row without keys may mean any product, so nothing is deleted then.
 *
 * @throws {AppError} VALIDATION_FAILED with the problems of the import as a whole
 */
export async function failRows(
  transaction: Database,
  job: ImportJob,
  { problems, failed = { list: [], total: 0 } }: ReadResult,
): Promise<FailedImport> {
  if (problems.total > 0) throw validationFailed(problems);
  if (job.mode === "PATCH") await resolvePatches(transaction, job.target.storeId);
  await failInvalidAndDuplicates(transaction);
  const unnamed = failed.total - (await countInvalidWithKey(transaction));
  const mode = unnamed > 0 ? "UPSERT" : job.mode;
  await collectHolders(transaction, { ...job, mode });
  await failDependents(transaction);
  if (job.acceptedLines !== undefined) await collectAccepted(transaction, job.acceptedLines);
  const total = failed.total + (await countFailing(transaction));
  const failures = { list: await listFailures(transaction, failed.list, job.source), total };
  return mode === job.mode ? { mode, failures } : { mode, failures, deleted: 0, remark: nothingDeleted };
}

interface FailedImport extends Pick<Written, "deleted" | "remark"> {
  readonly mode: ImportMode;
  readonly failures: ImportFailures;
}

const nothingDeleted = "No product is deleted, since a failed one has neither an id nor a sku that can be read.";

/** Each kind of problem is listed far enough to include the first rows of all. */
async function listFailures(
  transaction: Database,
  byThemselves: readonly FailedRow[],
  source: ProductSource,
): Promise<ImportFailures["list"]> {
  const rows = new Map(byThemselves.map(({ line, ...row }) => [line, { ...row, problems: [...row.problems] }]));
  const add = (line: number, problem: Problem) => {
    const row = rows.get(line) ?? { problems: [], problemsTotal: 0 };
    rows.set(line, { problems: [...row.problems, problem], problemsTotal: row.problemsTotal + 1 });
  };
  const faults = await findPatchFaults(transaction, failuresListedMax);
  for (const row of faults.list) add(row.line, patchProblem(row, source.placeOf(row.line, row.field)));
  const duplicates = await findDuplicates(transaction, 2 * failuresListedMax); // a row may have two
  for (const row of duplicates.list) add(row.line, duplicateProblem(row, source.placeOf(row.line, row.field)));
  const conflicts = await findSkuConflicts(transaction, failuresListedMax);
  for (const row of conflicts.list) add(row.line, conflictProblem(row, source.placeOf(row.line, row.field)));

  const first = [...rows].toSorted(([a], [b]) => a - b).slice(0, failuresListedMax);
  const keys = await keysOf(
    transaction,
    first.map(([line]) => line),
  );
  return first.map(([line, { problems, problemsTotal }]): ImportFailure => {
    const { id = null, sku = null } = keys.get(line) ?? {};
    return { ...source.positionOf(line), id, sku, problems: problems.slice(0, rowProblemsMax), problemsTotal };
  });
}
