import type { Database } from "../../database/client.js";
import { AppError, inOrderOfRows, type Problem, problemsListedMax, validationFailed } from "../../errors.js";
import { clip } from "../../lib/text.js";
import { type FailedRow, failuresListedMax, rowProblemsMax } from "../../files/rowChecks.js";
import {
  collectAccepted,
  countStaged,
  failDependents,
  failInvalidAndDuplicates,
  findHolders,
  findRowProblems,
  type KeyColumn,
  keyColumns,
  keysOf,
  type RowProblem,
} from "./check.sql.js";
import type { ImportJob, ProductSource, ReadResult, ImportFailure, ImportFailures, Written } from "./importTypes.js";
import type { ImportMode } from "./modes/mode.js";
import { ofImport, type StagedKey, type StagedRows } from "./staging/rows.js";
import { Prisma } from "../../generated/prisma/client.js";
import { fieldBits, requiredBits } from "../../files/product/product.fields.js";

export interface Checked extends Pick<Written, "remark"> {
  /** UPSERT for a REPLACE that must not delete anything. */
  readonly mode: ImportMode;
  readonly failures?: ImportFailures;
}

/**
 * Compares all rows with each other and with the catalog, and marks those that fail, or refuses the import if one does.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem; UNAVAILABLE if rows are gone, for example after a crash of the server
 */
export async function check(transaction: Database, job: ImportJob, staged: StagedRows): Promise<Checked> {
  await requireAll(transaction, staged);
  const { key, read } = staged;
  if (job.mode === "PATCH") await resolvePatches(transaction, key);
  if (job.errorPolicy === "REJECT_FAILED") return failRows(transaction, job, { key, read });
  await findHolders(transaction, key, job);
  const problems = await findProblems(transaction, job, { key, read });
  if (problems.total > 0) throw validationFailed(problems);
  return { mode: job.mode };
}

/** @throws {AppError} UNAVAILABLE */
async function requireAll(transaction: Database, { key, rows }: StagedRows): Promise<void> {
  const { all } = await countStaged(transaction, key);
  if (all !== rows) throw new AppError("UNAVAILABLE", "The import took too long. Nothing was changed.");
}

interface CheckedRows {
  readonly key: StagedKey;
  /** The problems of rows by themselves. */
  readonly read: ReadResult;
}

async function findProblems(transaction: Database, { source, errorPolicy }: ImportJob, { key, read }: CheckedRows) {
  const search = { errorPolicy, listMax: problemsListedMax, doubled: keyColumns };
  const { list, total } = await findRowProblems(transaction, key, search);
  return inOrderOfRows(read.problems, { list: list.map((row) => rowProblem(row, source)), total });
}

export const nothingDeleted =
  "No product was deleted: a failed row has no readable id or sku, so we cannot tell which product it is.";

/** A failed row without keys may be any product, so REPLACE then deletes nothing. */
async function failRows(transaction: Database, job: ImportJob, { key, read }: CheckedRows): Promise<Checked> {
  const { problems, failed: invalid = { list: [], total: 0 } } = read;
  if (problems.total > 0) throw validationFailed(problems);
  const doubled = await failInvalidAndDuplicates(transaction, key);
  const isUnsafe = job.mode === "REPLACE" && invalid.total > (await countStaged(transaction, key)).invalid;
  const mode = isUnsafe ? "UPSERT" : job.mode;
  await findHolders(transaction, key, { ...job, mode });
  await failDependents(transaction, key);
  if (job.acceptedLines !== undefined) await collectAccepted(transaction, key, job.acceptedLines);
  const { failed } = await countStaged(transaction, key);
  const list = await listFailures(transaction, job, { key, invalid: invalid.list, doubled });
  const failures = { list, total: invalid.total + failed };
  return { mode, failures, ...(mode !== job.mode && { remark: nothingDeleted }) };
}

