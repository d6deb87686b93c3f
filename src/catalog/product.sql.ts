import { Prisma, type Product } from "../generated/prisma/client.js";
import { type EncodedRows, productColumns, rowFieldNames } from "./product.columns.js";

// Lists of columns, generated once from productColumns.

const columns = Object.values(productColumns);
const list = (parts: readonly string[]) => Prisma.raw(parts.join(", "));
const names = columns.map(({ name }) => `"${name}"`);

/** A product as Prisma knows it: without the column of the search index. */
export type StoredProduct = Product;

/** The columns of a StoredProduct, for raw queries, which take a fraction of the work of Prisma's own. */
export const productRow = list(['"storeId"', ...names, '"createdAt"', '"updatedAt"']);

/** The same with empty long texts, whose reading can take a thousand times as long. */
export const shortProductRow = list([
  '"storeId"',
  ...columns.map(({ name, type, isLong = false }) => (isLong ? `${emptyOf(type)} AS "${name}"` : `"${name}"`)),
  '"createdAt"',
  '"updatedAt"',
]);

export const writtenColumns = list(names);

/** The values for `writtenColumns`, of rows with the alias `s`. */
export const rowValues = list(names.map((name) => `s.${name}`));

export const assignments = list(names.filter((name) => name !== '"id"').map((name) => `${name} = EXCLUDED.${name}`));

/** Rows to import: something to select from, with the alias `s`. */
export type RowSource = Prisma.Sql;

export const rowColumns = list(rowFieldNames.map(columnOf));

/** `rowColumns` with their types. Keys sort by bytes, as in Product. */
export const rowColumnTypes = list([
  "line int NOT NULL",
  "present int",
  ...columns.map(({ name, type, isKey = false }) => `"${name}" ${type}${isKey ? ' COLLATE "C"' : ""}`),
  '"searchWords" text',
]);

/**
 * Rows sent with the statement: a few thousand at most. A function in FROM instead of the select list would materialize
 * them, a sixth of the work of an import.
 */
export function sentRows(rows: EncodedRows, bind: (value: string) => string): RowSource {
  return new Prisma.Sql(
    sentRowsText,
    rowFieldNames.map((name) => bind(rows[name])),
  );
}

const sentValues = rowFieldNames.map((field) => columnOf(field) + (typeOf(field) === "text[]" ? "::text[]" : ""));
const elementTypes = rowFieldNames.map((field) => (typeOf(field) === "text[]" ? "text" : typeOf(field)));

const sentRowsText = [
  `(SELECT ${sentValues.join(", ")} FROM (SELECT unnest(`,
  ...elementTypes.slice(0, -1).map((type) => `::${type}[]), unnest(`),
  `::${elementTypes.at(-1) ?? ""}[])) AS u(${rowColumns.sql})) s`,
];

function columnOf(field: keyof EncodedRows): string {
  return field === "line" || field === "present" || field === "searchWords"
    ? `"${field}"`
    : `"${productColumns[field].name}"`;
}

function typeOf(field: keyof EncodedRows): string {
  if (field === "line" || field === "present") return "int";
  return field === "searchWords" ? "text" : productColumns[field].type;
}

function emptyOf(type: string): string {
  return type === "text[]" ? "'{}'::text[]" : `NULL::${type}`;
}
