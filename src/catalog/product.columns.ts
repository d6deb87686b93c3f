import { textArrayLiteral } from "../database/arrayLiteral.js";
import { isStorable } from "../lib/text.js";
import { type ProductInput, productFieldNames } from "./product.input.js";
import { searchText } from "./product.search.js";

/**
 * Rows of a chunk, which go into the database by one statement: enough to make the round trip cheap, few enough to encode
 * them in a few milliseconds.
 */
export const chunkRowsMax = 2_000;

/**
 * Products turned into columns for `unnest`: each is a PostgreSQL `text[]` literal with one element for each row.
 * An element of `images` is itself a `text[]` literal, for `images::text[]`.
 */
export type ProductColumns = {
  readonly [F in keyof ProductInput | "line" | "searchWords"]-?: string;
};

/** A product, or what can be stored of one, and where it stands in its request: a CSV line, or an index. */
export interface PlacedProduct {
  readonly product: Partial<ProductInput>;
  readonly line: number;
}

/** Where rows are taken apart, a column that ends early goes on with NULL. */
const noElements = "{}";
const columnNames = ["line", ...productFieldNames, "searchWords"] as const;

const keyNames: ReadonlySet<keyof ProductColumns> = new Set(["line", "id", "sku"]);

/**
 * Encodes rows as columns. Missing values are NULL, missing images an empty array.
 *
 * @param keysOnly leaves all columns empty but the line and the keys: to find out which rows do not go together
 */
export function productColumns(rows: readonly PlacedProduct[], keysOnly = false): ProductColumns {
  return columnsOf((name) => {
    if (keysOnly && !keyNames.has(name)) return noElements;
    switch (name) {
      case "line":
        return bareArrayLiteral(rows.map(({ line }) => line));
      case "price":
      case "price_min":
      case "price_max":
      case "available":
        return bareArrayLiteral(rows.map(({ product }) => product[name]));
      case "images":
        return textArrayLiteral(rows.map(({ product }) => textArrayLiteral(product.images ?? [])));
      case "searchWords":
        return textArrayLiteral(rows.map(({ product }) => searchText(product.title ?? "", product.sku ?? "")));
      default:
        return textArrayLiteral(rows.map(({ product }) => product[name] ?? null));
    }
  });
}

/** The columns of several sets of rows, one after the other; none of the sets may be empty. */
export function concatColumns(parts: readonly ProductColumns[]): ProductColumns {
  return columnsOf((name) => {
    const filled = parts.filter((part) => part[name] !== noElements);
    return `{${filled.map((part) => part[name].slice(1, -1)).join(",")}}`;
  });
}

function columnsOf(column: (name: keyof ProductColumns) => string): ProductColumns {
  return Object.fromEntries(columnNames.map((name) => [name, column(name)])) as ProductColumns; // columnNames holds all
}

/**
 * The id and the sku of a product that was refused, as far as PostgreSQL can store them: enough to find duplicates and
 * conflicts among all rows, so that one answer names every problem. Undefined if it has neither.
 */
export function productKeys(product: unknown): Pick<Partial<ProductInput>, "id" | "sku"> | undefined {
  if (typeof product !== "object" || product === null) return undefined;
  const { id, sku } = product as { id?: unknown; sku?: unknown };
  if (!isKey(id) && !isKey(sku)) return undefined;
  return { ...(isKey(id) && { id }), ...(isKey(sku) && { sku }) };
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && /\S/u.test(value) && isStorable(value);
}

/** Numbers and flags need no quotes. A number becomes its shortest decimal, which names the same number; -0 becomes 0. */
function bareArrayLiteral(values: readonly (number | boolean | null | undefined)[]): string {
  return `{${values.map((value) => String(value ?? "NULL")).join(",")}}`;
}
