import { Prisma, type Product } from "../generated/prisma/client.js";
import { type EncodedRows, productColumns, rowFieldNames } from "./product.columns.js";

// Lists of columns, generated once from productColumns.

const columns = Object.values(productColumns);
const list = (parts: readonly string[]) => Prisma.raw(parts.join(", "));
const names = columns.map(({ name }) => `"${name}"`);

/** A product as it is stored, but for what only the search index needs, which Prisma does not know. */
export type StoredProduct = Product;

/** The columns of a StoredProduct, for raw queries: Prisma's own take several times the work for the same rows. */
export const productRow = list(['"storeId"', ...names, '"createdAt"', '"updatedAt"']);

/** The same with empty long texts: reading these can take a thousand times as long. */
export const shortProductRow = list([
  '"storeId"',
  ...columns.map(({ name, type, isLong = false }) => (isLong ? `${emptyOf(type)} AS "${name}"` : `"${name}"`)),
  '"createdAt"',
  '"updatedAt"',
]);

/** The columns of table Product that an import fills from the columns of the same names of its rows. */
export const writtenColumns = list(names);

/** The same columns of rows with the alias `s`. */
export const rowValues = list(names.map((name) => `s.${name}`));

/** What an import changes of a product with the id of a row. */
export const assignments = list(names.filter((name) => name !== '"id"').map((name) => `${name} = EXCLUDED.${name}`));

/** Rows to import, as SQL: something to select from, under the alias `s`. */
export type RowSource = Prisma.Sql;

/** The columns of a row source in their order. */
export const rowColumns = list(rowFieldNames.map(columnOf));

/** The same as definitions of a table's columns. Keys sort by bytes, as in the table Product. */
export const rowColumnTypes = list([
  "line int NOT NULL",
  ...columns.map(({ name, type, isKey = false }) => `"${name}" ${type}${isKey ? ' COLLATE "C"' : ""}`),
  '"searchWords" text',
]);

/**
 * Rows sent along with the statement itself: a few thousand at most. The arrays are unnested in the list of columns
 * and not by a function in FROM, which would store all rows in between: a sixth of the work of an import.
 */
export function sentRows(rows: EncodedRows, bind: (value: string) => string): RowSource {
  return new Prisma.Sql(
    sentRowsText,
    rowFieldNames.map((name) => bind(rows[name])),
  );
}

/** Elements of arrays of arrays are sent as literals, and cast here. */
const sentValues = rowFieldNames.map((field) => columnOf(field) + (typeOf(field) === "text[]" ? "::text[]" : ""));
const elementTypes = rowFieldNames.map((field) => (typeOf(field) === "text[]" ? "text" : typeOf(field)));

/** What stands before, between and after the arrays, one for each of `rowFieldNames`. */
const sentRowsText = [
  `(SELECT ${sentValues.join(", ")} FROM (SELECT unnest(`,
  ...elementTypes.slice(0, -1).map((type) => `::${type}[]), unnest(`),
  `::${elementTypes.at(-1) ?? ""}[])) AS u(${rowColumns.sql})) s`,
];

function columnOf(field: keyof EncodedRows): string {
  return field === "line" || field === "searchWords" ? `"${field}"` : `"${productColumns[field].name}"`;
}

function typeOf(field: keyof EncodedRows): string {
  if (field === "line") return "int";
  return field === "searchWords" ? "text" : productColumns[field].type;
}

function emptyOf(type: string): string {
  return type === "text[]" ? "'{}'::text[]" : `NULL::${type}`;
}
