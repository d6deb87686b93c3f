import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Database } from "./client.js";

/** The migrations that this version knows, in Prisma's layout. */
export const migrationsFolder = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

/** Their names, oldest first. */
export async function migrationNames(): Promise<readonly string[]> {
  const entries = await readdir(migrationsFolder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

/** Whether the database has all of them, completely applied. Throws what the database throws when it cannot be asked. */
export async function isMigrated(db: Database): Promise<boolean> {
  const names = await migrationNames();
  const [table] = await db.$queryRaw<
    [{ exists: boolean }]
  >`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`;
  if (!table.exists) return false;
  const applied = await db.$queryRaw<{ name: string }[]>`
    SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`;
  const appliedNames = new Set(applied.map(({ name }) => name));
  return names.every((name) => appliedNames.has(name));
}
