import { textArrayLiteral, withRawParameters } from "../../database/rawParameters.js";
import type { Database } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import { type EncodedRows, productColumns } from "../../files/product/product.columns.js";
import { fieldBits, productFieldNames } from "../../files/product/product.fields.js";
import { searchText } from "../../lib/words.js";
import { lexemes } from "./search/product.searchIndex.js";
import type { RowSource } from "./product.sql.js";

/** The fields that some rows have, and those that all rows have, as `fieldBits`. */
export interface PatchedFields {
  readonly any: number;
  readonly all: number;
}

export const anyFields: PatchedFields = { any: -1, all: 0 };

/** The fields that valid rows change. */
export function patchedFields({ present }: EncodedRows): PatchedFields {
  const masks = new Set(present.slice(1, -1).split(",").map(Number));
  let [any, all] = [0, -1];
  for (const mask of masks) [any, all] = [any | mask, all & mask];
  return { any, all };
}

const assigned = productFieldNames
  .filter((field) => field !== "id")
  .map((field) => ({ bit: fieldBits[field], column: `"${productColumns[field].name}"` }));

/** A row names its product by id or, without an id, by sku. */
const matches = {
  id: Prisma.sql`p.id = s.id`,
  sku: Prisma.sql`s.id IS NULL AND p.sku = s.sku`,
} as const;

/**
 * Changes only the rows' fields.
 *
 * @param now the time of lockCatalog
 * @returns how many products changed, each counted once, and how many of them now have a price_min above price_max
 */
export async function patchProducts(
  transaction: Database,
  storeId: string,
  rows: RowSource,
  { now, ...fields }: PatchedFields & { readonly now: string },
): Promise<{ readonly stored: number; readonly mispriced: number }> {
  let [stored, mispriced] = [0, 0];
  for (const key of ["id", "sku"] as const) {
    if (key === "id" ? (fields.any & fieldBits.id) === 0 : (fields.all & fieldBits.id) !== 0) continue;
    const counts = await patchBy(transaction, storeId, { rows, key, now, fields });
    stored += counts.stored;
    mispriced += counts.mispriced;
  }
  return { stored, mispriced };
}

interface Patch {
  readonly rows: RowSource;
  readonly key: keyof typeof matches;
  readonly fields: PatchedFields;
  readonly now: string;
}

function patchBy(transaction: Database, storeId: string, patch: Patch) {
  const { rows, key, now, fields } = patch;
  return withRawParameters(async (bind) => {
    const words = await changedWords(transaction, storeId, patch);
    const reworded =
      words.lines.length === 0
        ? undefined
        : Prisma.sql`(SELECT v.*, w.words AS "searchWords" FROM (SELECT ${patchColumns} FROM ${rows}) v
            LEFT JOIN (SELECT unnest(${bind(`{${words.lines.join(",")}}`)}::int[]) AS line,
              unnest(${bind(textArrayLiteral(words.texts))}::text[]) AS words) w ON w.line = v.line) s`;
    const searchWords =
      reworded === undefined
        ? Prisma.empty
        : Prisma.sql`"searchWords" = CASE WHEN s."searchWords" IS NULL THEN p."searchWords" ELSE ${lexemes(storeId)} END,`;
    const [counts] = await transaction.$queryRaw<[{ stored: number; mispriced: number }]>`
      WITH changed AS (
        UPDATE "Product" p SET ${assignmentsOf(fields)} ${searchWords} "updatedAt" = ${now}::timestamptz
        FROM ${reworded ?? rows}
        WHERE p."storeId" = ${storeId} AND ${matches[key]} AND p."updatedAt" <> ${now}::timestamptz
        RETURNING p."priceMin" > p."priceMax" AS mispriced)
      SELECT count(*)::int AS stored, (count(*) FILTER (WHERE mispriced))::int AS mispriced FROM changed`;
    return counts;
  });
}

const patchColumns = Prisma.raw(
  ["line", "present", ...Object.values(productColumns).map(({ name }) => name)].map((name) => `"${name}"`).join(", "),
);

function assignmentsOf({ any, all }: PatchedFields): Prisma.Sql {
  const parts = assigned
    .filter(({ bit }) => (any & bit) !== 0)
    .map(({ bit, column }) =>
      (all & bit) !== 0
        ? `${column} = s.${column},`
        : `${column} = CASE WHEN s."present" & ${bit} <> 0 THEN s.${column} ELSE p.${column} END,`,
    );
  return Prisma.raw(parts.join(" "));
}

/** The search words of products whose title or sku changes. They are made here from both, and not by the database. */
async function changedWords(
  transaction: Database,
  storeId: string,
  { rows, key, fields }: Patch,
): Promise<{ readonly lines: readonly number[]; readonly texts: readonly string[] }> {
  const { title, sku } = fieldBits;
  if ((fields.any & (title | (key === "id" ? sku : 0))) === 0) return { lines: [], texts: [] };
  const given = (bit: number) => Prisma.raw(`s."present" & ${bit} <> 0`);
  const changed = await transaction.$queryRaw<{ line: number; title: string; sku: string }[]>`
    SELECT s.line, CASE WHEN ${given(title)} THEN s.title ELSE p.title END AS title,
      CASE WHEN ${given(sku)} THEN s.sku ELSE p.sku END AS sku
    FROM "Product" p, ${rows} WHERE p."storeId" = ${storeId} AND ${matches[key]}
      AND ((${given(title)} AND s.title <> p.title) OR (${given(sku)} AND s.sku <> p.sku))`;
  return { lines: changed.map(({ line }) => line), texts: changed.map((row) => searchText(row.title, row.sku)) };
}
