import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { ImportJob } from "./job.js";
import { tiedToSiteAlone } from "./modes/replace.js";
import type { LineSet } from "./rejects.js";
import { ofImport, type StagedKey } from "./staging/rows.js";

interface RowProblem {
  readonly line: number;
  readonly field: "id" | "sku";
  readonly value: string;
}

interface RowProblems {
  readonly list: readonly RowProblem[];
  readonly total: number;
}

/** A row `t` gives its product another sku, as all do but patches without one. */
const takesSku = Prisma.sql`NOT t.failed AND (t.present IS NULL OR t.sku IS NOT NULL)`;

/** Ids or skus that several rows have. Usually there are none, so keys are counted, not rows. */
function doubles(column: "id" | "sku", key: StagedKey): Prisma.Sql {
  const name = Prisma.raw(`t.${column}`);
  return Prisma.sql`SELECT ${name} FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND ${name} IS NOT NULL
    GROUP BY ${name} HAVING count(*) > 1`;
}

export async function findDuplicates(transaction: Database, key: StagedKey, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<(RowProblem & { total: number })[]>`
    SELECT line, field, value, (count(*) OVER ())::int AS total FROM (
      SELECT s.line, 'id' AS field, s.id AS value FROM "StagedProduct" s
      WHERE ${ofImport("s", key)} AND s.id IN (${doubles("id", key)})
      UNION ALL
      SELECT s.line, 'sku', s.sku FROM "StagedProduct" s
      WHERE ${ofImport("s", key)} AND s.sku IN (${doubles("sku", key)})) AS keys
    ORDER BY line, field LIMIT ${listMax}`;
  return { list: found, total: found[0]?.total ?? 0 };
}

/**
 * Notes for each row which other product of the store has its sku. With REPLACE, products that are deleted have none.
 */
export async function findHolders(
  transaction: Database,
  key: StagedKey,
  { target: { storeId, siteId }, mode }: Pick<ImportJob, "target" | "mode">,
): Promise<void> {
  const alone = siteId === undefined ? Prisma.empty : Prisma.sql`OR p.id NOT IN (${tiedToSiteAlone(storeId, siteId)})`;
  const isKept =
    mode === "REPLACE"
      ? Prisma.sql`AND (EXISTS (
          SELECT FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND t.id = p.id) ${alone})`
      : Prisma.empty;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET holder = p.id, blocker = p.id FROM "Product" p
    WHERE ${ofImport("s", key)} AND p."storeId" = ${storeId} AND p.sku = s.sku AND p.id IS DISTINCT FROM s.id ${isKept}`;
}

/** The sku belongs to a product that this import does not replace, or fails to. */
export async function findSkuConflicts(transaction: Database, key: StagedKey, listMax: number): Promise<RowProblems> {
  const found = await transaction.$queryRaw<{ line: number; value: string; total: number }[]>`
    SELECT s.line, s.sku AS value, (count(*) OVER ())::int AS total
    FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND s.holder IS NOT NULL AND NOT EXISTS (
      SELECT FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND t.id = s.holder AND ${takesSku})
    ORDER BY s.line LIMIT ${listMax}`;
  return { list: found.map(({ line, value }) => ({ line, field: "sku", value })), total: found[0]?.total ?? 0 };
}

/** Invalid rows, of which only keys are staged, and duplicates. With OR in one statement, all pairs of rows would be compared. */
export async function failInvalidAndDuplicates(transaction: Database, key: StagedKey): Promise<void> {
  for (const condition of [
    Prisma.sql`((s.title IS NULL AND s.present IS NULL) OR s.fault IS NOT NULL)`,
    Prisma.sql`s.id IN (${doubles("id", key)})`,
    Prisma.sql`s.sku IN (${doubles("sku", key)})`,
  ]) {
    await transaction.$executeRaw`
      UPDATE "StagedProduct" s SET failed = true WHERE ${ofImport("s", key)} AND NOT s.failed AND ${condition}`;
  }
}

/**
 * Fails rows whose sku belongs to a product that is not replaced, or whose row fails in turn, by pointer jumping: chains
 * take logarithmically many rounds. Cycles, as of exchanged skus, do not fail.
 */
export async function failDependents(transaction: Database, key: StagedKey): Promise<void> {
  const waits = Prisma.sql`${ofImport("s", key)} AND NOT s.failed AND s.blocker IS NOT NULL`;
  let failedNow = await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET failed = true WHERE ${waits} AND NOT EXISTS (
      SELECT FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND t.id = s.blocker AND ${takesSku})`;
  while (failedNow > 0) {
    failedNow = await transaction.$executeRaw`
      UPDATE "StagedProduct" s SET failed = true FROM "StagedProduct" t
      WHERE ${waits} AND ${ofImport("t", key)} AND t.id = s.blocker AND t.failed`;
    await transaction.$executeRaw`
      UPDATE "StagedProduct" s SET blocker = t.blocker FROM "StagedProduct" t
      WHERE ${waits} AND ${ofImport("t", key)} AND t.id = s.blocker AND t.blocker IS NOT NULL`;
  }
}

const linesAtOnce = 200_000;

/** @param lines gets the lines of the rows that do not fail */
export async function collectAccepted(transaction: Database, key: StagedKey, lines: LineSet): Promise<void> {
  lines.clear(); // an earlier attempt may have filled it
  for (let after = 0; ;) {
    const rows = await transaction.$queryRaw<{ line: number }[]>`
      SELECT s.line FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND NOT s.failed AND s.line > ${after}
      ORDER BY s.line LIMIT ${linesAtOnce}`;
    for (const { line } of rows) lines.add(line);
    const last = rows.at(-1);
    if (rows.length < linesAtOnce || last === undefined) return;
    after = last.line;
  }
}

export interface StagedCounts {
  readonly all: number;
  /** Rows that fail, but are valid by themselves. */
  readonly failed: number;
  /** Invalid rows of which at least one key is known. */
  readonly invalid: number;
}

export async function countStaged(transaction: Database, key: StagedKey): Promise<StagedCounts> {
  const [counts] = await transaction.$queryRaw<[StagedCounts]>`
    SELECT count(*)::int AS "all",
      (count(*) FILTER (WHERE s.failed AND (s.title IS NOT NULL OR s.present IS NOT NULL)))::int AS failed,
      (count(*) FILTER (WHERE s.title IS NULL AND s.present IS NULL AND coalesce(s.id, s.sku) IS NOT NULL))::int AS invalid
    FROM "StagedProduct" s WHERE ${ofImport("s", key)}`;
  return counts;
}

/** How many products the import would store, and how many of these are new. */
export async function countProducts(
  transaction: Database,
  key: StagedKey,
): Promise<{ readonly stored: number; readonly created: number }> {
  const [counts] = await transaction.$queryRaw<[{ stored: number; created: number }]>`
    SELECT count(*)::int AS stored, (count(*) FILTER (WHERE p.id IS NULL))::int AS created
    FROM "StagedProduct" s LEFT JOIN "Product" p ON p."storeId" = s."storeId" AND p.id = s.id
    WHERE ${ofImport("s", key)} AND NOT s.failed AND (s.title IS NOT NULL OR s.present IS NOT NULL)`;
  return counts;
}

export async function keysOf(transaction: Database, key: StagedKey, lines: readonly number[]) {
  const rows = await transaction.$queryRaw<{ line: number; id: string | null; sku: string | null }[]>`
    SELECT s.line, s.id, s.sku FROM "StagedProduct" s WHERE ${ofImport("s", key)} AND s.line = ANY(${lines}::int[])`;
  return new Map(rows.map(({ line, id, sku }) => [line, { id, sku }]));
}
