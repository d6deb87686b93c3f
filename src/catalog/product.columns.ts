import { textArrayLiteral } from "../database/sql/arrayLiteral.js";
import type { Product } from "../generated/prisma/client.js";
import { isStorable } from "../lib/text.js";
import { presentFields, type ProductInput, productFieldNames } from "./product.input.js";
import { searchText } from "./product.search.js";

/** Determines how values are encoded and CSV cells parsed. */
export type ColumnType = "text" | "numeric" | "boolean" | "text[]";

type ColumnTypeOf<Value> = Value extends string
  ? "text"
  : Value extends number
    ? "numeric"
    : Value extends boolean
      ? "boolean"
      : "text[]";

interface ProductColumn<Type extends ColumnType = ColumnType> {
  readonly name: Exclude<keyof Product, "storeId" | "createdAt" | "updatedAt">;
  readonly type: Type;
  /** Lists read it only where it is selected. */
  readonly isLong?: boolean;
}

/** Every statement that reads or writes products is generated from this table. */
export const productColumns: {
  readonly [F in keyof ProductInput]-?: ProductColumn<ColumnTypeOf<NonNullable<ProductInput[F]>>>;
} = {
  id: { name: "id", type: "text" },
  sku: { name: "sku", type: "text" },
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

/** The columns of an imported row. `searchWords` is the text of `searchText`, `present` is that of PlacedProduct. */
export const rowFieldNames = ["line", "present", ...productFieldNames, "searchWords"] as const;

/** One PostgreSQL array literal per column, for `unnest`. Elements of a `text[]` column are literals themselves. */
export type EncodedRows = { readonly [F in (typeof rowFieldNames)[number]]: string };

export interface PlacedProduct {
  readonly product: Partial<ProductInput>;
  readonly line: number;
  /** Fields of a patch, as `fieldBits`; null for an invalid one. */
  readonly present?: number | null;
}

/** `present` of a product that was read. */
export function presence(
  product: Partial<ProductInput>,
  { isPatch, isValid }: { readonly isPatch: boolean; readonly isValid: boolean },
): Pick<PlacedProduct, "present"> {
  if (!isPatch) return {};
  return { present: isValid ? presentFields(product) : null };
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

/** The casts hold: the type of `productColumns` ties column types to field types. */
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

/** The valid keys of an invalid product, to report its conflicts too. */
export function productKeys(product: unknown): Pick<Partial<ProductInput>, "id" | "sku"> | undefined {
  if (typeof product !== "object" || product === null) return undefined;
  const { id, sku } = product as { id?: unknown; sku?: unknown };
  if (!isKey(id) && !isKey(sku)) return undefined;
  return { ...(isKey(id) && { id }), ...(isKey(sku) && { sku }) };
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && /\S/u.test(value) && isStorable(value);
}
