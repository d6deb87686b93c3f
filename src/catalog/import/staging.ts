import type { Database } from "../../database/client.js";
import { Problems } from "../../errors.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { LockCatalog } from "./catalogLock.js";
import type { EncodedRows } from "../product.columns.js";
import { readAhead } from "./direct.js";
import { type ImportJob, type ProductSource, type ReadOptions, type ReadResult, throwIfDisconnected } from "./job.js";
import { dropRemovedHolders } from "./modes/replace.js";
import type { LineSet } from "./rejects.js";
import { withRawParameters } from "../../database/rawParameters.js";
import { rowColumns, rowColumnTypes, type RowSource, sentRows } from "../product.sql.js";

interface RowProblem {
  readonly line: number;
  readonly field: "id" | "sku";
  readonly value: string;
}

interface RowProblems {
  readonly list: readonly RowProblem[];
  readonly total: number;
}

export const stagedRows: RowSource = Prisma.sql`"ProductStaging" s`;

/** A row `t` gives its product another sku, as all do but patches without one. */
const takesSku = Prisma.sql`NOT t.failed AND (t.present IS NULL OR t.sku IS NOT NULL)`;

export async function createStaging(transaction: Database): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductStaging" (
      ${rowColumnTypes}, failed boolean NOT NULL DEFAULT false, fault text) ON COMMIT DROP`;
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductHolder" (id text COLLATE "C" NOT NULL, sku text COLLATE "C" NOT NULL) ON COMMIT DROP`;
}

/** Locks the catalog and stages all rows. @returns the import's time, and the problems of rows by themselves */
export async function lockAndStage(
  transaction: Database,
  { source, signal, mode }: ImportJob,
  lock: LockCatalog,
): Promise<{ readonly now: string; readonly read: ReadResult }> {
  const now = await lock(transaction, source.isLong ? "long" : "short, exclusive");
  await createStaging(transaction);
  return { now, read: await stageAll(transaction, source, { signal, isPatch: mode === "PATCH" }) };
}

/** @returns the problems of rows by themselves */
export async function stageAll(
  transaction: Database,
  source: ProductSource,
  { signal, ...options }: ReadOptions & { readonly signal: AbortSignal | undefined },
): Promise<ReadResult> {
  const reader = source.read(options);
  try {
    let step = await reader.next();
    while (step.done !== true) {
      throwIfDisconnected(signal);
      const next = readAhead(reader, step);
      await stageRows(transaction, step.value.columns);
      step = await next;
    }
    return step.value;
  } finally {
    await reader.return({ rows: 0, problems: new Problems() });
  }
}

async function stageRows(transaction: Database, columns: EncodedRows): Promise<void> {
  await withRawParameters(
    (bind) =>
      transaction.$executeRaw`INSERT INTO "ProductStaging" (${rowColumns}) SELECT * FROM ${sentRows(columns, bind)}`,
  );
}

/**
 * Copies the keys of products that have skus of staged rows, since Citus hardly joins temporary with distributed tables.
 */
export async function collectHolders(
  transaction: Database,
  { target, mode }: Pick<ImportJob, "target" | "mode">,
): Promise<void> {
  const { storeId } = target;
  await transaction.$executeRaw`
    INSERT INTO "ProductHolder" (id, sku) SELECT p.id, p.sku FROM "Product" p
    WHERE p."storeId" = ${storeId} AND p.sku IN (SELECT s.sku FROM ${stagedRows} WHERE s.sku IS NOT NULL)`;
  if (mode === "REPLACE") await dropRemovedHolders(transaction, target);
}

/** Usually there are none, so keys are counted, not rows. */
export async function findDuplicates(transaction: Database, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<(RowProblem & { total: number })[]>`
    SELECT line, field, value, (count(*) OVER ())::int AS total FROM (
      SELECT s.line, 'id' AS field, s.id AS value FROM ${stagedRows} WHERE s.id IN (
        SELECT id FROM "ProductStaging" WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)
      UNION ALL
      SELECT s.line, 'sku', s.sku FROM ${stagedRows} WHERE s.sku IN (
        SELECT sku FROM "ProductStaging" WHERE sku IS NOT NULL GROUP BY sku HAVING count(*) > 1)) AS keys
    ORDER BY line, field LIMIT ${listMax}`;
  return { list: found, total: found[0]?.total ?? 0 };
}

/** The sku belongs to a product that this import does not replace, or fails to. */
export async function findSkuConflicts(transaction: Database, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<{ line: number; value: string; total: number }[]>`
    SELECT s.line, s.sku AS value, (count(*) OVER ())::int AS total
    FROM ${stagedRows} JOIN "ProductHolder" h ON h.sku = s.sku AND h.id IS DISTINCT FROM s.id
    WHERE NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = h.id AND ${takesSku})
    ORDER BY s.line LIMIT ${listMax}`;
  return { list: found.map(({ line, value }) => ({ line, field: "sku", value })), total: found[0]?.total ?? 0 };
}

