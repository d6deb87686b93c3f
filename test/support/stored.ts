import { Prisma } from "../../src/generated/prisma/client.js";
import type { TestApp, TestStore } from "./app.js";

/** Every row of every table that belongs to a store, as JSON text, by table; rows are sorted. */
export async function everythingOf({ db }: Pick<TestApp, "db">, { id }: Pick<TestStore, "id">) {
  const stored: Record<string, string[]> = Object.fromEntries(tables.map((table) => [table, []]));
  const rows = await db.$queryRaw<{ table: string; row: string }[]>(rowsOf(id));
  for (const { table, row } of rows) stored[table]?.push(row);
  for (const list of Object.values(stored)) list.sort();
  return stored;
}

/** A digest of every row of every table that belongs to a store, in one query: it changes whenever any of them does. */
export async function digestOf({ db }: Pick<TestApp, "db">, { id }: Pick<TestStore, "id">): Promise<string> {
  const [digest] = await db.$queryRaw<[{ md5: string | null }]>`
    SELECT md5(string_agg("table" || row, ' ' ORDER BY "table" || row)) FROM (${rowsOf(id)}) AS rows`;
  return digest.md5 ?? "";
}

/** What long imports leave in the tables through which their rows go. */
export async function stagedOf({ db }: Pick<TestApp, "db">, { id: storeId }: Pick<TestStore, "id">) {
  return {
    imports: await db.stagedImport.count({ where: { storeId } }),
    rows: await db.stagedProduct.count({ where: { storeId } }),
  };
}

/** As of stagedOf. */
export const nothingStaged = { imports: 0, rows: 0 };

const tables = Object.values(Prisma.ModelName);

/** All rows of a store, in one query: one for each table would take several times as long. */
function rowsOf(storeId: string): Prisma.Sql {
  const ofTables = tables.map((table) => {
    const [name, owner] = [`"${table}"`, table === "Store" ? `"id"` : `"storeId"`].map((text) => Prisma.raw(text));
    return Prisma.sql`SELECT ${table}::text AS "table", to_jsonb(t)::text AS row FROM ${name} t WHERE ${owner} = ${storeId}`;
  });
  return Prisma.join(ofTables, " UNION ALL ");
}
