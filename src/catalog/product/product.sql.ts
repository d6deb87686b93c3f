import { Prisma, type Product } from "../../generated/prisma/client.js";
import {
  type ColumnType,
  type EncodedRows,
  productColumns,
  rowFieldNames,
} from "../../files/product/product.columns.js";
import {
  type FieldName,
  type ProductField,
  productFieldNames,
  productFields,
} from "../../files/product/product.fields.js";
import { imagesMax, urlCharactersMax } from "../../files/product/product.rules.js";

const columns = Object.values(productColumns);
const list = (parts: readonly string[]) => Prisma.raw(parts.join(", "));
const names = columns.map(({ name }) => `"${name}"`);

/** A product without the column of the search index. */
export type StoredProduct = Product;

/** Columns for raw queries, which cost a fraction of Prisma's own. */
export const productRow = list(['"storeId"', ...names, '"createdAt"', '"updatedAt"']);

const isBrief = ({ type, isLong }: { type: ColumnType; isLong: boolean }) => type === "text" && !isLong;

/** Fields whose columns need no conversion, because converting the others takes a tenth of a REST read. */
export const briefFields: ReadonlySet<string> = new Set(
  productFieldNames.filter((name) => isBrief(productColumns[name])),
);

/** Only the columns of `briefFields`. */
export const briefProductRow = list(columns.filter(isBrief).map(({ name }) => `"${name}"`));

/** `productRow` with empty long texts, which can take a thousand times as long to read. */
export const shortProductRow = list([
  '"storeId"',
  ...columns.map(({ name, type, isLong }) => (isLong ? `${emptyOf(type)} AS "${name}"` : `"${name}"`)),
  '"createdAt"',
  '"updatedAt"',
]);

export function isLongField(name: string): name is FieldName {
  return productFieldNames.some((field) => field === name && productColumns[field].isLong);
}

/** The most characters of a long field in one product. */
export function charactersMaxOf(name: FieldName): number {
  const field: ProductField = productFields[name];
  return field.kind === "text" ? field.charactersMax : imagesMax * urlCharactersMax;
}

/** The bytes of long fields in a row; for lists perhaps up to three more for each element. */
export function longBytes(fields: readonly FieldName[]): Prisma.Sql {
  return Prisma.raw(["0", ...fields.map((field) => bytesOf(productColumns[field]))].join(" + "));
}

/**
 * The size of a list less its header of 24 bytes and 7 bytes for each element's length and padding. Arrays on disk are compressed, so
 * it is concatenated with an empty array. Concatenating the texts would take seven times as long.
 */
function bytesOf({ name, type }: { readonly name: string; readonly type: ColumnType }): string {
  if (type !== "text[]") return `coalesce(octet_length("${name}"), 0)`;
  return `(SELECT greatest(pg_column_size(list) - 24 - 7 * cardinality(list), 0)
    FROM (SELECT "${name}" || '{}'::text[] AS list OFFSET 0) AS joined)`;
}

export const writtenColumns = list(names);

/** Values for `writtenColumns` from rows with the alias `s`. */
export const rowValues = list(names.map((name) => `s.${name}`));

export const assignments = list(names.filter((name) => name !== '"id"').map((name) => `${name} = EXCLUDED.${name}`));

/** Something to select rows from, with the alias `s`. */
export type RowSource = Prisma.Sql;

export const rowColumns = list(rowFieldNames.map(columnOf));

/** `rowColumns` of rows with the alias `s`, joined with other relations. */
export const sentColumns = list(rowFieldNames.map((name) => `s.${columnOf(name)}`));

/** A few thousand rows at most. Not `unnest` in FROM, which would materialize them: a sixth of the work of an import. */
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