export const validRows: RowSource = Prisma.sql`(SELECT * FROM "ProductStaging" WHERE NOT failed) s`;

/**
 * Invalid rows, of which only keys are staged, and duplicates. With OR in one statement, all pairs of rows would be
 * compared.
 */
export async function failInvalidAndDuplicates(transaction: Database): Promise<void> {
  await transaction.$executeRaw`UPDATE "ProductStaging" SET failed = true WHERE (title IS NULL AND present IS NULL) OR fault IS NOT NULL`;
  await transaction.$executeRaw`
    UPDATE "ProductStaging" SET failed = true WHERE NOT failed AND id IN (
      SELECT id FROM "ProductStaging" WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)`;
  await transaction.$executeRaw`
    UPDATE "ProductStaging" SET failed = true WHERE NOT failed AND sku IN (
      SELECT sku FROM "ProductStaging" WHERE sku IS NOT NULL GROUP BY sku HAVING count(*) > 1)`;
}

/**
 * Fails rows whose sku belongs to a product that is not replaced, or whose row fails in turn, by pointer jumping: chains
 * take logarithmically many rounds. Cycles, as of exchanged skus, do not fail.
 */
export async function failDependents(transaction: Database): Promise<void> {
  await transaction.$executeRaw`
    CREATE TEMPORARY TABLE "ProductClaim" (
      line int NOT NULL, id text COLLATE "C" NOT NULL, holder text COLLATE "C" NOT NULL, failed boolean NOT NULL)
      ON COMMIT DROP`;
  const claims = await transaction.$executeRaw`
    INSERT INTO "ProductClaim" (line, id, holder, failed)
    SELECT s.line, s.id, h.id, NOT EXISTS (SELECT FROM "ProductStaging" t WHERE t.id = h.id AND ${takesSku})
    FROM ${validRows} JOIN "ProductHolder" h ON h.sku = s.sku AND h.id <> s.id`;
  if (claims === 0) return;
  for (;;) {
    const failedNow = await transaction.$executeRaw`
      UPDATE "ProductClaim" c SET failed = true FROM "ProductClaim" d WHERE d.id = c.holder AND d.failed AND NOT c.failed`;
    if (failedNow === 0) break;
    await transaction.$executeRaw`
      UPDATE "ProductClaim" c SET holder = d.holder FROM "ProductClaim" d WHERE d.id = c.holder AND NOT c.failed`;
  }
  await transaction.$executeRaw`
    UPDATE "ProductStaging" s SET failed = true FROM "ProductClaim" c WHERE c.failed AND c.line = s.line`;
}

const linesAtOnce = 200_000;

export async function collectAccepted(transaction: Database, lines: LineSet): Promise<void> {
  lines.clear(); // an earlier attempt may have filled it
  for (let after = 0; ;) {
    const rows = await transaction.$queryRaw<{ line: number }[]>`
      SELECT line FROM "ProductStaging" WHERE NOT failed AND line > ${after} ORDER BY line LIMIT ${linesAtOnce}`;
    for (const { line } of rows) lines.add(line);
    const last = rows.at(-1);
    if (rows.length < linesAtOnce || last === undefined) return;
    after = last.line;
  }
}

/** Those of `validRows` that are whole products. */
export const wholeRows: RowSource = Prisma.sql`(SELECT * FROM "ProductStaging" WHERE NOT failed AND present IS NULL) s`;

export const failedRows: RowSource = Prisma.sql`(SELECT * FROM "ProductStaging" WHERE failed) s`;

export async function countInvalidWithKey(transaction: Database): Promise<number> {
  const [row] = await transaction.$queryRaw<[{ total: number }]>`
    SELECT count(*)::int AS total FROM "ProductStaging" WHERE title IS NULL AND coalesce(id, sku) IS NOT NULL`;
  return row.total;
}

/** Rows of `validRows`. */
export async function countValid(transaction: Database): Promise<number> {
  const [row] = await transaction.$queryRaw<[{ total: number }]>`
    SELECT count(*)::int AS total FROM ${validRows}`;
  return row.total;
}

export async function countFailing(transaction: Database): Promise<number> {
  const [row] = await transaction.$queryRaw<[{ total: number }]>`
    SELECT count(*)::int AS total FROM "ProductStaging" WHERE failed AND (title IS NOT NULL OR present IS NOT NULL)`;
  return row.total;
}

export async function keysOf(transaction: Database, lines: readonly number[]) {
  const rows = await transaction.$queryRaw<{ line: number; id: string | null; sku: string | null }[]>`
    SELECT line, id, sku FROM "ProductStaging" WHERE line = ANY(${lines}::int[])`;
  return new Map(rows.map(({ line, id, sku }) => [line, { id, sku }]));
}