interface Listed {
  readonly key: StagedKey;
  readonly invalid: readonly FailedRow[];
  readonly doubled: readonly KeyColumn[];
}

/** A row may miss its product, repeat both keys, and have the sku of another product. */
const rowProblemKinds = 4;

async function listFailures(
  transaction: Database,
  { source, errorPolicy }: ImportJob,
  { key, invalid, doubled }: Listed,
): Promise<ImportFailures["list"]> {
  const rows = new Map(invalid.map(({ line, ...row }) => [line, row]));
  const search = { errorPolicy, listMax: rowProblemKinds * failuresListedMax, doubled };
  const found = await findRowProblems(transaction, key, search);
  for (const row of found.list) {
    const { problems, problemsTotal } = rows.get(row.line) ?? { problems: [], problemsTotal: 0 };
    rows.set(row.line, { problems: [...problems, rowProblem(row, source)], problemsTotal: problemsTotal + 1 });
  }
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

function rowProblem({ kind, line, field, value, holder, first, last }: RowProblem, source: ProductSource): Problem {
  const place = source.placeOf(line, field);
  const [atFirst, atLast] = [first, last].map((row) => (row === null ? "" : nameOfPlace(source.placeOf(row, field))));
  const key = `${field} ${JSON.stringify(clip(value ?? ""))}`;
  switch (kind) {
    case "missing":
      return {
        code: "PRODUCT_NOT_FOUND",
        message: `The store has no product with the ${key}; a new one needs all required fields.`,
        ...place,
      };
    case "prices":
      return {
        code: "INVALID_VALUE",
        message: "price_min must not be above price_max, but the product would have such prices.",
        ...place,
      };
    case "duplicate":
      return {
        code: "DUPLICATE",
        message: `${key} appears in more than one product of this import, first ${atFirst} and last ${atLast}.`,
        ...place,
      };
    default: {
      const product = `the product ${JSON.stringify(clip(holder ?? ""))} of the store`;
      return {
        code: "CONFLICT",
        message: `${key} belongs to ${product}${atFirst && `, which is ${atFirst}`}.`,
        ...place,
      };
    }
  }
}

/** A line of a file, or a product of a list as its path names it: `at products[3]`. */
function nameOfPlace({ path, line }: ReturnType<ProductSource["placeOf"]>): string {
  if (line !== undefined) return `on line ${line}`;
  const steps = path.slice(0, -1).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  return `at ${steps.join("").replace(/^\./u, "")}`;
}

/**
 * Looks up the products that rows of a patch name, and gives the rows their ids or a fault. Rows of new products with all required
 * fields become rows of an upsert.
 */
async function resolvePatches(transaction: Database, key: StagedKey): Promise<void> {
  const { storeId } = key;
  const isComplete = Prisma.sql`s.present & ${requiredBits} = ${requiredBits}`;
  const given = (bit: number) => Prisma.raw(`s.present & ${bit} <> 0`);
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET id = p.id FROM "Product" p
    WHERE ${ofImport("s", key)} AND s.id IS NULL AND p."storeId" = ${storeId} AND p.sku = s.sku`;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET present = CASE WHEN ${isComplete} THEN NULL ELSE s.present END,
      fault = CASE WHEN ${isComplete} THEN NULL ELSE 'missing' END
    WHERE ${ofImport("s", key)} AND s.present IS NOT NULL
      AND NOT EXISTS (SELECT FROM "Product" p WHERE p."storeId" = ${storeId} AND p.id = s.id)`;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET fault = 'prices' FROM "Product" p
    WHERE ${ofImport("s", key)} AND s.present IS NOT NULL AND p."storeId" = ${storeId} AND p.id = s.id AND
      CASE WHEN ${given(fieldBits.price_min)} THEN s."priceMin" ELSE p."priceMin" END >
      CASE WHEN ${given(fieldBits.price_max)} THEN s."priceMax" ELSE p."priceMax" END`;
}
