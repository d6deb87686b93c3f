import type { Database } from "../../database/client.js";
import { type Problem, validationFailed } from "../../errors.js";
import type { LockCatalog } from "./catalogLock.js";
import { type FailedRow, failuresListedMax, rowProblemsMax } from "../reading/rowChecks.js";
import type { ImportJob, ProductSource, ReadResult } from "./job.js";
import { conflictProblem, duplicateProblem } from "./thorough.js";
import type { ImportFailure, ImportFailures, Written } from "./result.js";
import {
  collectHolders,
  countFailing,
  createStaging,
  failDependents,
  failInvalidAndDuplicates,
  findDuplicates,
  findSkuConflicts,
  keysOf,
  stageAll,
  validRows,
} from "./staging.js";
import { tieToSite, upsertProducts } from "../product.store.js";

/**
 * Stores the rows of a source that do not fail.
 *
 * @throws {AppError} VALIDATION_FAILED with the problems of the import as a whole
 */
export async function importValidRows(
  transaction: Database,
  { target: { storeId, siteId }, source, signal }: ImportJob,
  lock: LockCatalog,
): Promise<Written> {
  const now = await lock(transaction, source.isLong ? "long" : "short, alone");
  await createStaging(transaction);
  const read = await stageAll(transaction, source, { signal });
  const failures = await failRows(transaction, storeId, source, read);
  const counts = await upsertProducts(transaction, storeId, validRows, now, "staged");
  if (siteId !== undefined) await tieToSite(transaction, storeId, siteId, validRows);
  return { ...counts, failures };
}

/**
 * Marks the staged rows that are invalid, duplicate, or conflict with a product that this import does not replace.
 *
 * @throws {AppError} as importValidRows
 */
export async function failRows(
  transaction: Database,
  storeId: string,
  source: ProductSource,
  { problems, failed = { list: [], total: 0 } }: ReadResult,
): Promise<ImportFailures> {
  if (problems.total > 0) throw validationFailed(problems);
  await failInvalidAndDuplicates(transaction);
  await collectHolders(transaction, storeId);
  await failDependents(transaction);
  const total = failed.total + (await countFailing(transaction));
  return { list: await listFailures(transaction, failed.list, source), total };
}

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
