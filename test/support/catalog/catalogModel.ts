/**
 * What imports do to a catalog, in the plainest way: a map of products, and rows looked at one by one until nothing more
 * fails. Nothing from src.
 */

export type Defect = "none" | "negative price" | "no url" | "available is no boolean";

/** A row of an import: its keys, and what is wrong with it by itself. */
export interface ModelRow {
  readonly id: string;
  readonly sku: string;
  readonly title: string;
  readonly defect: Defect;
}

export type Catalog = ReadonlyMap<string, Pick<ModelRow, "sku" | "title">>;

/** A failed row: its place among the rows, and each problem by its code and field. */
interface ModelFailure {
  readonly at: number;
  readonly problems: readonly (readonly [code: string, field: string])[];
}

interface Outcome {
  readonly catalog: Catalog;
  readonly created: number;
  readonly updated: number;
  readonly failures: readonly ModelFailure[];
}

const defects: Readonly<Record<Defect, ModelFailure["problems"]>> = {
  none: [],
  "negative price": [["INVALID_VALUE", "price"]],
  "no url": [["REQUIRED", "url"]],
  "available is no boolean": [["INVALID_TYPE", "available"]],
};

/** Imports the rows, but for those that fail. */
export function importInto(catalog: Catalog, rows: readonly ModelRow[]): Outcome {
  const isDouble = (row: ModelRow, key: "id" | "sku") => rows.filter((other) => other[key] === row[key]).length > 1;
  const failing = new Set(rows.filter((row) => row.defect !== "none" || isDouble(row, "id") || isDouble(row, "sku")));
  /** The sku of the row belongs to another product, and no row that does not fail takes it away from there. */
  const isTaken = ({ id, sku }: ModelRow) =>
    [...catalog].some(
      ([holder, stored]) =>
        stored.sku === sku && holder !== id && !rows.some((row) => row.id === holder && !failing.has(row)),
    );
  for (let before = -1; before !== failing.size;) {
    before = failing.size;
    for (const row of rows) if (isTaken(row)) failing.add(row);
  }
  const after = new Map(catalog);
  const valid = rows.filter((row) => !failing.has(row));
  for (const { id, sku, title } of valid) after.set(id, { sku, title });
  const created = valid.filter(({ id }) => !catalog.has(id)).length;
  const failures = rows.flatMap((row, at) => {
    if (!failing.has(row)) return [];
    const doubles = (["id", "sku"] as const).filter((key) => isDouble(row, key));
    const problems: [string, string][] = doubles.map((key) => ["DUPLICATE", key]);
    return [
      { at, problems: [...defects[row.defect], ...problems, ...(isTaken(row) ? [["CONFLICT", "sku"] as const] : [])] },
    ];
  });
  return { catalog: after, created, updated: valid.length - created, failures };
}
