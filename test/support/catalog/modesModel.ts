/**
 * What imports of each mode do to a catalog, in the plainest way: a map of products, and rows looked at one by one until
 * nothing more fails. Nothing from src.
 */

export type Mode = "UPSERT" | "PATCH" | "REPLACE";

interface StoredRow {
  readonly sku: string;
  readonly title: string;
  readonly price: number | null;
}

export type Catalog = ReadonlyMap<string, StoredRow>;

/** A row as it is sent; a price below 0 makes it invalid. Rows of a patch may lack any field. */
export interface ModelRow {
  readonly id?: string;
  readonly sku?: string;
  readonly title?: string;
  readonly price?: number | null;
}

type ModelProblem = readonly [code: string, field: string];

export interface Outcome {
  readonly catalog: Catalog;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly failures: readonly { readonly at: number; readonly problems: readonly ModelProblem[] }[];
}

/** Imports the rows, but for those that fail. */
export function importInto(catalog: Catalog, rows: readonly ModelRow[], mode: Mode): Outcome {
  const holderOf = (sku: string | undefined) => [...catalog].find(([, stored]) => stored.sku === sku)?.[0];
  const idOf = (row: ModelRow) => row.id ?? (mode === "PATCH" ? holderOf(row.sku) : undefined);
  const isStored = (row: ModelRow) => catalog.has(idOf(row) ?? "");
  const isFull = ({ id, sku, title }: ModelRow) => ![id, sku, title].includes(undefined);

  const own = (row: ModelRow): ModelProblem[] => [
    ...(mode === "PATCH" && row.id === undefined && row.sku === undefined ? [["REQUIRED", "id"] as const] : []),
    ...(typeof row.price === "number" && row.price < 0 ? [["INVALID_VALUE", "price"] as const] : []),
  ];
  const missing = (row: ModelRow): ModelProblem[] =>
    mode !== "PATCH" || own(row).length > 0 || isStored(row) || isFull(row)
      ? []
      : [["PRODUCT_NOT_FOUND", row.id === undefined ? "sku" : "id"]];
  const isDouble = (value: string | undefined, of: (row: ModelRow) => string | undefined) =>
    value !== undefined && rows.filter((other) => of(other) === value).length > 1;
  const doubles = (row: ModelRow): ModelProblem[] => [
    ...(isDouble(idOf(row), idOf) ? [["DUPLICATE", "id"] as const] : []),
    ...(isDouble(row.sku, ({ sku }) => sku) ? [["DUPLICATE", "sku"] as const] : []),
  ];

  const failing = new Set(rows.filter((row) => [own, missing, doubles].some((look) => look(row).length > 0)));
  /** A failed row without keys may mean any product. */
  const replaces = mode === "REPLACE" && ![...failing].some(({ id, sku }) => id === undefined && sku === undefined);
  const isTaken = (row: ModelRow): boolean => {
    const holder = holderOf(row.sku);
    if (holder === undefined || holder === idOf(row)) return false;
    const named = rows.filter((other) => idOf(other) === holder);
    if (named.length === 0) return !replaces;
    return !named.some((other) => !failing.has(other) && other.sku !== undefined);
  };
  for (let before = -1; before !== failing.size;) {
    before = failing.size;
    for (const row of rows) if (isTaken(row)) failing.add(row);
  }

  const after = new Map(catalog);
  if (replaces) {
    const ids = new Set(rows.map(idOf));
    const kept = new Set([...failing].map(({ sku }) => sku));
    for (const [id, { sku }] of catalog) if (!ids.has(id) && !kept.has(sku)) after.delete(id);
  }
  const deleted = catalog.size - after.size;
  const right = rows.filter((row) => !failing.has(row));
  for (const row of right) {
    const id = idOf(row) ?? "";
    const before = mode === "PATCH" ? catalog.get(id) : undefined;
    const { sku = before?.sku ?? "", title = before?.title ?? "", price = before?.price ?? null } = row;
    after.set(id, { sku, title, price });
  }
  const created = right.filter((row) => !isStored(row)).length;
  const failures = rows.flatMap((row, at) => {
    if (!failing.has(row)) return [];
    const conflict: ModelProblem[] = isTaken(row) ? [["CONFLICT", "sku"]] : [];
    return [{ at, problems: [...own(row), ...missing(row), ...doubles(row), ...conflict] }];
  });
  return { catalog: after, created, updated: right.length - created, deleted, failures };
}
