import { textArrayLiteral } from "../../database/rawParameters.js";
import { isStorable } from "../../lib/text.js";
import { type FieldKind, mapFields, type ProductInput, productFieldNames } from "./product.fields.js";
import { searchText } from "../../lib/words.js";

export type ColumnType = "text" | "numeric" | "boolean" | "text[]";

const columnTypes: Readonly<Record<FieldKind, ColumnType>> = {
  text: "text",
  url: "text",
  urls: "text[]",
  price: "numeric",
  flag: "boolean",
};

/** All statements that read or write products are generated from this. */
export const productColumns = mapFields(({ kind, column, cost }) => ({
  name: column,
  type: columnTypes[kind],
  isLong: cost !== undefined,
}));

/** The columns of an imported row. `searchWords` is the text of `searchText`, `present` is as in PlacedProduct. */
export const rowFieldNames = ["line", "present", ...productFieldNames, "searchWords"] as const;

/** One PostgreSQL array literal per column, for `unnest`. Elements of a `text[]` column are literals themselves. */
export type EncodedRows = { readonly [F in (typeof rowFieldNames)[number]]: string };

export interface PlacedProduct {
  readonly product: Partial<ProductInput>;
  readonly line: number;
  /** Fields of a patch, as `fieldBits`; null for an invalid one. */
  readonly present?: number | null;
}

/** `unnest` pads shorter columns with NULL. */
const noElements = "{}";

/** Missing values become NULL, missing images an empty array. */
export function encodeRows(rows: readonly PlacedProduct[]): EncodedRows {
  return mapColumns((name) => {
    if (name === "line") return bareArrayLiteral(rows.map(({ line }) => line));
    if (name === "present") {
      return rows[0]?.present === undefined ? noElements : bareArrayLiteral(rows.map(({ present }) => present));
    }
    if (name === "searchWords") {
      return textArrayLiteral(rows.map(({ product }) => searchText(product.title ?? "", product.sku ?? "")));
    }
    return encodeColumn(
      productColumns[name].type,
      rows.map(({ product }) => product[name]),
    );
  });
}

export function concatRows(parts: readonly EncodedRows[]): EncodedRows {
  return mapColumns((name) => {
    const filled = parts.filter((part) => part[name] !== noElements);
    return `{${filled.map((part) => part[name].slice(1, -1)).join(",")}}`;
  });
}

function mapColumns(column: (name: keyof EncodedRows) => string): EncodedRows {
  return Object.fromEntries(rowFieldNames.map((name) => [name, column(name)])) as EncodedRows; // rowFieldNames holds all
}

/** The casts hold, because each kind of field has one type of values and one of columns. */
function encodeColumn(type: ColumnType, values: readonly ProductInput[keyof ProductInput][]): string {
  switch (type) {
    case "text":
      return textArrayLiteral(values.map((value) => (value as string | undefined) ?? null));
    case "text[]":
      return textArrayLiteral(values.map((value) => textArrayLiteral((value as readonly string[] | undefined) ?? [])));
    default:
      return bareArrayLiteral(values as readonly (number | boolean | undefined)[]);
  }
}

/** The shortest decimal of a number, which denotes the same number; -0 becomes 0. */
function bareArrayLiteral(values: readonly (number | boolean | null | undefined)[]): string {
  return `{${values.map((value) => String(value ?? "NULL")).join(",")}}`;
}

/** The keys of an invalid product that could be stored, to report its conflicts too. */
export function productKeys(product: unknown): Pick<Partial<ProductInput>, "id" | "sku"> | undefined {
  if (typeof product !== "object" || product === null) return undefined;
  const { id, sku } = product as { id?: unknown; sku?: unknown };
  if (!isKey(id) && !isKey(sku)) return undefined;
  return { ...(isKey(id) && { id }), ...(isKey(sku) && { sku }) };
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && /\S/u.test(value) && isStorable(value);
}
