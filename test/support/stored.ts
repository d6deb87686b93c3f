import { Prisma } from "../../src/generated/prisma/client.js";
import type { TestApp, TestStore } from "./app.js";

/** Every row of every table that belongs to a store, as JSON text, by table; rows are sorted. */
export async function everythingOf({ db }: Pick<TestApp, "db">, { id }: Pick<TestStore, "id">) {
  const stored: Record<string, string[]> = {};
  for (const table of Object.values(Prisma.ModelName)) {
    const owner = Prisma.raw(table === "Store" ? `"id"` : `"storeId"`);
    const rows = await db.$queryRaw<{ row: string }[]>`
      SELECT to_jsonb(t)::text AS row FROM ${Prisma.raw(`"${table}"`)} t WHERE ${owner} = ${id}`;
    stored[table] = rows.map(({ row }) => row).toSorted();
  }
  return stored;
}

/** A digest of every row of every table that belongs to a store, in one query: it changes whenever any of them does. */
export async function digestOf({ db }: Pick<TestApp, "db">, { id }: Pick<TestStore, "id">): Promise<string> {
  const tables = Object.values(Prisma.ModelName).map((table) => {
    const [name, owner] = [`"${table}"`, table === "Store" ? `"id"` : `"storeId"`].map((text) => Prisma.raw(text));
    return Prisma.sql`SELECT ${table}::text || to_jsonb(t)::text AS row FROM ${name} t WHERE ${owner} = ${id}`;
  });
  const [digest] = await db.$queryRaw<[{ md5: string | null }]>`
    SELECT md5(string_agg(row, ' ' ORDER BY row)) FROM (${Prisma.join(tables, " UNION ALL ")}) AS rows`;
  return digest.md5 ?? "";
}
