/**
 * What an import does to a catalog, in the plainest way: a map of products, and rows looked at one by one until nothing more
 * fails. Nothing from src.
 */

export type Mode = "UPSERT" | "PATCH" | "REPLACE";

interface StoredRow {
  readonly sku: string;
  readonly title: string;
  readonly price: number | null;
  /** In order. */
  readonly sites: readonly string[];
}

export type Catalog = ReadonlyMap<string, StoredRow>;

/** What is wrong with a row by itself, whatever others say, by its code and field. */
export const defects = {
  "negative price": ["INVALID_VALUE", "price"],
  "no url": ["REQUIRED", "url"],
  "available is no boolean": ["INVALID_TYPE", "available"],
} as const;

/** Rows of a patch may lack any field. */
export interface ModelRow {
  readonly id?: string;
  readonly sku?: string;
  readonly title?: string;
  readonly price?: number | null;
  readonly defect?: keyof typeof defects | undefined;
}

export interface ModelImport {
  readonly rows: readonly ModelRow[];
  readonly mode: Mode;
  readonly siteId: string | null | undefined;
  readonly maxDeletions: number | null | undefined;
}

type ModelProblem = readonly [code: string, field: string];

interface Outcome {
  readonly catalog: Catalog;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Whether it removes more than it may. */
  readonly isTooMuch: boolean;
  readonly failures: readonly ModelFailure[];
}

interface ModelFailure {
  /** The place among the rows. */
  readonly at: number;
  /** Of a patch, that of the product that has the sku. */
  readonly id: string | undefined;
  readonly problems: readonly ModelProblem[];
}

/** Imports the rows, but for those that fail. */
export function importInto(catalog: Catalog, sent: ModelImport): Outcome {
  const { rows, mode, siteId } = { ...sent, siteId: sent.siteId ?? undefined };
  const holders = new Map([...catalog].map(([id, { sku }]) => [sku, id]));
  const holderOf = (sku: string | undefined) => holders.get(sku ?? "");
  const idOf = (row: ModelRow) => row.id ?? (mode === "PATCH" ? holderOf(row.sku) : undefined);
  const isStored = (row: ModelRow) => catalog.has(idOf(row) ?? "");
  const isFull = ({ id, sku, title }: ModelRow) => ![id, sku, title].includes(undefined);

  const own = (row: ModelRow): ModelProblem[] => [
    ...(row.id === undefined && row.sku === undefined ? [["REQUIRED", "id"] as const] : []),
    ...(row.defect === undefined ? [] : [defects[row.defect]]),
  ];
  const missing = (row: ModelRow): ModelProblem[] =>
    mode !== "PATCH" || own(row).length > 0 || isStored(row) || isFull(row)
      ? []
      : [["PRODUCT_NOT_FOUND", row.id === undefined ? "sku" : "id"]];
  const named = grouped(rows, idOf);
  const skuUses = grouped(rows, ({ sku }) => sku);
  const isDouble = (uses: readonly ModelRow[] = []) => uses.length > 1;
  const doubles = (row: ModelRow): ModelProblem[] => [
    ...(isDouble(named.get(idOf(row) ?? "")) ? [["DUPLICATE", "id"] as const] : []),
    ...(isDouble(skuUses.get(row.sku ?? "")) ? [["DUPLICATE", "sku"] as const] : []),
  ];

  const failing = new Set(rows.filter((row) => [own, missing, doubles].some((look) => look(row).length > 0)));
  /** A failed row without keys may mean any product. */
  const replaces = mode === "REPLACE" && ![...failing].some(({ id, sku }) => id === undefined && sku === undefined);
  const isOf = ({ sites }: StoredRow) => siteId === undefined || sites.includes(siteId);
  /** Of a site, only products that are on no other are deleted. */
  const isDeletable = (stored: StoredRow) => siteId === undefined || (isOf(stored) && stored.sites.length === 1);
  const isTaken = (row: ModelRow): boolean => {
    const holder = holderOf(row.sku);
    const stored = catalog.get(holder ?? "");
    if (stored === undefined || holder === idOf(row)) return false;
    const others = named.get(holder ?? "");
    if (others === undefined) return !(replaces && isDeletable(stored));
    return !others.some((other) => !failing.has(other) && other.sku !== undefined);
  };
  for (let before = -1; before !== failing.size;) {
    before = failing.size;
    for (const row of rows) if (isTaken(row)) failing.add(row);
  }

  const after = new Map(catalog);
  let removed = 0;
  if (replaces) {
    const kept = new Set([...failing].map(({ sku }) => sku));
    for (const [id, stored] of catalog) {
      if (named.has(id) || kept.has(stored.sku) || !isOf(stored)) continue;
      removed += 1;
      if (isDeletable(stored)) after.delete(id);
      else after.set(id, { ...stored, sites: stored.sites.filter((site) => site !== siteId) });
    }
  }
  const deleted = catalog.size - after.size;
  const right = rows.filter((row) => !failing.has(row));
  for (const row of right) {
    const id = idOf(row) ?? "";
    const before = catalog.get(id);
    const { sku = before?.sku ?? "", title = before?.title ?? "", price = unsentPrice(mode, before) } = row;
    const sites = [...new Set([...(before?.sites ?? []), ...(siteId === undefined ? [] : [siteId])])].toSorted();
    after.set(id, { sku, title, price, sites });
  }
  const created = right.filter((row) => !isStored(row)).length;
  const failures = rows.flatMap((row, at) => {
    if (!failing.has(row)) return [];
    const conflict: ModelProblem[] = isTaken(row) ? [["CONFLICT", "sku"]] : [];
    return [{ at, id: idOf(row), problems: [...own(row), ...missing(row), ...doubles(row), ...conflict] }];
  });
  const isTooMuch = removed > allowedDeletions(sent, [...catalog.values()].filter(isOf).length, right.length);
  return { catalog: after, created, updated: right.length - created, deleted, isTooMuch, failures };
}

/** The rows by a key, of those that have it. */
function grouped(rows: readonly ModelRow[], keyOf: (row: ModelRow) => string | undefined): Map<string, ModelRow[]> {
  const groups = new Map<string, ModelRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

function unsentPrice(mode: Mode, before: StoredRow | undefined): number | null {
  return mode === "PATCH" ? (before?.price ?? null) : null;
}

/** Of few products half; of many a tenth, but at least 10. A feed without a product deletes nothing. */
function allowedDeletions({ maxDeletions }: ModelImport, before: number, stored: number): number {
  if (typeof maxDeletions === "number") return maxDeletions;
  if (stored === 0) return 0;
  return Math.min(Math.ceil(before / 2), Math.max(10, Math.floor(before / 10)));
}
