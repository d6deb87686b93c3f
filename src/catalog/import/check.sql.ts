import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import type { AcceptedLines, ImportJob } from "./importTypes.js";
import { tiedToSiteAlone } from "./modes/replace.js";
import type { ErrorPolicy } from "../../files/rowChecks.js";
import { ofImport, type StagedKey } from "./staging/rows.js";

/** What is wrong with a staged row that is valid by itself. */
export interface RowProblem {
  readonly line: number;
  readonly kind: "missing" | "prices" | "duplicate" | "conflict";
  readonly field: "id" | "sku" | "price_min";
  readonly value: string | null;
  /** In a conflict, the product that has the sku. */
  readonly holder: string | null;
  /** The first row with the duplicate key, or of the holder. */
  readonly first: number | null;
  /** The last row with the duplicate key. */
  readonly last: number | null;
}

export type KeyColumn = "id" | "sku";
export const keyColumns: readonly KeyColumn[] = ["id", "sku"];

/** Whether row `t` sets its product's sku, as all rows do except patches without one. */
const takesSku = Prisma.sql`NOT t.failed AND (t.present IS NULL OR t.sku IS NOT NULL)`;

/** Ids or skus of several rows, with the first and the last of these. Counts keys, not rows, because usually there are none. */
function doubles(column: KeyColumn, key: StagedKey, condition = Prisma.empty): Prisma.Sql {
  const name = Prisma.raw(`t.${column}`);
  return Prisma.sql`(SELECT ${name} AS key, min(t.line) AS first, max(t.line) AS last
    FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND ${name} IS NOT NULL
    GROUP BY ${name} HAVING count(*) > 1 ${condition})`;
}

/** Rows with the same id may have the same sku: then only the id is the problem. */
const isOfSeveralIds = Prisma.sql`AND (min(t.id) IS DISTINCT FROM max(t.id) OR count(t.id) < count(*))`;

/** Each row with a duplicate id or sku, because each fails; or each such key once, at its first row. */
function duplicates(column: KeyColumn, key: StagedKey, policy: ErrorPolicy): Prisma.Sql {
  const found = (line: string) =>
    Prisma.sql`SELECT ${Prisma.raw(line)}, 2, 'duplicate', ${column}, d.key, NULL, d.first, d.last`;
  if (policy === "REJECT_ALL")
    return Prisma.sql`${found("d.first")} FROM ${doubles(column, key, column === "sku" ? isOfSeveralIds : undefined)} d`;
  return Prisma.sql`${found("s.line")} FROM "StagedProduct" s JOIN ${doubles(column, key)} d
    ON d.key = ${Prisma.raw(`s.${column}`)} WHERE ${ofImport("s", key)}`;
}

/**
 * Notes for each row which other product of the store has its sku. With REPLACE, products that will be deleted do not count.
 */
