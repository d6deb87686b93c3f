import { textArrayLiteral } from "../database/arrayLiteral.js";
import type { Product } from "../generated/prisma/client.js";
import { isStorable } from "../lib/text.js";
import { type ProductInput, productFieldNames } from "./product.input.js";
import { searchText } from "./product.search.js";

/** The SQL type of a column. It decides how the values of the field are sent, and how its CSV cells are read. */
export type ColumnType = "text" | "numeric" | "boolean" | "text[]";

type ColumnTypeOf<Value> = Value extends string
  ? "text"
  : Value extends number
    ? "numeric"
    : Value extends boolean
      ? "boolean"
      : "text[]";

interface ProductColumn<Type extends ColumnType = ColumnType> {
  /** Its name in the tables Product and StagedProduct. */
  readonly name: Exclude<keyof Product, "storeId" | "createdAt" | "updatedAt">;
  readonly type: Type;
  /** Whether it is a key of the product: enough to find out which rows of an import conflict. */
  readonly isKey?: boolean;
  /** Whether it may hold so much text that lists read it only where they are asked for it. */
  readonly isLong?: boolean;
}

/** The column that stores each field of a product. All statements that read or write products are generated from this table. */
export const productColumns: {
  readonly [F in keyof ProductInput]-?: ProductColumn<ColumnTypeOf<NonNullable<ProductInput[F]>>>;
} = {
  id: { name: "id", type: "text", isKey: true },
  sku: { name: "sku", type: "text", isKey: true },
  title: { name: "title", type: "text" },
  description: { name: "description", type: "text", isLong: true },
  price: { name: "price", type: "numeric" },
  price_min: { name: "priceMin", type: "numeric" },
  price_max: { name: "priceMax", type: "numeric" },
  available: { name: "available", type: "boolean" },
  images: { name: "images", type: "text[]", isLong: true },
  featured_image: { name: "featuredImage", type: "text" },
  url: { name: "url", type: "text" },
};

/**
 * Rows of a chunk, which are written by one statement: enough to make the round trip cheap, few enough to encode in a few
 * milliseconds.
 */
export const chunkRowsMax = 2_000;

/** What a statement needs of each row: its line, its fields, and the words by which it is found. */
export const rowFieldNames = ["line", ...productFieldNames, "searchWords"] as const;

/**
 * Rows encoded by column, for `unnest`: each is a PostgreSQL array literal with one element for each row. An element of
 * a `text[]` column is itself a literal, for `::text[]`.
 */
export type EncodedRows = { readonly [F in (typeof rowFieldNames)[number]]: string };

/** A product, or what can be stored of one, and its place in the request: a CSV line, or an index. */
export interface PlacedProduct {
  readonly product: Partial<ProductInput>;
  readonly line: number;
}

/** `unnest` fills a column that is shorter than the others with NULL. */
const noElements = "{}";

/**
 * Encodes rows by column. Missing values are NULL, missing images an empty array.
 *
 * @param keysOnly leaves all columns empty but the line and the keys
 */
export function encodeRows(rows: readonly PlacedProduct[], keysOnly = false): EncodedRows {
  return mapColumns((name) => {
    if (name === "line") return bareArrayLiteral(rows.map(({ line }) => line));
    if (keysOnly && !(name !== "searchWords" && productColumns[name].isKey === true)) return noElements;
    if (name === "searchWords") {
      return textArrayLiteral(rows.map(({ product }) => searchText(product.title ?? "", product.sku ?? "")));
    }
    return encodeColumn(
      productColumns[name].type,
      rows.map(({ product }) => product[name]),
    );
  });
}

/** The rows of several sets, one after the other; none of the sets may be empty. */
export function concatRows(parts: readonly EncodedRows[]): EncodedRows {
  return mapColumns((name) => {
    const filled = parts.filter((part) => part[name] !== noElements);
    return `{${filled.map((part) => part[name].slice(1, -1)).join(",")}}`;
  });
}

function mapColumns(column: (name: keyof EncodedRows) => string): EncodedRows {
  return Object.fromEntries(rowFieldNames.map((name) => [name, column(name)])) as EncodedRows; // rowFieldNames holds all
}

/** The casts hold because the type of `productColumns` ties the type of a column to that of its field. */
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

/** Numbers and flags need no quotes. A number becomes its shortest decimal, which names the same number; -0 becomes 0. */
function bareArrayLiteral(values: readonly (number | boolean | null | undefined)[]): string {
  return `{${values.map((value) => String(value ?? "NULL")).join(",")}}`;
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
