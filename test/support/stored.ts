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