export async function findHolders(
  transaction: Database,
  key: StagedKey,
  { target: { storeId, siteId }, mode }: Pick<ImportJob, "target" | "mode">,
): Promise<void> {
  const alone =
    siteId === undefined
      ? Prisma.empty
      : Prisma.sql`OR NOT EXISTS (
    SELECT FROM (${tiedToSiteAlone(storeId, siteId)}) AS alone WHERE alone."productId" = p.id)`;
  const isKept =
    mode === "REPLACE"
      ? Prisma.sql`AND (EXISTS (
          SELECT FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND t.id = p.id) ${alone})`
      : Prisma.empty;
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET holder = p.id, blocker = p.id FROM "Product" p
    WHERE ${ofImport("s", key)} AND p."storeId" = ${storeId} AND p.sku = s.sku AND p.id IS DISTINCT FROM s.id ${isKept}`;
}

interface Search {
  readonly errorPolicy: ErrorPolicy;
  readonly listMax: number;
  /** The columns in which several rows may have the same value. */
  readonly doubled: readonly KeyColumn[];
}

/**
 * Finds, in the order of rows: patches whose product is missing or would get a price_min above its price_max, duplicate keys, and
 * skus of products that this import does not replace or fails to replace.
 */
export async function findRowProblems(
  transaction: Database,
  key: StagedKey,
  { errorPolicy, listMax, doubled }: Search,
): Promise<{ readonly list: readonly RowProblem[]; readonly total: number }> {
  const rows = Prisma.sql`FROM "StagedProduct" s WHERE ${ofImport("s", key)}`;
  const ofDuplicates = doubled.map((column) => Prisma.sql`UNION ALL ${duplicates(column, key, errorPolicy)}`);
  const list = await transaction.$queryRaw<(RowProblem & { total: number })[]>`
    SELECT line, kind, field, value, holder, first, last, (count(*) OVER ())::int AS total FROM (
      SELECT s.line, 1 AS rank, s.fault AS kind,
        CASE WHEN s.fault = 'prices' THEN 'price_min' WHEN s.id IS NULL THEN 'sku' ELSE 'id' END AS field,
        coalesce(s.id, s.sku) AS value, NULL AS holder, NULL::int AS first, NULL::int AS last ${rows} AND s.fault IS NOT NULL
      ${ofDuplicates.length > 0 ? Prisma.join(ofDuplicates, " ") : Prisma.empty}
      UNION ALL SELECT s.line, 3, 'conflict', 'sku', s.sku, s.holder, NULL, NULL ${rows} AND s.holder IS NOT NULL AND NOT EXISTS (
        SELECT FROM "StagedProduct" t WHERE ${ofImport("t", key)} AND t.id = s.holder AND ${takesSku})) AS found
    ORDER BY line, rank, field LIMIT ${listMax}`;
  const holders = await linesOf(
    transaction,
    key,
    list.flatMap(({ holder }) => holder ?? []),
  );
  const placed = list.map((row) => (row.holder === null ? row : { ...row, first: holders.get(row.holder) ?? null }));
  return { list: placed, total: list[0]?.total ?? 0 };
}

/** The first row of each product that has one. */
async function linesOf(
  transaction: Database,
  key: StagedKey,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.$queryRaw<{ id: string; line: number }[]>`
    SELECT s.id, min(s.line) AS line FROM "StagedProduct" s
    WHERE ${ofImport("s", key)} AND s.id = ANY(${ids}::text[]) GROUP BY s.id`;
  return new Map(rows.map(({ id, line }) => [id, line]));
}

/**
 * Marks invalid rows, of which only keys are staged, and duplicates as failed. Several statements, because with OR in one, PostgreSQL
 * would compare all pairs of rows.
 *
 * @returns the columns in which several rows have the same value
 */
export async function failInvalidAndDuplicates(transaction: Database, key: StagedKey): Promise<readonly KeyColumn[]> {
  await transaction.$executeRaw`
    UPDATE "StagedProduct" s SET failed = true
    WHERE ${ofImport("s", key)} AND ((s.title IS NULL AND s.present IS NULL) OR s.fault IS NOT NULL)`;
  const doubled: KeyColumn[] = [];
  for (const column of keyColumns) {
    const failed = await transaction.$executeRaw`
      UPDATE "StagedProduct" s SET failed = true
      WHERE ${ofImport("s", key)} AND ${Prisma.raw(`s.${column}`)} IN (SELECT key FROM ${doubles(column, key)} d)`;
    if (failed > 0) doubled.push(column);
  }
  return doubled;
}

/**
 * Marks rows as failed whose sku belongs to a product that is not replaced, or whose own row fails. Pointer jumping takes
 * logarithmically many rounds for chains. Cycles, such as exchanged skus, do not fail.
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

/** @param lines receives the lines of the rows that do not fail */
export async function collectAccepted(transaction: Database, key: StagedKey, lines: AcceptedLines): Promise<void> {
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
  /** Rows that fail although they are valid by themselves. */
  readonly failed: number;
  /** Invalid rows with at least one known key. */
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
