import type { Database } from "../../../src/database/client.js";

/** Copied whole to each node: nothing of a store's own rows but its tokens and keys, which are looked up by themselves. */
export const referenceTables: ReadonlySet<string> = new Set(["AccessToken", "PublicKey", "Hook", "_prisma_migrations"]);

/** The tables that Citus spreads over nodes: all but those named above. */
export async function distributedTables(db: Database, schema = "public"): Promise<string[]> {
  const rows = await db.$queryRaw<{ name: string }[]>`
    SELECT c.relname::text AS name FROM pg_class c
    WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`;
  return rows.map(({ name }) => name).filter((name) => !referenceTables.has(name));
}

/** The column by whose value a row finds its node. */
export function distributionColumn(table: string): string {
  return table === "Store" ? "id" : "storeId";
}
