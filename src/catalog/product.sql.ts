import { Prisma, type Product } from "../generated/prisma/client.js";
import { type EncodedRows, productColumns, rowFieldNames } from "./product.columns.js";

const columns = Object.values(productColumns);
const list = (parts: readonly string[]) => Prisma.raw(parts.join(", "));
const names = columns.map(({ name }) => `"${name}"`);

/** A product without the column of the search index. */
export type StoredProduct = Product;

/** Columns for raw queries, which take a fraction of the work of Prisma's own. */
export const productRow = list(['"storeId"', ...names, '"createdAt"', '"updatedAt"']);

const isBrief = ({ type, isLong = false }: { type: string; isLong?: boolean }) => type === "text" && !isLong;

/** Fields whose columns are read as they are: converting the others takes a tenth of a REST read. */
export const briefFields: ReadonlySet<string> = new Set(
  Object.entries(productColumns).flatMap(([field, column]) => (isBrief(column) ? [field] : [])),
);

/** Columns of `briefFields` alone. */
export const briefProductRow = list(columns.filter(isBrief).map(({ name }) => `"${name}"`));

/** `productRow` with empty long texts, which can take a thousand times as long to read. */
export const shortProductRow = list([
  '"storeId"',
  ...columns.map(({ name, type, isLong = false }) => (isLong ? `${emptyOf(type)} AS "${name}"` : `"${name}"`)),
  '"createdAt"',
  '"updatedAt"',
]);

export type LongField = "description" | "images";

/** The maximum in one product. */
export const longCharactersMax: Readonly<Record<LongField, number>> = { description: 65_535, images: 250 * 2_048 };

export function isLongField(name: string): name is LongField {
  return Object.hasOwn(longCharactersMax, name);
}

/** The bytes of these texts in a row; those of images may have up to three more each. */
export function longBytes(fields: readonly LongField[]): Prisma.Sql {
  return fields.length === 0
    ? Prisma.sql`0`
    : Prisma.join(
        fields.map((field) => bytesOf[field]),
        " + ",
      );
}

/**
 * Without the header of 24 bytes, and at most 7 of each element's length and padding. An array on disk is compressed; one
 * joined with an empty array has the size of its texts. Joining the texts would take seven times as long.
 */
const imagesBytes = Prisma.sql`
  (SELECT greatest(pg_column_size(list) - 24 - 7 * cardinality(list), 0) FROM (SELECT images || '{}'::text[] AS list OFFSET 0) AS joined)`;

const bytesOf: Readonly<Record<LongField, Prisma.Sql>> = {
  description: Prisma.sql`coalesce(octet_length(description), 0)`,
  images: imagesBytes,
};

export const writtenColumns = list(names);

/** Values for `writtenColumns`, of rows with the alias `s`. */
export const rowValues = list(names.map((name) => `s.${name}`));

export const assignments = list(names.filter((name) => name !== '"id"').map((name) => `${name} = EXCLUDED.${name}`));

/** Something to select rows from, with the alias `s`. */
export type RowSource = Prisma.Sql;

export const rowColumns = list(rowFieldNames.map(columnOf));

/** `rowColumns` of rows with the alias `s`, beside other relations. */
export const sentColumns = list(rowFieldNames.map((name) => `s.${columnOf(name)}`));

/** A few thousand rows at most. In FROM, `unnest` would materialize them, a sixth of the work of an import. */
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
