import type { Database } from "../../../src/database/client.js";
import { distributedTables, distributionColumn } from "./tables.js";

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly kind: string;
  readonly collation: string | null;
}

interface UniqueIndex {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPrimary: boolean;
  readonly isDeferrable: boolean;
  readonly isDeferred: boolean;
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
  readonly onUpdate: string;
  readonly onDelete: string;
}

/** What in a schema, as the catalogs tell it, would stand in the way of Citus: one line for each violation. */
export async function schemaViolations(db: Database, schema = "public"): Promise<string[]> {
  const tables = await distributedTables(db, schema);
  const columns = await columnsOf(db, schema);
  const indexes = await uniqueIndexesOf(db, schema);
  const keys = await foreignKeysOf(db, schema);
  return [
    ...tables.flatMap((table) => tableViolations(table, columns, indexes)),
    ...columns.flatMap(columnViolations),
    ...indexes.filter(({ table }) => tables.includes(table)).flatMap(indexViolations),
    ...keys.flatMap((key) => keyViolations(key, tables)),
  ];
}

function tableViolations(table: string, columns: readonly Column[], indexes: readonly UniqueIndex[]): string[] {
  const found: string[] = [];
  const column = columns.find((each) => each.table === table && each.name === distributionColumn(table));
  if (column === undefined) found.push(`${table} has no ${distributionColumn(table)}`);
  // Tables are co-located only by columns of one type and one collation.
  else if (column.type !== "text" || column.collation !== "C") {
    found.push(`${table}.${column.name} is ${column.type} COLLATE ${column.collation}, not text COLLATE C`);
  }
  if (!indexes.some((index) => index.table === table && index.isPrimary)) found.push(`${table} has no primary key`);
  return found;
}

function columnViolations({ table, name, type, kind }: Column): string[] {
  if (kind === "e") return [`${table}.${name} is an enum`];
  return type === "money" ? [`${table}.${name} is of type money`] : [];
}

function indexViolations({ table, name, columns, isDeferrable, isDeferred }: UniqueIndex): string[] {
  const found: string[] = [];
  if (columns[0] !== distributionColumn(table)) found.push(`${name} does not begin with ${distributionColumn(table)}`);
  if (isDeferred) found.push(`${name} is initially deferred`);
  if (name === "Product_storeId_sku_key" && !isDeferrable) found.push(`${name} is not deferrable`);
  return found;
}

function keyViolations(key: ForeignKey, tables: readonly string[]): string[] {
  const found: string[] = [];
  const { name, table, columns, target, targetColumns, onUpdate, onDelete } = key;
  if (!tables.includes(table)) return [`${name}: ${table} is no distributed table and may have no foreign key`];
  if (!tables.includes(target)) return [`${name}: ${target} is no distributed table and may not be pointed at`];
  const place = columns.indexOf(distributionColumn(table));
  if (place < 0 || targetColumns[place] !== distributionColumn(target)) {
    found.push(`${name} does not tie the store of ${table} to that of ${target}`);
  }
  if (onUpdate !== "r") found.push(`${name} is not ON UPDATE RESTRICT`);
  if (onDelete !== "c" && onDelete !== "r") found.push(`${name} is not ON DELETE CASCADE or RESTRICT`);
  return found;
}

function columnsOf(db: Database, schema: string): Promise<Column[]> {
  return db.$queryRaw<Column[]>`
    SELECT c.relname::text AS "table", a.attname::text AS name, t.typname::text AS type, t.typtype::text AS kind,
      l.collname::text AS collation
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
      AND c.relname <> '_prisma_migrations'
    ORDER BY 1, a.attnum`;
}

/** An expression in an index has no column, and stands as an empty name. */
function uniqueIndexesOf(db: Database, schema: string): Promise<UniqueIndex[]> {
  return db.$queryRaw<UniqueIndex[]>`
    SELECT c.relname::text AS "table", i.relname::text AS name, x.indisprimary AS "isPrimary",
      coalesce(k.condeferrable, false) AS "isDeferrable", coalesce(k.condeferred, false) AS "isDeferred",
      ARRAY(SELECT coalesce(a.attname, '')::text
        FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS u(attnum, place)
          LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum
        WHERE place <= x.indnkeyatts ORDER BY place) AS columns
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
      LEFT JOIN pg_constraint k ON k.conindid = i.oid AND k.contype IN ('p', 'u', 'x')
    WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind IN ('r', 'p')
      AND (x.indisunique OR x.indisexclusion) ORDER BY 1, 2`;
}

function foreignKeysOf(db: Database, schema: string): Promise<ForeignKey[]> {
  return db.$queryRaw<ForeignKey[]>`
    SELECT k.conname::text AS name, c.relname::text AS "table", f.relname::text AS target,
      k.confupdtype::text AS "onUpdate", k.confdeltype::text AS "onDelete",
      ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, place)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum ORDER BY place) AS columns,
      ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(attnum, place)
        JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = u.attnum ORDER BY place) AS "targetColumns"
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
    WHERE c.relnamespace = ${schema}::regnamespace AND k.contype = 'f' ORDER BY 1`;
}
