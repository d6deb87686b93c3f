import pg, { type ClientConfig } from "pg";

/** Remembers all rows of a migrated database. @returns what makes them the only ones again */
export async function rememberRows(connection: ClientConfig): Promise<() => Promise<void>> {
  const run = async (statements: readonly string[]) => {
    const client = new pg.Client(connection);
    await client.connect();
    try {
      const results = [];
      for (const statement of statements) results.push(await client.query(statement));
      return results;
    } finally {
      await client.end();
    }
  };
  const [columns] = await run([
    `SELECT format('%I', table_name) AS table, string_agg(format('%I', column_name), ', ') AS columns
     FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' AND is_generated = 'NEVER'
     GROUP BY table_name`,
  ]);
  const tables: { table: string; columns: string }[] = columns?.rows ?? [];
  await run([
    "CREATE SCHEMA remembered",
    ...tables.map(({ table }) => `CREATE TABLE remembered.${table} AS TABLE public.${table}`),
  ]);
  const restore = [
    "BEGIN",
    "SET LOCAL session_replication_role = replica", // in any order
    `TRUNCATE ${tables.map(({ table }) => `public.${table}`).join(", ")}`,
    ...tables.map(
      ({ table, columns: names }) => `INSERT INTO public.${table} (${names}) SELECT ${names} FROM remembered.${table}`,
    ),
    "COMMIT",
  ];
  return async () => void (await run(restore));
}
