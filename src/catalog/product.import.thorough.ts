import type { Database } from "../database/client.js";
import { type Problem, Problems, problemsListedMax } from "../errors.js";
import { clip } from "../text.js";
import { duplicateProblem } from "./product.duplicates.js";
import type { ImportTarget, ProductSource } from "./product.import.js";
import {
  createStaging,
  findDuplicates,
  findSkuConflicts,
  type RowProblem,
  stagedRows,
  stageRows,
} from "./product.staging.js";
import { lockCatalog, tieToSite, type UpsertCounts, upsertProducts } from "./product.store.js";

/**
 * Collects all rows of a source in a table and looks at them together, to name everything that is wrong in one answer.
 * Slower than writing them as they are read, so only for imports that failed that way; should nothing be wrong after
 * all (another import may have changed the catalog meanwhile), the rows are stored.
 *
 * @throws {AppError} VALIDATION_FAILED with every problem
 */
export async function importThoroughly(
  transaction: Database,
  target: ImportTarget,
  source: ProductSource,
): Promise<UpsertCounts> {
  const { storeId, siteId } = target;
  const now = await lockCatalog(transaction, storeId, "alone");
  await createStaging(transaction);
  const { problems } = await stage(transaction, source);
  const duplicates = await findDuplicates(transaction, problemsListedMax);
  problems.addAll({
    list: duplicates.list.map(({ line, field, value }) => duplicateProblem(field, value, source.placeOf(line, field))),
    total: duplicates.total,
  });
  const conflicts = await findSkuConflicts(transaction, storeId, problemsListedMax);
  problems.addAll({ list: conflicts.list.map((row) => conflictProblem(row, source)), total: conflicts.total });
  problems.inOrder();
  problems.throwIfAny();

  const counts = await upsertProducts(transaction, storeId, stagedRows, now, "staged");
  if (siteId !== undefined) await tieToSite(transaction, storeId, siteId, stagedRows);
  return counts;
}

/** Collects the rows. @returns what is wrong with them by themselves */
export async function stage(transaction: Database, source: ProductSource) {
  const reader = source.read();
  try {
    for (;;) {
      const step = await reader.next();
      if (step.done !== true) {
        await stageRows(transaction, step.value.columns);
        continue;
      }
      const problems = new Problems();
      problems.addAll(step.value.problems);
      return { problems, failed: step.value.failed };
    }
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

/** The sku of a row belongs to another product, which keeps it. */
export function conflictProblem({ line, value }: RowProblem, source: ProductSource): Problem {
  const message = `sku ${JSON.stringify(clip(value))} belongs to another product of the store.`;
  return { code: "CONFLICT", message, ...source.placeOf(line, "sku") };
}
