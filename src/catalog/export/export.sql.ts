import { Prisma } from "../../generated/prisma/client.js";
import { type ColumnType, productColumns } from "../../files/product/product.columns.js";
import { productFieldNames } from "../../files/product/product.fields.js";

/** Imports accept both. */
export type ExportFormat = "csv" | "ndjson";

export interface ExportFilter {
  readonly storeId: string;
  /** Only products sold on this site: those assigned to it or to no site. */
  readonly siteId?: string | undefined;
  readonly available?: boolean | null | undefined;
  readonly updatedSince?: Date | null | undefined;
}

export const exportOpenings: Readonly<Record<ExportFormat, string>> = {
  csv: `${productFieldNames.join(",")}\n`,
  ndjson: "",
};

const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`;

/** Always quotes texts, because unquoted ones would lose white space at their ends. */
const cells: Readonly<Record<ColumnType, (column: string) => string>> = {
  text: (column) => `coalesce(${quoted(column)}, '')`,
  numeric: (column) => `coalesce(${column}::text, '')`,
  boolean: (column) => `${column}::text`,
  "text[]": (column) => `CASE WHEN cardinality(${column}) = 0 THEN '' ELSE ${quoted(`to_json(${column})::text`)} END`,
};

const columns = productFieldNames.map((field) => ({ field, ...productColumns[field] }));
const csvCells = columns.map(({ name, type }) => cells[type](`p."${name}"`));
const jsonMembers = columns.map(({ field, name, type }) => {
  const column = `p."${name}"`;
  return `'${field}', ${type === "text[]" ? `nullif(${column}, '{}')` : column}`;
});

/** The line of a product with the alias `p`. */
export const exportLines: Readonly<Record<ExportFormat, Prisma.Sql>> = {
  csv: Prisma.raw(`${csvCells.join(" || ',' || ")} || E'\\n'`),
  ndjson: Prisma.raw(`json_strip_nulls(json_build_object(${jsonMembers.join(", ")}))::text || E'\\n'`),
};

/** FROM and WHERE, with the alias `p`. */
export function exportedProducts({ storeId, siteId, available, updatedSince }: ExportFilter): Prisma.Sql {
  const conditions = [
    Prisma.sql`p."storeId" = ${storeId}`,
    ...(typeof available === "boolean" ? [Prisma.sql`p.available = ${available}`] : []),
    ...(updatedSince instanceof Date ? [Prisma.sql`p."updatedAt" >= ${updatedSince}::timestamptz`] : []),
    ...(siteId === undefined ? [] : [soldOn(storeId, siteId)]),
  ];
  return Prisma.sql`FROM "Product" p WHERE ${Prisma.join(conditions, " AND ")}`;
}

/** Names the store for each table: see storeStatements.ts. */
function soldOn(storeId: string, siteId: string): Prisma.Sql {
  const assigned = Prisma.sql`SELECT FROM "ProductSite" t WHERE t."storeId" = ${storeId} AND t."productId" = p.id`;
  return Prisma.sql`(EXISTS (${assigned} AND t."siteId" = ${siteId}) OR NOT EXISTS (${assigned}))`;
}
