import type { Database } from "../../database/client.js";
import { AppError, inOrderOfRows, type Problem, problemsListedMax, validationFailed } from "../../errors.js";
import { clip } from "../../lib/text.js";
import type { Place } from "../product.input.js";
import { chunkRowsMax } from "../reading/chunkRows.js";
import { type FailedRow, failuresListedMax, rowProblemsMax } from "../reading/rowChecks.js";
import {
  collectAccepted,
  countStaged,
  failDependents,
  failInvalidAndDuplicates,
  findDuplicates,
  findHolders,
  findSkuConflicts,
  keysOf,
} from "./check.sql.js";
import type { ImportJob, ProductSource, ReadResult } from "./job.js";
import type { ImportMode } from "./modes/mode.js";
import { findPatchFaults, patchProblem, resolvePatches } from "./modes/patch.js";
import type { ImportFailure, ImportFailures, Written } from "./result.js";
import type { StagedRows } from "./staging/rows.js";
import { type StagedKey, withoutNestedLoops } from "./staging/rows.js";

export interface Checked extends Pick<Written, "remark"> {
  /** UPSERT in place of a REPLACE that may delete nothing. */
  readonly mode: ImportMode;
  readonly failures?: ImportFailures;
}

/**
 * Compares all rows with each other and with the catalog: marks those that fail, or refuses the import where one does.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem; UNAVAILABLE where rows are gone, as after a crash of the server
 */
export async function check(transaction: Database, job: ImportJob, staged: StagedRows): Promise<Checked> {
  await requireAll(transaction, staged);
  const work = () => checkRows(transaction, job, staged);
  // With fewer rows, nested loops look up what few products of a large catalog they concern.
  return staged.rows > chunkRowsMax ? withoutNestedLoops(transaction, work) : work();
}

async function checkRows(transaction: Database, job: ImportJob, { key, read }: StagedRows): Promise<Checked> {
  if (job.mode === "PATCH") await resolvePatches(transaction, key);
  if (job.errorPolicy === "REJECT_FAILED") return failRows(transaction, job, { key, read });
  await findHolders(transaction, key, job);
  const problems = await findProblems(transaction, job, { key, read });
  if (problems.total > 0) throw validationFailed(problems);
  return { mode: job.mode };
}

/** @throws {AppError} UNAVAILABLE */
export async function requireAll(transaction: Database, { key, rows }: StagedRows): Promise<void> {
  const { all } = await countStaged(transaction, key);
  if (all !== rows) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
}

interface CheckedRows {
  readonly key: StagedKey;
  /** The problems of rows by themselves. */
  readonly read: ReadResult;
}

async function findProblems(transaction: Database, { source }: ImportJob, { key, read }: CheckedRows) {
  const faults = await findPatchFaults(transaction, key, problemsListedMax);
  const duplicates = await findDuplicates(transaction, key, problemsListedMax);
  const conflicts = await findSkuConflicts(transaction, key, problemsListedMax);
  return inOrderOfRows(
    read.problems,
    { ...faults, list: faults.list.map((row) => patchProblem(row, source.placeOf(row.line, row.field))) },
    { ...duplicates, list: duplicates.list.map((row) => duplicateProblem(row, source.placeOf(row.line, row.field))) },
    { ...conflicts, list: conflicts.list.map((row) => conflictProblem(row, source.placeOf(row.line, row.field))) },
  );
}

const nothingDeleted = "No product is deleted, since a failed one has neither an id nor a sku that can be read.";

/** A failed row without keys may mean any product, so nothing is deleted then. */
async function failRows(transaction: Database, job: ImportJob, { key, read }: CheckedRows): Promise<Checked> {
  const { problems, failed: invalid = { list: [], total: 0 } } = read;
  if (problems.total > 0) throw validationFailed(problems);
  await failInvalidAndDuplicates(transaction, key);
  const { invalid: named } = await countStaged(transaction, key);
  const mode = job.mode === "REPLACE" && invalid.total > named ? "UPSERT" : job.mode;
  await findHolders(transaction, key, { ...job, mode });
  await failDependents(transaction, key);
  if (job.acceptedLines !== undefined) await collectAccepted(transaction, key, job.acceptedLines);
  const { failed } = await countStaged(transaction, key);
  const list = await listFailures(transaction, job.source, { key, invalid: invalid.list });
  const failures = { list, total: invalid.total + failed };
  return { mode, failures, ...(mode !== job.mode && { remark: nothingDeleted }) };
}

/** Each kind of problem is listed far enough to include the first rows of all. */
async function listFailures(
  transaction: Database,
  source: ProductSource,
  { key, invalid }: { readonly key: StagedKey; readonly invalid: readonly FailedRow[] },
): Promise<ImportFailures["list"]> {
  const rows = new Map(invalid.map(({ line, ...row }) => [line, { ...row, problems: [...row.problems] }]));
  const add = (line: number, problem: Problem) => {
    const row = rows.get(line) ?? { problems: [], problemsTotal: 0 };
    rows.set(line, { problems: [...row.problems, problem], problemsTotal: row.problemsTotal + 1 });
  };
  const faults = await findPatchFaults(transaction, key, failuresListedMax);
  for (const row of faults.list) add(row.line, patchProblem(row, source.placeOf(row.line, row.field)));
  const duplicates = await findDuplicates(transaction, key, 2 * failuresListedMax); // a row may have two
  for (const row of duplicates.list) add(row.line, duplicateProblem(row, source.placeOf(row.line, row.field)));
  const conflicts = await findSkuConflicts(transaction, key, failuresListedMax);
  for (const row of conflicts.list) add(row.line, conflictProblem(row, source.placeOf(row.line, row.field)));

  const first = [...rows].toSorted(([a], [b]) => a - b).slice(0, failuresListedMax);
  const keys = await keysOf(
    transaction,
    key,
    first.map(([line]) => line),
  );
  return first.map(([line, { problems, problemsTotal }]): ImportFailure => {
    const { id = null, sku = null } = keys.get(line) ?? {};
    return { ...source.positionOf(line), id, sku, problems: problems.slice(0, rowProblemsMax), problemsTotal };
  });
}

interface TakenKey {
  readonly field: "id" | "sku";
  readonly value: string;
}

function duplicateProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} appears in more than one product of this import.`;
  return { code: "DUPLICATE", message, ...place };
}

function conflictProblem({ field, value }: TakenKey, place: Place): Problem {
  const message = `${field} ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...place };
}
